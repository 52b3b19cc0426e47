// pi_table_aqm behind a plain port for configuration and counters: a word of 32 bits a clock.
// Written by registers.py from registers.toml; what is changed here is lost.
//
// A write takes effect in its clock; `bus_read` shows the register of `bus_at` a clock later.
// Packets, queues and decisions go past the port. Number formats, hazards, differences: those of
// pi_table_aqm.v.
module pi_table_port #(
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
    wire [10:0] updated_x;
    wire unused = &{1'b0, level, updated, updated_at, updated_x};

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

    pi_table_aqm #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) aqm (
        .clk(clk),
        .rst(rst),
        .start(bus_write && bus_at == 10'd0 && bus_data[0]),
        .seed_write(bus_write && bus_at == 10'd2),
        .seed(bus_data),
        .write(bus_write && bus_at[9:9] == 1'd1),
        .write_at(bus_at[CLASS_BITS+5:0]),
        .write_data(bus_data[17:0]),
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
        .updated_x(updated_x)
    );
endmodule
