"""What the talk and the paper print, as data."""

from __future__ import annotations

TALK = "Kelly, talk on Scalable TCP (2003)"

# Rate in bit/s: window in packets, seconds to recover, loss rate. Round trip 200 ms, 1500 bytes.
TRADITIONAL = {
    10e6: (170, 17.0, 5.4e-5),
    100e6: (1700, 170.0, 5.4e-7),
    1e9: (17000, 28 * 60.0, 5.4e-9),
    10e9: (170000, 4 * 3600 + 43 * 60.0, 5.4e-11),
}

SLIDE_500 = 27 * 60 + 47.0
"""Seconds that a slide gives for traditional TCP at 500 Mb/s."""
SLIDE_50 = 60 + 38.0
"""The same at 50 Mb/s."""

# b: a, coefficient of variation of the rate, then round trips to recover, to halve, to double.
VARIANCE = {
    1 / 2: (2 / 50, 0.50, 17.7, 1.0, 17.7),
    1 / 4: (1 / 50, 0.35, 14.5, 2.41, 35.0),
    1 / 8: (1 / 100, 0.25, 13.4, 5.19, 69.7),
    1 / 16: (1 / 200, 0.18, 12.9, 10.7, 139.0),
}

VARIANCE_S = {
    1 / 2: ("3.54 s", "0.20 s", "3.54 s"),
    1 / 4: ("2.91 s", "0.48 s", "7.00 s"),
    1 / 8: ("2.68 s", "1.04 s", "13.9 s"),
    1 / 16: ("2.59 s", "2.15 s", "27.8 s"),
}
"""The round trips of that table in seconds, as printed."""

FLOWS = (1, 2, 4, 8, 16)

# Transfers of 2 GB that were completed in 1200 s, by number of flows.
TRANSFERS = {
    "classic": (7, 14, 27, 47, 66),
    "buffers": (16, 39, 60, 86, 106),
    "scalable": (44, 93, 135, 140, 142),
}

# The same beside 4200 web users, four flows on two machines; the web moved 65 GB in every case.
WITH_WEB = {"classic": 36, "buffers": 58, "scalable": 96}
WEB_BYTES = 65e9
WEB_USERS = 4200

STACKS = {
    "classic": "TCP of 2003",
    "buffers": "TCP of 2003, device queues of 2000",
    "scalable": "Scalable TCP",
    "cubic": "CUBIC",
    "bbr": "BBR",
}
"""How tables and figures call a stack."""
