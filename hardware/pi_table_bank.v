// Many PI controllers whose p is a place in a table, one update a clock. At every instant, for each
// controller, with the slope of the entry in which it stands
//
//   x += slope ((q - q before) + ratio (q before - qref)), clamped to the table
//
// Within an entry x is p, counted in the entry's width: slope = a / width, ratio = (a - b) / a.
// The level, that is, the entry in force, is the upper part of x: there is nothing to look for.
//
// Source: C. Hollot, V. Misra, D. Towsley, W. Gong, INFOCOM 2001; crates/qdisc/src/bank/index.rs.
//
// Number formats
//   x          4 bits of level, 7 fraction bits
//   queue      16 bits
//   ratio      17 fraction bits, below 1
//   slope      17 bits, times 2^-16, 2^-20, 2^-24 or 2^-28: an exponent of the class
//   dither     28 bits below x, from a shift register with linear feedback that is 1 after a reset:
//              what is less than a step of x takes effect with the probability that it is of a step
//
// Constants of a class, 64 words of 18 bits: 0 to 15 slopes; 16 qref + 65536 exponent; 17 ratio;
// 32 to 47 entries with 18 fraction bits, all ones being 1.
//
// Hazards
//   A pass reads each queue once, and `start` is ignored during a pass: a controller's next update
//   begins when its last is long written. `level` is what stood for `level_at` three clocks ago: that
//   before the controller's update or that after it, never a mixture. Levels of the first pass read
//   as 0 until the pass has ended. Constants must not be written during a pass, nor
//   while packets come.
//
// Differences from crates/qdisc: none, bit by bit.
module pi_table_bank #(
    parameter CLASS_BITS = 3,  // 2^CLASS_BITS classes
    parameter EACH_BITS  = 9   // 2^EACH_BITS controllers of each
) (
    input  wire                            clk,
    input  wire                            rst,
    input  wire                            write,
    input  wire [CLASS_BITS+5:0]           write_at,
    input  wire [17:0]                     write_data,
    // A pass; the queue of `queue_at` is expected a clock later.
    input  wire                            start,
    output wire                            busy,
    output wire [CLASS_BITS+EACH_BITS-1:0] queue_at,
    input  wire [15:0]                     queue_read,
    // What is in force; the entry of `entry_of` stands three clocks later.
    input  wire [CLASS_BITS+EACH_BITS-1:0] level_at,
    output reg  [3:0]                      level,
    input  wire [CLASS_BITS+3:0]           entry_of,
    output reg  [17:0]                     entry,
    // Each update as it is written, for counters and benches.
    output wire                            updated,
    output wire [CLASS_BITS+EACH_BITS-1:0] updated_at,
    output wire [10:0]                     updated_x
);
    localparam N = CLASS_BITS + EACH_BITS;
    localparam LAST = 15;  // stage in which x is written

    // State: x, queue before. Controllers with even and odd numbers have a memory each: 15 stages
    // and 4 slots apart, one is read while the other is written, and never the same one.
    reg [26:0] even[0:(1<<(N-1))-1];
    reg [26:0] odd[0:(1<<(N-1))-1];
    reg [3:0] levels[0:(1<<N)-1];
    reg [17:0] constants[0:(1<<(CLASS_BITS+6))-1];

    // Slots: before the first update of a class, two that load its constants, and two that wait.
    localparam LOAD_QREF = 3'd0, LOAD_RATIO = 3'd1, RUN = 3'd4;
    reg reading, started, first;
    reg [2:0] turn;
    reg [N-1:0] at;
    reg [LAST:1] valid;
    reg [12:1] loads_qref;
    reg [5:1] loads_ratio;
    reg [N*LAST-1:0] places;  // of stage k in field k - 1
    wire odd_turn_2 = places[N];
    wire [CLASS_BITS-1:0] class_3 = places[N*2+EACH_BITS+:CLASS_BITS];
    wire [N-1:0] at_last = places[N*(LAST-1)+:N];
    wire runs = reading && turn == RUN;

    assign queue_at = at;
    assign busy = reading || (|valid);

    always @(posedge clk) begin
        if (rst) begin
            reading <= 1'b0;
            started <= 1'b0;
            first <= 1'b0;
            turn <= LOAD_QREF;
            at <= {N{1'b0}};
            valid <= {LAST{1'b0}};
            loads_qref <= 12'd0;
            loads_ratio <= 5'd0;
        end else begin
            valid <= {valid[LAST-1:1], runs};
            loads_qref <= {loads_qref[11:1], reading && turn == LOAD_QREF};
            loads_ratio <= {loads_ratio[4:1], reading && turn == LOAD_RATIO};
            if (start && !busy) begin
                reading <= 1'b1;
                first <= !started;
            end else if (reading) begin
                if (turn != RUN) turn <= turn + 3'd1;
                else if (&at[EACH_BITS-1:0]) turn <= LOAD_QREF;
                if (turn == RUN) begin
                    at <= at + 1'b1;
                    if (&at) reading <= 1'b0;
                end
            end
            if (valid[LAST] && (&at_last)) started <= 1'b1;
        end
        places <= {places[N*(LAST-1)-1:0], at};
    end

    // Stages 1 and 2: the state and the queue come.
    reg [26:0] even_1, odd_1, even_2, odd_2;
    reg [10:0] x_15;
    wire [10:0] x_13;
    wire [15:0] queue_15;
    reg [15:0] queue_2;

    always @(posedge clk) begin
        if (valid[LAST] && !at_last[0]) even[at_last[N-1:1]] <= {x_15, queue_15};
        else even_1 <= even[at[N-1:1]];
        if (valid[LAST] && at_last[0]) odd[at_last[N-1:1]] <= {x_15, queue_15};
        else odd_1 <= odd[at[N-1:1]];
        {even_2, odd_2} <= {even_1, odd_1};
        queue_2 <= queue_read;
    end

    // Stage 3: the state. The queue before the first instant counts as that at the first.
    wire [26:0] state_2 = odd_turn_2 ? odd_2 : even_2;
    reg [10:0] x_3;
    reg [15:0] old_3, queue_3;

    always @(posedge clk) begin
        x_3 <= first ? 11'd0 : state_2[26:16];
        old_3 <= first ? queue_2 : state_2[15:0];
        queue_3 <= queue_2;
    end

    // Stages 4 and 5: the constant that the slot needs comes; in stage 6 it is in its place.
    reg [17:0] constant_4, constant_5, entry_1, entry_2;
    reg [15:0] qref_6;
    reg [1:0] exponent_6, exponent_13;
    reg [16:0] ratio_6;
    wire [5:0] word_3 = (loads_qref[3] || loads_ratio[3]) ? {5'd8, loads_ratio[3]}
        : {2'd0, x_3[10:7]};
    wire [CLASS_BITS+5:0] constant_at = write ? write_at : {class_3, word_3};

    always @(posedge clk) begin
        if (write) constants[constant_at] <= write_data;
        else begin
            constant_4 <= constants[constant_at];
            entry_1 <= constants[{entry_of[CLASS_BITS+3:4], 2'd2, entry_of[3:0]}];
        end
        constant_5 <= constant_4;
        {entry_2, entry} <= {entry_1, entry_2};
        if (loads_qref[5]) {exponent_6, qref_6} <= constant_5;
        if (loads_ratio[5]) ratio_6 <= constant_5[16:0];
        // Updates of the class before are still on their way to stage 13.
        if (loads_qref[12]) exponent_13 <= exponent_6;
    end

    // Stage 4: distances. Stage 6: the integral part; stages 5 and 7 are the way to the multiplier
    // and from it.
    reg signed [16:0] change_4, change_5, change_6, change_7, distance_4, distance_5;
    reg signed [33:0] integral_6, integral_7;

    always @(posedge clk) begin
        change_4 <= $signed({1'b0, queue_3}) - $signed({1'b0, old_3});
        {change_5, change_6, change_7} <= {change_4, change_5, change_6};
        distance_4 <= $signed({1'b0, old_3}) - $signed({1'b0, qref_6});
        distance_5 <= distance_4;
        integral_6 <= distance_5 * $signed({1'b0, ratio_6});
        integral_7 <= integral_6;
    end

    // Stage 8: both parts, 17 fraction bits. Stage 9 is the way to the multipliers. Stage 10: times
    // the slope, in halves. Stage 11 is the way from them. Stage 12: the sum.
    reg signed [17:0] high_8, high_9;
    reg [16:0] low_8, low_9;
    reg [16:0] slope_6, slope_7, slope_8, slope_9;
    reg signed [34:0] high_10, high_11, high_12;
    reg [33:0] low_10, low_11;
    reg [16:0] low_12;

    always @(posedge clk) begin
        high_8 <= {change_7[16], change_7} + {integral_7[33], integral_7[33:17]};
        low_8 <= integral_7[16:0];
        slope_6 <= constant_5[16:0];
        {slope_7, slope_8} <= {slope_6, slope_7};
        {high_9, low_9, slope_9} <= {high_8, low_8, slope_8};
        high_10 <= high_9 * $signed({1'b0, slope_9});
        low_10 <= low_9 * slope_9;
        {high_11, low_11} <= {high_10, low_10};
        high_12 <= high_11 + $signed({18'd0, low_11[33:17]});
        low_12 <= low_11[16:0];
    end

    // Stage 13: in units of 2^-28 of a step; beyond 16 levels only the sign is told.
    wire [53:0] product_12 = {high_12, low_12, 2'd0};
    reg [39:0] step_13;
    reg beyond_13, down_13;
    wire [3:0] differs_12 = {
        product_12[53:51] != {3{product_12[53]}},
        product_12[50:47] != {4{product_12[53]}},
        product_12[46:43] != {4{product_12[53]}},
        product_12[42:39] != {4{product_12[53]}}
    };

    always @(posedge clk) begin
        case (exponent_13)
            2'd0: step_13 <= product_12[39:0];
            2'd1: step_13 <= product_12[43:4];
            2'd2: step_13 <= product_12[47:8];
            default: step_13 <= product_12[51:12];
        endcase
        beyond_13 <= |(differs_12 >> exponent_13);
        down_13 <= product_12[53];
    end

    // Stage 14: the sum, with what is dithered below.
    reg [31:0] noise;
    reg [11:0] sum_14;
    reg beyond_14, down_14;
    wire [39:0] sum_13 = {1'b0, x_13, noise[27:0]} + step_13;
    wire unused = &{1'b0, sum_13[27:0]};

    always @(posedge clk) begin
        if (rst) noise <= 32'd1;
        else if (valid[13]) noise <= {1'b0, noise[31:1]} ^ (noise[0] ? 32'ha3000000 : 32'd0);
        sum_14 <= sum_13[39:28];
        beyond_14 <= beyond_13;
        down_14 <= down_13;
    end

    // Stage 15: clamped. A step down ends below 0 with the highest bit set, a step up beyond the
    // table does too.
    wire clamps_14 = beyond_14 || sum_14[11];

    always @(posedge clk) begin
        x_15 <= (clamps_14 && down_14) ? 11'd0 : clamps_14 ? 11'h7ff : sum_14[10:0];
    end

    // What waits on the way.
    reg [11*10-1:0] xs;  // of stages 4 to 13
    reg [16*12-1:0] queues;  // of stages 4 to 15
    assign x_13 = xs[11*9+:11];
    assign queue_15 = queues[16*11+:16];

    always @(posedge clk) begin
        xs <= {xs[11*9-1:0], x_3};
        queues <= {queues[16*11-1:0], queue_3};
    end

    // What is written just now is not read, but passed by.
    wire passes = valid[LAST] && at_last == level_at;
    reg [3:0] level_1, level_2, passed_1, passed_2;
    reg passes_1, passes_2;

    always @(posedge clk) begin
        if (valid[LAST]) levels[at_last] <= x_15[10:7];
        if (!passes) level_1 <= levels[level_at];
        passes_1 <= passes;
        passed_1 <= x_15[10:7];
        {passes_2, passed_2, level_2} <= {passes_1, passed_1, level_1};
        level <= !started ? 4'd0 : passes_2 ? passed_2 : level_2;
    end

    assign updated = valid[LAST];
    assign updated_at = at_last;
    assign updated_x = x_15;

`ifdef FORMAL
    // Proved by induction. From a reset on no update is lost: as many as have begun have ended or
    // are on their way. And x never wraps: a step up does not lower it, a step down not raise it.
    reg [7:0] begins, ends, way;
    reg begun = 1'b0;
    reg [10:0] x_14, before_15;
    reg down_15;
    reg [1:0] clocks = 2'd0;
    integer i;

    always @* begin
        way = 8'd0;
        for (i = 1; i <= LAST; i = i + 1) way = way + {7'd0, valid[i]};
    end

    always @(posedge clk) begin
        if (rst) begun <= 1'b1;
        begins <= rst ? 8'd0 : begins + {7'd0, runs};
        ends <= rst ? 8'd0 : ends + {7'd0, valid[LAST]};
        if (begun) assert (begins - ends == way);
        {x_14, before_15, down_15} <= {x_13, x_14, down_14};
        if (clocks != 2'd3) clocks <= clocks + 2'd1;
        if (clocks == 2'd3) assert (down_15 ? x_15 <= before_15 : x_15 >= before_15);
    end
`endif
endmodule
