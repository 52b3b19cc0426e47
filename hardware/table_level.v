// Which entry of a class's table stands for p: how many of 15 ascending thresholds p reaches. Four
// clocks from p to level, a new p each clock.
//
// Source: crates/qdisc/src/bank/table.rs; the same number for every p.
//
// Number formats: p and thresholds have 15 fraction bits; the threshold 32768 is out of reach.
//
// Differences from crates/qdisc: four comparisons in turn, each with the middle of what is left, in
// place of 15 at once. The count is the same, for thresholds ascend.
module table_level #(
    parameter CLASS_BITS = 3
) (
    input  wire                  clk,
    input  wire                  write,
    input  wire [CLASS_BITS-1:0] write_class,
    input  wire [3:0]            write_at,  // 1 to 15: the entry that begins at this threshold
    input  wire [15:0]           write_data,
    input  wire [CLASS_BITS-1:0] of_class,
    input  wire [14:0]           p,
    output wire [3:0]            level
);
    // A memory for each comparison: thresholds 8; 4, 12; 2, 6, 10, 14; the odd ones.
    reg [15:0] eighth[0:(1<<CLASS_BITS)-1];
    reg [15:0] fourths[0:(2<<CLASS_BITS)-1];
    reg [15:0] seconds[0:(4<<CLASS_BITS)-1];
    reg [15:0] odd_ones[0:(8<<CLASS_BITS)-1];

    always @(posedge clk) begin
        if (write && write_at == 4'd8) eighth[write_class] <= write_data;
        if (write && write_at[2:0] == 3'd4) fourths[{write_class, write_at[3]}] <= write_data;
        if (write && write_at[1:0] == 2'd2) seconds[{write_class, write_at[3:2]}] <= write_data;
        if (write && write_at[0]) odd_ones[{write_class, write_at[3:1]}] <= write_data;
    end

    reg [14:0] p_1, p_2, p_3;
    reg [CLASS_BITS-1:0] class_1, class_2, class_3;
    reg high_1;
    reg [1:0] high_2;
    reg [2:0] high_3;
    reg [3:0] high_4;

    always @(posedge clk) begin
        {p_1, class_1} <= {p, of_class};
        high_1 <= {1'b0, p} >= eighth[of_class];
        {p_2, class_2} <= {p_1, class_1};
        high_2 <= {high_1, {1'b0, p_1} >= fourths[{class_1, high_1}]};
        {p_3, class_3} <= {p_2, class_2};
        high_3 <= {high_2, {1'b0, p_2} >= seconds[{class_2, high_2}]};
        high_4 <= {high_3, {1'b0, p_3} >= odd_ones[{class_3, high_3}]};
    end

    assign level = high_4;
endmodule
