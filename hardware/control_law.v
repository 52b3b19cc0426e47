// CoDel's control law: interval / sqrt(count), rounded to nearest. Newton's iteration on one
// multiplier of 64 by 16 bits, about 90 clocks; it is needed once a drop.
//
// Source: RFC 8289 section 5.6; crates/qdisc/src/codel_law.rs, `interval_over_sqrt`.
//
// Number formats
//   interval   whole nanoseconds, 37 bits: up to 100 s
//   count      32 bits; 0 counts as 1
//   m          count / 4^k, 1 <= m < 4: 60 fraction bits
//   y          1/sqrt(m): 62 fraction bits
//
// Hazards: `start` is ignored while `busy`; `step` stands from `done` to the next `start`.
//
// Differences from crates/qdisc: none, bit by bit.
module control_law (
    input  wire        clk,
    input  wire        rst,
    input  wire        start,
    input  wire [36:0] interval,
    input  wire [31:0] count,
    output wire        busy,
    output reg         done,
    output reg  [36:0] step
);
    localparam IDLE = 3'd0, SCALE = 3'd1, SQUARE = 3'd2, TIMES_M = 3'd3, CORRECT = 3'd4,
        TIMES_INTERVAL = 3'd5, SHIFT = 3'd6, ROUND = 3'd7;
    reg [2:0] phase, turns;

    // A product of 128 bits in four slices of 16: low slices first, each below what comes.
    reg [2:0] slice;
    reg [63:0] left;
    reg [63:0] right;
    reg [79:0] partial;
    reg [127:0] product;
    wire multiplies = phase == SQUARE || phase == TIMES_M || phase == CORRECT
        || phase == TIMES_INTERVAL;
    // Slices 0 to 3 are multiplied; one clock later each is added.
    wire multiplied = slice == 3'd5;
    wire unused = &{1'b0, product[15:0]};
    wire [79:0] sum = {16'd0, product[127:64]} + partial;

    reg [61:0] m;
    reg [3:0] k;
    reg [36:0] of;
    reg [63:0] y;
    reg [38:0] rest;
    reg [3:0] shifts;

    assign busy = phase != IDLE;

    always @(posedge clk) begin
        partial <= left * right[15:0];
        done <= 1'b0;
        if (rst) phase <= IDLE;
        else if (multiplies && !multiplied) begin
            slice <= slice + 3'd1;
            right <= {16'd0, right[63:16]};
            if (slice == 3'd0) product <= 128'd0;
            else product <= {sum, product[63:16]};
        end else begin
            slice <= 3'd0;
            case (phase)
                IDLE:
                if (start) begin
                    // k is 15 at first and falls with each two places.
                    m <= {(|count) ? count : 32'd1, 30'd0};
                    k <= 4'd15;
                    of <= interval;
                    turns <= 3'd0;
                    phase <= SCALE;
                end
                SCALE:
                if (m[61:60] == 2'd0) begin
                    m <= {m[59:0], 2'd0};
                    k <= k - 4'd1;
                end else begin
                    // A guess that is 19 % off at worst.
                    y <= m[61] ? 64'd2739200000000000000 : 64'd3873800000000000000;
                    left <= m[61] ? 64'd2739200000000000000 : 64'd3873800000000000000;
                    right <= m[61] ? 64'd2739200000000000000 : 64'd3873800000000000000;
                    phase <= SQUARE;
                end
                SQUARE: begin
                    left <= {2'd0, m};
                    right <= product[125:62];
                    phase <= TIMES_M;
                end
                TIMES_M: begin
                    // y (3 - m y^2) / 2
                    left <= y;
                    right <= 64'hc000000000000000 - product[123:60];
                    phase <= CORRECT;
                end
                CORRECT: begin
                    y <= product[126:63];
                    left <= (turns == 3'd4) ? {27'd0, of} : product[126:63];
                    right <= product[126:63];
                    turns <= turns + 3'd1;
                    phase <= (turns == 3'd4) ? TIMES_INTERVAL : SQUARE;
                end
                TIMES_INTERVAL: begin
                    rest <= product[99:61];
                    shifts <= k;
                    phase <= SHIFT;
                end
                SHIFT:
                if (shifts == 4'd0) phase <= ROUND;
                else begin
                    rest <= {1'b0, rest[38:1]};
                    shifts <= shifts - 4'd1;
                end
                default: begin
                    // The last place that is shifted off is half of one that stays.
                    step <= rest[37:1] + {36'd0, rest[0]};
                    done <= 1'b1;
                    phase <= IDLE;
                end
            endcase
        end
    end
endmodule
