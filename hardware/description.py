"""What registers.toml describes: the registers of a bank in table form."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def registers() -> list[dict[str, Any]]:
    """Those of the description."""
    described = tomllib.loads((HERE / "registers.toml").read_text())
    found: list[dict[str, Any]] = described["register"]
    return found


def within(register: dict[str, Any], address: str) -> str:
    """The condition that a word is the register's; blocks begin at a multiple of their size."""
    low = (register.get("words", 1) - 1).bit_length()
    bits = f"[9:{low}]" if low else ""
    return f"{address}{bits} == {10 - low}'d{register['word'] >> low}"
