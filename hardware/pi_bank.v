// Many PI controllers, one update a clock. At every instant, for each controller
//
//   p += a (q - q before) + (a - b)(q before - qref), clamped to 0..1
//
// and then its level is the entry of the class's table for p.
//
// Source: C. Hollot, V. Misra, D. Towsley, W. Gong, INFOCOM 2001.
//
// Number formats
//   p          29 fraction bits, 0 to 1 - 2^-29
//   rest       what the integral part leaves over: 16 further fraction bits
//   queue      15 bits; longer ones count as 32767
//   gain       mantissa of 15 bits * 2^left * 2^-right, one of the shifts being 0
//   threshold  15 fraction bits; 32768 is out of reach
//
// Hazards
//   A pass reads each queue once. `level` is what stood for `level_at` a clock ago: that before
//   the controller's update or that after it, never a mixture. In the clock of the write it is that
//   before. Levels of the first pass read as 0 until the pass has ended.
//   `start` is ignored during a pass. Constants must not be written during one.
//
// Differences from crates/qdisc/src/bank: none in p and level, bit by bit. There are as many
// controllers of a class as a power of two.
module pi_bank #(
    parameter CLASS_BITS = 3,  // 2^CLASS_BITS classes
    parameter EACH_BITS  = 9   // 2^EACH_BITS controllers of each
) (
    input  wire                            clk,
    input  wire                            rst,
    // Constants of a class: gains, and one threshold of its table (1 to 15).
    input  wire                            gains_write,
    input  wire                            threshold_write,
    input  wire [CLASS_BITS-1:0]           write_class,
    input  wire [91:0]                     gains,
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
    output wire [28:0]                     updated_p,
    output wire [3:0]                      updated_level
);
    localparam N = CLASS_BITS + EACH_BITS;
    localparam LAST = 11;  // stage in which the level is known

    // State: p, rest, queue before.
    reg [59:0] state[0:(1<<N)-1];
    reg [3:0] levels[0:(1<<N)-1];
    reg [91:0] constants[0:(1<<CLASS_BITS)-1];

    // Which controller is in which stage.
    reg reading, started, first;
    reg [N-1:0] at;
    reg [LAST:1] valid;
    reg [N*LAST-1:0] places;  // of stage k in field k - 1
    wire [N-1:0] at_6 = places[N*5+:N];
    wire [CLASS_BITS-1:0] class_7 = places[N*6+EACH_BITS+:CLASS_BITS];
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

    // Stage 1: the state and the constants are read while the queue comes.
    reg [59:0] state_1;
    reg [91:0] gains_1;
    wire [14:0] queue_1 = queue_read[15] ? 15'h7fff : queue_read[14:0];
    wire [28:0] p_1 = first ? 29'd0 : state_1[59:31];
    wire [15:0] rest_1 = first ? 16'd0 : state_1[30:15];
    // The queue before the first instant counts as that at the first.
    wire [14:0] old_1 = first ? queue_1 : state_1[14:0];
    wire [14:0] qref_1 = gains_1[91:77];
    wire [14:0] a_most_1 = gains_1[53:39];
    wire [14:0] d_most_1 = gains_1[14:0];

    always @(posedge clk) begin
        state_1 <= state[at];
        gains_1 <= constants[at[N-1:EACH_BITS]];
        if (gains_write) constants[write_class] <= gains;
    end

    // Stage 2: distances.
    reg signed [15:0] change_2, distance_2;
    reg [14:0] queue_2, old_2, a_most_2, d_most_2;
    reg [28:0] p_2;
    reg [15:0] rest_2;
    reg [14:0] ma_2, md_2;
    reg [3:0] al_2, ar_2, dl_2;
    reg [4:0] dr_2;

    always @(posedge clk) begin
        change_2 <= $signed({1'b0, queue_1}) - $signed({1'b0, old_1});
        distance_2 <= $signed({1'b0, old_1}) - $signed({1'b0, qref_1});
        queue_2 <= queue_1;
        old_2 <= old_1;
        p_2 <= p_1;
        rest_2 <= rest_1;
        ma_2 <= gains_1[76:62];
        al_2 <= gains_1[61:58];
        ar_2 <= gains_1[57:54];
        a_most_2 <= a_most_1;
        md_2 <= gains_1[38:24];
        dl_2 <= gains_1[23:20];
        dr_2 <= gains_1[19:15];
        d_most_2 <= d_most_1;
    end

    // Stage 3: the factors. With places to be shifted off, products of a are shifted before they
    // are subtracted from each other, so that nothing is lost over time.
    function signed [15:0] cut(input signed [15:0] x, input [14:0] most);
        cut = (x > $signed({1'b0, most})) ? $signed({1'b0, most})
            : (x < -$signed({1'b0, most})) ? -$signed({1'b0, most}) : x;
    endfunction

    reg signed [15:0] plus_3, minus_3, distance_3;
    reg [14:0] ma_3, md_3, queue_3;
    reg [3:0] al_3, ar_3, dl_3;
    reg [4:0] dr_3;
    reg [28:0] p_3;
    reg [15:0] rest_3;

    always @(posedge clk) begin
        plus_3 <= (|ar_2) ? $signed({1'b0, queue_2}) : cut(change_2, a_most_2);
        minus_3 <= (|ar_2) ? $signed({1'b0, old_2}) : 16'sd0;
        distance_3 <= cut(distance_2, d_most_2);
        ma_3 <= ma_2;
        md_3 <= md_2;
        al_3 <= al_2;
        ar_3 <= ar_2;
        dl_3 <= dl_2;
        dr_3 <= dr_2;
        p_3 <= p_2;
        rest_3 <= rest_2;
        queue_3 <= queue_2;
    end

    // Stage 4: products.
    reg signed [31:0] plus_4, minus_4, excess_4;
    reg [3:0] al_4, ar_4, dl_4;
    reg [4:0] dr_4;
    reg [28:0] p_4;
    reg [15:0] rest_4;
    reg [14:0] queue_4;

    always @(posedge clk) begin
        plus_4 <= plus_3 * $signed({1'b0, ma_3});
        minus_4 <= minus_3 * $signed({1'b0, ma_3});
        excess_4 <= distance_3 * $signed({1'b0, md_3});
        al_4 <= al_3;
        ar_4 <= ar_3;
        dl_4 <= dl_3;
        dr_4 <= dr_3;
        p_4 <= p_3;
        rest_4 <= rest_3;
        queue_4 <= queue_3;
    end

    // Stage 5: shifts of the proportional part; the rest is added to the integral one.
    reg signed [31:0] plus_5, minus_5, sum_5;
    reg [3:0] dl_5;
    reg [4:0] dr_5;
    reg [28:0] p_5;
    reg [15:0] rest_5;
    reg [14:0] queue_5;

    always @(posedge clk) begin
        plus_5 <= (plus_4 >>> ar_4) <<< al_4;
        minus_5 <= minus_4 >>> ar_4;
        sum_5 <= (|dr_4) ? excess_4 + $signed({16'd0, rest_4}) : excess_4;
        dl_5 <= dl_4;
        dr_5 <= dr_4;
        p_5 <= p_4;
        rest_5 <= rest_4;
        queue_5 <= queue_4;
    end

    // Stage 6: both parts; what is below a step of p is left over.
    reg signed [31:0] proportional_6, integral_6;
    reg [28:0] p_6;
    reg [15:0] rest_6;
    reg [14:0] queue_6;
    wire [15:0] below_5 = ~(16'hffff << dr_5);

    always @(posedge clk) begin
        proportional_6 <= plus_5 - minus_5;
        integral_6 <= (sum_5 >>> dr_5) <<< dl_5;
        rest_6 <= (|dr_5) ? sum_5[15:0] & below_5 : rest_5;
        p_6 <= p_5;
        queue_6 <= queue_5;
    end

    // Stage 7: the sum, clamped. It is written as soon as it is known.
    wire signed [33:0] sum_6 = $signed({5'd0, p_6})
        + $signed({{2{proportional_6[31]}}, proportional_6})
        + $signed({{2{integral_6[31]}}, integral_6});
    wire [28:0] clamped_6 = sum_6[33] ? 29'd0 : (|sum_6[32:29]) ? 29'h1fffffff : sum_6[28:0];
    reg [28:0] p_7;

    always @(posedge clk) begin
        p_7 <= clamped_6;
        if (valid[6]) state[at_6] <= {clamped_6, rest_6, queue_6};
    end

    // Stages 8 to 11: the level.
    wire [3:0] level_last;

    table_level #(
        .CLASS_BITS(CLASS_BITS)
    ) levels_of_p (
        .clk(clk),
        .write(threshold_write),
        .write_class(write_class),
        .write_at(threshold_at),
        .write_data(threshold),
        .of_class(class_7),
        .p(p_7[28:14]),
        .level(level_last)
    );

    reg [28:0] p_8, p_9, p_10, p_11;
    reg [3:0] level_read;

    always @(posedge clk) begin
        p_8 <= p_7;
        p_9 <= p_8;
        p_10 <= p_9;
        p_11 <= p_10;
        if (valid[LAST]) levels[at_last] <= level_last;
        level_read <= levels[level_at];
    end

    assign level = started ? level_read : 4'd0;
    assign updated = valid[LAST];
    assign updated_at = at_last;
    assign updated_p = p_11;
    assign updated_level = level_last;
endmodule
