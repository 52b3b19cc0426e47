"""A field of numbers as a PNG picture, for figures with too many points to draw one by one."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Stop = tuple[float, str]
"""A value and its colour, "#rrggbb"."""


def coloured(field: Any, stops: Sequence[Stop], missing: str) -> Any:
    """Red, green and blue of each number, straight between the stops.

    Args:
        field: Rows of numbers; not a number is ``missing``.
        stops: From the lowest value to the highest; beyond them their colours stay.
        missing: Colour of what is no number.
    """
    at = [value for value, _ in stops]
    there = ~np.isnan(field)
    filled = np.where(there, field, 0.0)
    channels = []
    for i in (1, 3, 5):
        of_stops = [int(colour[i : i + 2], 16) for _, colour in stops]
        channel = np.interp(filled, at, of_stops)
        channels.append(np.where(there, channel, int(missing[i : i + 2], 16)))
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def png(pixels: Any) -> bytes:
    """A PNG file of rows of red, green and blue, the first row on top."""
    height, width, _ = pixels.shape
    # Each row begins with the number of its filter: 0, none.
    rows = np.zeros((height, 1 + width * 3), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content))
            + name
            + content
            + struct.pack(">I", zlib.crc32(name + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def data_url(pixels: Any) -> str:
    """The picture as text that a figure can hold."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
