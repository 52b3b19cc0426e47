"""Writes pi_table_port.v, pi_table_axi.v and the table of registers from registers.toml."""

from __future__ import annotations

import re

import registers_axi
from description import HERE, registers, within

MODULE = HERE / "pi_table_port.v"
PAGE = HERE.parent / "docs/how-to/hardware.md"
_HEAD = "| word | register | access | what |\n"
_SHOWN = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")

_TEXT = """\
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
{cases}
            default: bus_read <= 32'd0;
        endcase
    end

    pi_table_aqm #(
        .CLASS_BITS(CLASS_BITS),
        .EACH_BITS(EACH_BITS)
    ) aqm (
        .clk(clk),
        .rst(rst),
{inputs}
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
"""


def module() -> str:
    """The text of the module."""
    cases, inputs = [], []
    for register in registers():
        if "value" in register:
            cases.append(f"            10'd{register['word']}: bus_read <= {register['value']};")
        else:
            condition = f"bus_write && {within(register, 'bus_at')}"
            # Control has no value of its own, but a bit that says so.
            if not register["drives"]:
                condition += " && bus_data[0]"
            inputs.append(f"        .{register['strobe']}({condition}),")
            inputs += [f"        .{port}({wire})," for port, wire in register["drives"].items()]
    return _TEXT.replace("{cases}", "\n".join(cases)).replace("{inputs}", "\n".join(inputs))


def table() -> str:
    """The registers as the page shows them."""
    lines = [_HEAD, "|---|---|---|---|\n"]
    for register in registers():
        last = register["word"] + register.get("words", 1) - 1
        words = f"{register['word']}" + (f" to {last}" if last > register["word"] else "")
        access = "read" if "value" in register else "write"
        lines.append(f"| {words} | `{register['name']}` | {access} | {register['what']} |\n")
    return "".join(lines)


def main() -> None:
    """Writes all."""
    MODULE.write_text(module())
    registers_axi.MODULE.write_text(registers_axi.module())
    PAGE.write_text(_SHOWN.sub(lambda _: table(), PAGE.read_text()))


if __name__ == "__main__":
    main()
