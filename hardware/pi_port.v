// pi_aqm behind a plain port for configuration and counters: a word of 32 bits a clock.
// Written by registers.py from registers.toml; what is changed here is lost.
//
// A write takes effect in its clock; `bus_read` shows the register of `bus_at` a clock later.
// Packets, queues and decisions go past the port. Number formats, hazards, differences: those of
// pi_aqm.v.
module pi_port #(
    parameter CLASS_BITS = 3,  // up to 3
    parameter EACH_BITS  = 9
) (
    input  wire                            clk,
    input  wire                            rst,
    input  wire                            bus_write,
    input  wire [9:0]                      bus_at,
    input  wire [31:0]                     bus_data,
    output reg  [31:0]                     bus_read,
    output wire [CLASS_BITS+EACH_BITS-1:0] queue_at,
    input  wire [15:0]                     queue_read,
    input  wire                            packet,
    input  wire [CLASS_BITS+EACH_BITS-1:0] packet_at,
    input  wire [1:0]                      packet_ecn,
    output wire                            decided,
    output wire [1:0]                      decision
);
    wire busy;
    wire [31:0] passed, marked, dropped;
    // For benches.
    wire [3:0] level;
    wire updated;
    wire [CLASS_BITS+EACH_BITS-1:0] updated_at;
    wire [28:0] updated_p;
    wire [3:0] updated_level;
    wire unused = &{1'b0, level, updated, updated_at, updated_p, updated_level};

    always @(posedge clk) begin
        case (bus_at)
            10'd1: bus_read <= {31'd0, busy};
            10'd3: bus_read <= passed;
            10'd4: bus_read <= marked;
            10'd5: bus_read <= dropped;
            10'd6: bus_read <= EACH_BITS * 256 + CLASS_BITS;
            default: bus_read <= 32'd0;
        endcase
    end

    // The lower words of a class's gains wait for the last.
    reg [63:0] lower;

    always @(posedge clk) begin
        if (bus_write && bus_at[9] && bus_at[5:0] == 6'd0) lower[31:0] <= bus_data;
        if (bus_write && bus_at[9] && bus_at[5:0] == 6'd1) lower[63:32] <= bus_data;
    end

    pi_aqm #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) aqm (
        .clk(clk),
        .rst(rst),
        .start(bus_write && bus_at == 10'd0 && bus_data[0]),
        .seed_write(bus_write && bus_at == 10'd2),
        .seed(bus_data),
        .gains_write(bus_write && bus_at[9:9] == 1'd1 && bus_at[5:0] == 6'd2),
        .threshold_write(bus_write && bus_at[9:9] == 1'd1 && bus_at[5:4] == 2'd1),
        .entry_write(bus_write && bus_at[9:9] == 1'd1 && bus_at[5:4] == 2'd2),
        .write_class(bus_at[CLASS_BITS+5:6]),
        .write_at(bus_at[3:0]),
        .gains({bus_data[27:0], lower}),
        .threshold(bus_data[15:0]),
        .entry({1'b0, bus_data}),
        .busy(busy),
        .queue_at(queue_at),
        .queue_read(queue_read),
        .packet(packet),
        .packet_at(packet_at),
        .packet_ecn(packet_ecn),
        .decided(decided),
        .decision(decision),
        .passed(passed),
        .marked(marked),
        .dropped(dropped),
        .level(level),
        .updated(updated),
        .updated_at(updated_at),
        .updated_p(updated_p),
        .updated_level(updated_level)
    );
endmodule
