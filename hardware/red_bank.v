// Averages of many queues for RED, one update a clock. At every instant, for each queue
//
//   average += (queue - average) 2^-shift, rounded down
//
// and then its level is how many of its class's thresholds the average reaches.
//
// Source: S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993;
// crates/qdisc/src/bank/red.rs.
//
// Number formats
//   queue      15 bits; longer ones count as 32767
//   average    15 bits and 16 fraction bits
//   shift      4 bits: a weight of 1 to 2^-15
//   threshold  15 bits, in units of the queue; compared with the whole part of the average
//
// Hazards
//   A pass reads each queue once. `level` is what stood for `level_at` a clock ago: that before
//   the average's update or that after it, never a mixture. In the clock of the write it is that
//   before. Levels of the first pass read as 0 until the pass has ended.
//   `start` is ignored during a pass. Constants must not be written during one.
//
// Differences from crates/qdisc/src/bank: none, bit by bit. There are as many queues of a class as
// a power of two.
module red_bank #(
    parameter CLASS_BITS = 3,  // 2^CLASS_BITS classes
    parameter EACH_BITS  = 9   // 2^EACH_BITS queues of each
) (
    input  wire                            clk,
    input  wire                            rst,
    // Constants of a class: its weight, and one of its thresholds (1 to 15).
    input  wire                            shift_write,
    input  wire                            threshold_write,
    input  wire [CLASS_BITS-1:0]           write_class,
    input  wire [3:0]                      shift,
    input  wire [3:0]                      threshold_at,
    input  wire [15:0]                     threshold,
    // A pass; the queue of `queue_at` is expected a clock later.
    input  wire                            start,
    output wire                            busy,
    output wire [CLASS_BITS+EACH_BITS-1:0] queue_at,
    input  wire [15:0]                     queue_read,
    // What is in force.
    input  wire [CLASS_BITS+EACH_BITS-1:0] level_at,
    output wire [3:0]                      level,
    // Each update as it is written, for counters and benches.
    output wire                            updated,
    output wire [CLASS_BITS+EACH_BITS-1:0] updated_at,
    output wire [30:0]                     updated_average,
    output wire [3:0]                      updated_level
);
    localparam N = CLASS_BITS + EACH_BITS;
    localparam LAST = 8;  // stage in which the level is known

    reg [30:0] averages[0:(1<<N)-1];
    reg [3:0] levels[0:(1<<N)-1];
    reg [3:0] shifts[0:(1<<CLASS_BITS)-1];

    // Which queue is in which stage.
    reg reading, started, first;
    reg [N-1:0] at;
    reg [LAST:1] valid;
    reg [N*LAST-1:0] places;  // of stage k in field k - 1
    wire [N-1:0] at_3 = places[N*2+:N];
    wire [CLASS_BITS-1:0] class_4 = places[N*3+EACH_BITS+:CLASS_BITS];
    wire [N-1:0] at_last = places[N*(LAST-1)+:N];

    assign queue_at = at;
    assign busy = reading || (|valid);

    always @(posedge clk) begin
        if (rst) begin
            reading <= 1'b0;
            started <= 1'b0;
            first <= 1'b0;
            at <= {N{1'b0}};
            valid <= {LAST{1'b0}};
        end else begin
            valid <= {valid[LAST-1:1], reading};
            if (start && !busy) begin
                reading <= 1'b1;
                at <= {N{1'b0}};
                first <= !started;
            end else if (reading) begin
                at <= at + 1'b1;
                if (&at) reading <= 1'b0;
            end
            if (valid[LAST] && (&at_last)) started <= 1'b1;
        end
        places <= {places[N*(LAST-1)-1:0], at};
    end

    // Stage 1: the average and the weight are read while the queue comes. Averages begin at 0.
    reg [30:0] read_1;
    reg [3:0] shift_1, shift_2;
    wire [14:0] queue_1 = queue_read[15] ? 15'h7fff : queue_read[14:0];
    wire [30:0] average_1 = first ? 31'd0 : read_1;

    always @(posedge clk) begin
        read_1 <= averages[at];
        shift_1 <= shifts[at[N-1:EACH_BITS]];
        if (shift_write) shifts[write_class] <= shift;
    end

    // Stage 2: the distance. Stage 3: its part. Stage 4: the sum, which lies between both ends of
    // the distance. It is written as soon as it is known.
    reg signed [31:0] distance_2, part_3;
    reg [30:0] average_2, average_3, average_4;
    wire [31:0] sum_3 = {1'b0, average_3} + part_3;
    wire unused = &{1'b0, sum_3[31]};

    always @(posedge clk) begin
        distance_2 <= $signed({1'b0, queue_1, 16'd0}) - $signed({1'b0, average_1});
        {average_2, average_3} <= {average_1, average_2};
        shift_2 <= shift_1;
        part_3 <= distance_2 >>> shift_2;
        average_4 <= sum_3[30:0];
        if (valid[3]) averages[at_3] <= sum_3[30:0];
    end

    // Stages 5 to 8: the level.
    wire [3:0] level_last;

    table_level #(
        .CLASS_BITS(CLASS_BITS)
    ) levels_of_averages (
        .clk(clk),
        .write(threshold_write),
        .write_class(write_class),
        .write_at(threshold_at),
        .write_data(threshold),
        .of_class(class_4),
        .p(average_4[30:16]),
        .level(level_last)
    );

    reg [30:0] average_5, average_6, average_7, average_8;
    reg [3:0] level_read;

    always @(posedge clk) begin
        {average_5, average_6} <= {average_4, average_5};
        {average_7, average_8} <= {average_6, average_7};
        if (valid[LAST]) levels[at_last] <= level_last;
        level_read <= levels[level_at];
    end

    assign level = started ? level_read : 4'd0;
    assign updated = valid[LAST];
    assign updated_at = at_last;
    assign updated_average = average_8;
    assign updated_level = level_last;
endmodule
