// What becomes of a packet: an entry of its class's table against a random number. A decision each
// clock, two clocks after class and level.
//
// Source: crates/qdisc/src/bank/decide.rs.
//
// Number formats: those of outcome.v. ECN fields as in the header: 0 is not ECN-capable.
//
// Hazards: entries must not be written while packets come.
//
// Differences from crates/qdisc: none, bit by bit.
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
    output wire                  decided,
    output wire [1:0]            decision,
    output wire [31:0]           passed,
    output wire [31:0]           marked,
    output wire [31:0]           dropped
);
    reg [32:0] entries[0:(1<<(CLASS_BITS+4))-1];

    always @(posedge clk) if (entry_write) entries[{write_class, entry_at}] <= entry;

    reg packet_1, capable_1;
    reg [32:0] entry_1;

    always @(posedge clk) begin
        packet_1 <= packet && !rst;
        capable_1 <= |ecn;
        entry_1 <= entries[{of_class, level}];
    end

    outcome of_packet (
        .clk(clk),
        .rst(rst),
        .seed_write(seed_write),
        .seed(seed),
        .packet(packet_1),
        .entry(entry_1),
        .capable(capable_1),
        .decided(decided),
        .decision(decision),
        .passed(passed),
        .marked(marked),
        .dropped(dropped)
    );
endmodule
