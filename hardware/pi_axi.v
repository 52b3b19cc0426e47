// pi_port behind AXI4-Lite: the registers for whoever has such a bus, 32 bits wide.
// Written by registers.py from registers.toml; what is changed here is lost.
//
// Source: ARM IHI 0022, AMBA AXI and ACE protocol specification, part B, AXI4-Lite.
//
// A register's address is 4 times its word; the lowest two bits count for nothing. A write that
// does not have all four strobes, or a register that is not read or not written, is answered by
// SLVERR, and nothing is done. Address and data of a write come in any order. One transfer of each
// kind at a time, writes first: a write takes three clocks, a read four, if nobody waits. No output
// depends on an input of the same clock.
//
// Packets, queues and decisions go past the port. Number formats, hazards, differences: those of
// pi_aqm.v. `awprot` and `arprot` are not looked at.
module pi_axi #(
    parameter CLASS_BITS = 3,  // up to 3
    parameter EACH_BITS  = 9
) (
    input  wire                            aclk,
    input  wire                            aresetn,
    input  wire [11:0]                     s_axi_awaddr,
    input  wire [2:0]                      s_axi_awprot,
    input  wire                            s_axi_awvalid,
    output wire                            s_axi_awready,
    input  wire [31:0]                     s_axi_wdata,
    input  wire [3:0]                      s_axi_wstrb,
    input  wire                            s_axi_wvalid,
    output wire                            s_axi_wready,
    output reg  [1:0]                      s_axi_bresp,
    output reg                             s_axi_bvalid,
    input  wire                            s_axi_bready,
    input  wire [11:0]                     s_axi_araddr,
    input  wire [2:0]                      s_axi_arprot,
    input  wire                            s_axi_arvalid,
    output wire                            s_axi_arready,
    output reg  [31:0]                     s_axi_rdata,
    output reg  [1:0]                      s_axi_rresp,
    output reg                             s_axi_rvalid,
    input  wire                            s_axi_rready,
    output wire [CLASS_BITS+EACH_BITS-1:0] queue_at,
    input  wire [15:0]                     queue_read,
    input  wire                            packet,
    input  wire [CLASS_BITS+EACH_BITS-1:0] packet_at,
    input  wire [1:0]                      packet_ecn,
    output wire                            decided,
    output wire [1:0]                      decision
);
    localparam OKAY = 2'b00, SLVERR = 2'b10;
    wire unused = &{1'b0, s_axi_awprot, s_axi_arprot, s_axi_awaddr[1:0], s_axi_araddr[1:0]};

    // What has come and waits: an address and data to write, an address to read.
    reg has_aw, has_w, has_ar;
    reg [9:0] aw, ar;
    reg [31:0] data;
    reg whole;
    assign s_axi_awready = !has_aw;
    assign s_axi_wready = !has_w;
    assign s_axi_arready = !has_ar;

    wire writable = aw == 10'd0
        || aw == 10'd2
        || aw[9:9] == 1'd1;
    wire readable = ar == 10'd1
        || ar == 10'd3
        || ar == 10'd4
        || ar == 10'd5
        || ar == 10'd6;

    // A write is done when both are there and the last answer has been taken. A read has the
    // port's address in one clock, and its register in the next.
    wire writes = has_aw && has_w && !s_axi_bvalid;
    reg reading;
    wire reads = has_ar && !reading && !s_axi_rvalid && !writes;
    wire [31:0] bus_read;

    always @(posedge aclk) begin
        if (!aresetn) begin
            has_aw <= 1'b0;
            has_w <= 1'b0;
            has_ar <= 1'b0;
            reading <= 1'b0;
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
        end else begin
            if (s_axi_awvalid && s_axi_awready) has_aw <= 1'b1;
            else if (writes) has_aw <= 1'b0;
            if (s_axi_wvalid && s_axi_wready) has_w <= 1'b1;
            else if (writes) has_w <= 1'b0;
            if (s_axi_arvalid && s_axi_arready) has_ar <= 1'b1;
            else if (reading) has_ar <= 1'b0;
            reading <= reads;
            if (writes) s_axi_bvalid <= 1'b1;
            else if (s_axi_bready) s_axi_bvalid <= 1'b0;
            if (reading) s_axi_rvalid <= 1'b1;
            else if (s_axi_rready) s_axi_rvalid <= 1'b0;
        end
        if (s_axi_awready) aw <= s_axi_awaddr[11:2];
        if (s_axi_wready) {whole, data} <= {&s_axi_wstrb, s_axi_wdata};
        if (s_axi_arready) ar <= s_axi_araddr[11:2];
        if (writes) s_axi_bresp <= (whole && writable) ? OKAY : SLVERR;
        if (reading) s_axi_rresp <= readable ? OKAY : SLVERR;
        if (reading) s_axi_rdata <= bus_read;
    end

    pi_port #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) port (
        .clk(aclk),
        .rst(!aresetn),
        .bus_write(writes && whole && writable),
        .bus_at(writes ? aw : ar),
        .bus_data(data),
        .bus_read(bus_read),
        .queue_at(queue_at),
        .queue_read(queue_read),
        .packet(packet),
        .packet_at(packet_at),
        .packet_ecn(packet_ecn),
        .decided(decided),
        .decision(decision)
    );
endmodule
