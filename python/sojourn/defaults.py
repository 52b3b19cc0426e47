"""Defaults that a function and the option of a command have in common.

They stand apart from both because the modules of the functions import numerics: a command that took
them from there would start more slowly.
"""

SEEDS = 3
"""Of each case of a comparison, a sweep or a search."""
TRIALS = 40
"""Settings that a search tries."""
ACROSS = "worst"
"""What a setting counts as in a search: as at its worst place."""
MAP_SIZE = 1000
"""Points of a stability map, each way."""
RECOVERY_RTT_S = 0.2
"""Round trip time in tables of recovery."""
RESPONSES_RTT_S = 0.1
"""Round trip time in tables of response functions."""
RECOVERY_PACKET = 1500
"""Bytes of a packet, for times of recovery."""
CODEL_INTERVAL_S = 0.1
"""CoDel's, RFC 8289."""
CODEL_DROPS = 10
"""Drops of CoDel that are listed."""
