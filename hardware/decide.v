// What becomes of a packet: an entry of its class's table against a random number. A decision each
// clock, two clocks after class and level.
//
// Source: crates/qdisc/src/bank/decide.rs. The generator is Marsaglia's xorshift with 32 bits
// (J. Statistical Software 8(14), 2003), a shift register with linear feedback that moves 32 places
// at once.
//
// Number formats: entries have 32 fraction bits, 0 to 1 inclusive. Decisions: 0 passes, 1 is
// marked, 2 is dropped. ECN fields as in the header: 0 is not ECN-capable.
//
// Hazards: entries and the seed must not be written while packets come.
//
// Differences from crates/qdisc: none, bit by bit. Probabilities are not scaled with the packet's
// size.
module decide #(
    parameter CLASS_BITS = 3
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire                  entry_write,
    input  wire [CLASS_BITS-1:0] write_class,
    input  wire [3:0]            entry_at,
    input  wire [32:0]           entry,
    input  wire                  seed_write,
    input  wire [31:0]           seed,
    input  wire                  packet,
    input  wire [CLASS_BITS-1:0] of_class,
    input  wire [3:0]            level,
    input  wire [1:0]            ecn,
    output reg                   decided,
    output reg  [1:0]            decision,
    // Counters, which wrap: packets = passed + marked + dropped.
    output reg  [31:0]           passed,
    output reg  [31:0]           marked,
    output reg  [31:0]           dropped
);
    reg [32:0] entries[0:(1<<(CLASS_BITS+4))-1];

    always @(posedge clk) if (entry_write) entries[{write_class, entry_at}] <= entry;

    // The generator never leaves 0.
    reg [31:0] coin;
    wire [31:0] coin_a = coin ^ (coin << 13);
    wire [31:0] coin_b = coin_a ^ (coin_a >> 17);
    wire [31:0] coin_c = coin_b ^ (coin_b << 5);

    reg packet_1, capable_1;
    reg [32:0] entry_1;
    wire hit_1 = {1'b0, coin} <= entry_1;
    wire mark_1 = hit_1 && capable_1;
    wire drop_1 = hit_1 && !capable_1;

    always @(posedge clk) begin
        entry_1 <= entries[{of_class, level}];
        capable_1 <= |ecn;
        decision <= {drop_1, mark_1};
        if (rst) begin
            packet_1 <= 1'b0;
            decided <= 1'b0;
            coin <= 32'd1;
            passed <= 32'd0;
            marked <= 32'd0;
            dropped <= 32'd0;
        end else begin
            packet_1 <= packet;
            decided <= packet_1;
            if (seed_write) coin <= (|seed) ? seed : 32'd1;
            else if (packet_1) coin <= coin_c;
            if (packet_1 && !hit_1) passed <= passed + 32'd1;
            if (packet_1 && mark_1) marked <= marked + 32'd1;
            if (packet_1 && drop_1) dropped <= dropped + 32'd1;
        end
    end
endmodule
