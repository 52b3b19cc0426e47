"""Controllers that several tests of the theory take."""

from __future__ import annotations

PAPER = {"kind": "pi", "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "qref": 50}
"""The PI of Hollot, Misra, Towsley and Gong (2001), for 60 flows at 3750 packets/s."""

RED = {"kind": "red", "min_th": 25, "max_th": 575, "max_p": 0.1, "wq": 1.33e-6}
