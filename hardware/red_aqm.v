// RED: averages of many queues and the decisions about their packets.
//
// Source: S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993;
// crates/qdisc/src/bank/red.rs.
//
// Number formats, hazards, differences: those of red_bank.v and decide.v. A packet that comes
// during a pass meets the level before its average's update or that after it.
//
// Timing of a packet: its queue and ECN field in one clock, the level in the next, then the
// entry, then the decision. Each clock takes another packet.
module red_aqm #(
    parameter CLASS_BITS = 3,
    parameter EACH_BITS  = 9
) (
    input  wire                            clk,
    input  wire                            rst,
    input  wire                            shift_write,
    input  wire                            threshold_write,
    input  wire                            entry_write,
    input  wire                            seed_write,
    input  wire [CLASS_BITS-1:0]           write_class,
    input  wire [3:0]                      write_at,
    input  wire [3:0]                      shift,
    input  wire [15:0]                     threshold,
    input  wire [32:0]                     entry,
    input  wire [31:0]                     seed,
    input  wire                            start,
    output wire                            busy,
    output wire [CLASS_BITS+EACH_BITS-1:0] queue_at,
    input  wire [15:0]                     queue_read,
    input  wire                            packet,
    input  wire [CLASS_BITS+EACH_BITS-1:0] packet_at,
    input  wire [1:0]                      packet_ecn,
    output wire [3:0]                      level,
    output wire                            decided,
    output wire [1:0]                      decision,
    output wire [31:0]                     passed,
    output wire [31:0]                     marked,
    output wire [31:0]                     dropped,
    output wire                            updated,
    output wire [CLASS_BITS+EACH_BITS-1:0] updated_at,
    output wire [30:0]                     updated_average,
    output wire [3:0]                      updated_level
);
    red_bank #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) bank (
        .clk(clk),
        .rst(rst),
        .shift_write(shift_write),
        .threshold_write(threshold_write),
        .write_class(write_class),
        .shift(shift),
        .threshold_at(write_at),
        .threshold(threshold),
        .start(start),
        .busy(busy),
        .queue_at(queue_at),
        .queue_read(queue_read),
        .level_at(packet_at),
        .level(level),
        .updated(updated),
        .updated_at(updated_at),
        .updated_average(updated_average),
        .updated_level(updated_level)
    );

    // What the packet brings waits for its level.
    reg packet_1;
    reg [CLASS_BITS-1:0] class_1;
    reg [1:0] ecn_1;

    always @(posedge clk) begin
        packet_1 <= packet && !rst;
        class_1 <= packet_at[CLASS_BITS+EACH_BITS-1:EACH_BITS];
        ecn_1 <= packet_ecn;
    end

    decide #(
        .CLASS_BITS(CLASS_BITS)
    ) path (
        .clk(clk),
        .rst(rst),
        .entry_write(entry_write),
        .write_class(write_class),
        .entry_at(write_at),
        .entry(entry),
        .seed_write(seed_write),
        .seed(seed),
        .packet(packet_1),
        .of_class(class_1),
        .level(level),
        .ecn(ecn_1),
        .decided(decided),
        .decision(decision),
        .passed(passed),
        .marked(marked),
        .dropped(dropped)
    );
endmodule
