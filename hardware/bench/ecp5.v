// Block RAM and multiplier of the ECP5 as far as netlists of the banks use them, for simulations of
// these netlists. Yosys has models of the other cells.
//
// Source: Lattice FPGA-TN-02204 (memory) and FPGA-TN-02205 (sysDSP), the parameters as Yosys and
// nextpnr name them.
//
// Differences from the source: one clock; both ports of a memory have the same width, and only A
// writes; no initial contents, no resets. What one port reads of a word that the other writes in
// the same clock is not defined there: here it is what was in the word with every bit inverted, so
// that whoever relies on it is wrong for certain.
/* verilator lint_off UNUSED */
/* verilator lint_off WIDTH */
module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
        DIA4, DIA3, DIA2, DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
        DIB4, DIB3, DIB2, DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0
);
    parameter DATA_WIDTH_A = 18;
    parameter DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG";
    parameter REGMODE_B = "NOREG";
    parameter WRITEMODE_A = "NORMAL";
    parameter WRITEMODE_B = "NORMAL";
    localparam WIDTH = DATA_WIDTH_A;
    // Where an address begins: a word of 18 bits has enables of its halves in the two lowest.
    localparam LOW = WIDTH == 18 ? 4 : WIDTH == 9 ? 3 : WIDTH == 4 ? 2 : WIDTH == 2 ? 1 : 0;

    wire [17:0] dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7,
        DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2,
        ADA1, ADA0};
    wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2,
        ADB1, ADB0};
    wire [13:LOW] at_a = ada[13:LOW];
    wire [13:LOW] at_b = adb[13:LOW];
    wire writes = CEA && WEA;
    reg [WIDTH-1:0] words[0:(1<<(14-LOW))-1];
    reg [WIDTH-1:0] read_a, read_b, late_a, late_b;

    always @(posedge CLKA) begin
        if (WEB || DATA_WIDTH_B != WIDTH || RSTA || RSTB || !OCEA || !OCEB) begin
            $display("difference: DP16KD is used as this model has it not");
            $finish;
        end
        if (writes && WIDTH < 18) words[at_a] <= dia[WIDTH-1:0];
        if (writes && WIDTH == 18 && ADA0) words[at_a][8:0] <= dia[8:0];
        if (writes && WIDTH == 18 && ADA1) words[at_a][WIDTH-1:9] <= dia[WIDTH-1:9];
        if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE")) read_a <= words[at_a];
        late_a <= read_a;
    end

    always @(posedge CLKB) begin
        if (CEB) read_b <= (writes && at_a == at_b) ? ~words[at_b] : words[at_b];
        late_b <= read_b;
    end

    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0} = REGMODE_A == "OUTREG" ? late_a : read_a;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0} = REGMODE_B == "OUTREG" ? late_b : read_b;
endmodule

module MULT18X18D (
    input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
    input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
    input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0,
    output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
        P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
    parameter REG_INPUTA_CLK = "NONE";
    parameter REG_INPUTB_CLK = "NONE";
    parameter REG_OUTPUT_CLK = "NONE";

    wire signed [18:0] a = {SIGNEDA && A17, A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6,
        A5, A4, A3, A2, A1, A0};
    wire signed [18:0] b = {SIGNEDB && B17, B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6,
        B5, B4, B3, B2, B1, B0};
    reg signed [18:0] a_1, b_1;
    wire signed [18:0] left = REG_INPUTA_CLK == "NONE" ? a : a_1;
    wire signed [18:0] right = REG_INPUTB_CLK == "NONE" ? b : b_1;
    wire signed [37:0] product = left * right;
    reg signed [35:0] product_1;

    always @(posedge CLK0) begin
        a_1 <= a;
        b_1 <= b;
        product_1 <= product[35:0];
    end

    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
        P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} =
        REG_OUTPUT_CLK == "NONE" ? product[35:0] : product_1;
endmodule
