// What becomes of a packet: its probability against a random number. A decision each clock, one
// clock after the entry; the counters have it one clock later.
//
// Source: crates/qdisc/src/bank/decide.rs. The generator is Marsaglia's xorshift with 32 bits
// (J. Statistical Software 8(14), 2003), a shift register with linear feedback that moves 32 places
// at once.
//
// Number formats: the entry has 32 fraction bits, 0 to 1 inclusive. Decisions: 0 passes, 1 is
// marked, 2 is dropped.
//
// Hazards: the seed must not be written while packets come.
//
// Differences from crates/qdisc: none, bit by bit. Probabilities are not scaled with the packet's
// size.
module outcome (
    input  wire        clk,
    input  wire        rst,
    input  wire        seed_write,
    input  wire [31:0] seed,
    input  wire        packet,
    input  wire [32:0] entry,
    input  wire        capable,
    output reg         decided,
    output reg  [ 1:0] decision,
    // Counters, which wrap: packets = passed + marked + dropped.
    output reg  [31:0] passed,
    output reg  [31:0] marked,
    output reg  [31:0] dropped
);
    // The generator never leaves 0.
    reg  [31:0] coin;
    wire [31:0] coin_a = coin ^ (coin << 13);
    wire [31:0] coin_b = coin_a ^ (coin_a >> 17);
    wire [31:0] coin_c = coin_b ^ (coin_b << 5);
    wire        hit = {1'b0, coin} <= entry;

    always @(posedge clk) begin
        decision <= {hit && !capable, hit && capable};
        if (rst) begin
            decided <= 1'b0;
            coin    <= 32'd1;
            passed  <= 32'd0;
            marked  <= 32'd0;
            dropped <= 32'd0;
        end else begin
            decided <= packet;
            if (seed_write) coin <= (|seed) ? seed : 32'd1;
            else if (packet) coin <= coin_c;
            if (decided && decision == 2'd0) passed <= passed + 32'd1;
            if (decided && decision[0]) marked <= marked + 32'd1;
            if (decided && decision[1]) dropped <= dropped + 32'd1;
        end
    end

`ifdef FORMAL
    // Proved by induction, from a reset on: no decision is two at once, and counters add up.
    reg [31:0] all;
    reg begun = 1'b0;

    always @(posedge clk) begin
        if (rst) begun <= 1'b1;
        all <= rst ? 32'd0 : all + {31'd0, decided};
        if (begun) assert (decision != 2'd3);
        if (begun) assert (passed + marked + dropped == all);
    end
`endif
endmodule
