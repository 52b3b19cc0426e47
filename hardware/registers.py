"""Writes the ports of both banks and the table of their registers from registers.toml."""

from __future__ import annotations

import re

import registers_axi
from description import HERE, registers, within

PAGE = HERE.parent / "docs/how-to/hardware.md"
_HEAD = "| word | register | access | what |\n"
_SHOWN = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")

_TEXT = """\
// {aqm} behind a plain port for configuration and counters: a word of 32 bits a clock.
// Written by registers.py from registers.toml; what is changed here is lost.
//
// A write takes effect in its clock; `bus_read` shows the register of `bus_at` a clock later.
// Packets, queues and decisions go past the port. Number formats, hazards, differences: those of
// {aqm}.v.
module {port} #(
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
{wires}

    always @(posedge clk) begin
        case (bus_at)
{cases}
            default: bus_read <= 32'd0;
        endcase
    end
{more}
    {aqm} #(
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
{outputs}
    );
endmodule
"""

# What the two banks do not share: names, what is for benches, and what waits for a wide word.
_BANKS = {
    "table": {
        "aqm": "pi_table_aqm",
        "port": "pi_table_port",
        "wires": """\
    wire [10:0] updated_x;
    wire unused = &{1'b0, level, updated, updated_at, updated_x};""",
        "outputs": "        .updated_x(updated_x)",
        "more": "",
    },
    "exact": {
        "aqm": "pi_aqm",
        "port": "pi_port",
        "wires": """\
    wire [28:0] updated_p;
    wire [3:0] updated_level;
    wire unused = &{1'b0, level, updated, updated_at, updated_p, updated_level};""",
        "outputs": """\
        .updated_p(updated_p),
        .updated_level(updated_level)""",
        "more": """
    // The lower words of a class's gains wait for the last.
    reg [63:0] lower;

    always @(posedge clk) begin
        if (bus_write && bus_at[9] && bus_at[5:0] == 6'd0) lower[31:0] <= bus_data;
        if (bus_write && bus_at[9] && bus_at[5:0] == 6'd1) lower[63:32] <= bus_data;
    end
""",
    },
}


def module(bank: str) -> str:
    """The text of a bank's plain port."""
    cases, inputs = [], []
    for register in registers():
        if "value" in register:
            cases.append(f"            10'd{register['word']}: bus_read <= {register['value']};")
        here = f"bus_write && {within(register, 'bus_at')}"
        drives = {**register.get("drives", {}), **register.get(bank, {})}
        inputs += [
            f"        .{port}({wire.replace('{here}', here)})," for port, wire in drives.items()
        ]
    text = _TEXT.replace("{cases}", "\n".join(cases)).replace("{inputs}", "\n".join(inputs))
    for name, filling in _BANKS[bank].items():
        text = text.replace("{" + name + "}", filling)
    return text


def modules() -> dict[str, str]:
    """All that is written from the description, by file."""
    made = {}
    for bank, names in _BANKS.items():
        made[f"{names['port']}.v"] = module(bank)
        axi = names["port"].replace("port", "axi")
        made[f"{axi}.v"] = registers_axi.module(axi, names["port"], names["aqm"])
    return made


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
    for name, text in modules().items():
        (HERE / name).write_text(text)
    PAGE.write_text(_SHOWN.sub(lambda _: table(), PAGE.read_text()))


if __name__ == "__main__":
    main()
