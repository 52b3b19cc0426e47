"""What helps a discipline that is set for another link."""

from __future__ import annotations

# The command of `sojourn design` that has a rule for a discipline. A table holds PI's law.
# Control theory is above diagnoses, so the names are here too; a test compares them with it.
DESIGNS = {name: name for name in ("pi", "rem", "pie", "pi2", "red", "ared", "codel")}
DESIGNS["pi_table"] = "pi"


def or_designed(remedy: str, kind: str) -> str:
    """A remedy, and beside it the rule for a discipline's gains, if there is one."""
    if kind not in DESIGNS:
        return remedy
    return f"{remedy}, or take the gains that `sojourn design {DESIGNS[kind]}` gives"
