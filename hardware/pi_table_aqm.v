// A bank of PI controllers in table form and the decisions about the packets of their queues.
//
// Source: C. Hollot, V. Misra, D. Towsley, W. Gong, INFOCOM 2001; crates/qdisc/src/bank.
//
// Number formats, hazards, differences: those of pi_table_bank.v and outcome.v. A packet that comes
// during a pass meets the level before its controller's update or that after it.
//
// Timing of a packet: its controller and ECN field in one clock, the level three clocks later,
// the entry four clocks after that, then the decision. Each clock takes another packet.
module pi_table_aqm #(
    parameter CLASS_BITS = 3,
    parameter EACH_BITS  = 9
) (
    input  wire                            clk,
    input  wire                            rst,
    input  wire                            seed_write,
    input  wire [31:0]                     seed,
    input  wire                            write,
    input  wire [CLASS_BITS+5:0]           write_at,
    input  wire [17:0]                     write_data,
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
    output wire [10:0]                     updated_x
);
    // What the packet brings waits for its level, and for the entry.
    reg [CLASS_BITS-1:0] class_1, class_2, class_3;
    reg [7:1] packets, capables;
    reg [32:0] entry_7;
    wire [17:0] entry_6;

    always @(posedge clk) begin
        class_1 <= packet_at[CLASS_BITS+EACH_BITS-1:EACH_BITS];
        {class_2, class_3} <= {class_1, class_2};
        packets <= rst ? 7'd0 : {packets[6:1], packet};
        capables <= {capables[6:1], |packet_ecn};
        entry_7 <= {&entry_6, (&entry_6) ? 18'd0 : entry_6, 14'd0};
    end

    pi_table_bank #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) bank (
        .clk(clk),
        .rst(rst),
        .write(write),
        .write_at(write_at),
        .write_data(write_data),
        .start(start),
        .busy(busy),
        .queue_at(queue_at),
        .queue_read(queue_read),
        .level_at(packet_at),
        .level(level),
        .entry_of({class_3, level}),
        .entry(entry_6),
        .updated(updated),
        .updated_at(updated_at),
        .updated_x(updated_x)
    );

    outcome path (
        .clk(clk),
        .rst(rst),
        .seed_write(seed_write),
        .seed(seed),
        .packet(packets[7]),
        .entry(entry_7),
        .capable(capables[7]),
        .decided(decided),
        .decision(decision),
        .passed(passed),
        .marked(marked),
        .dropped(dropped)
    );
endmodule
