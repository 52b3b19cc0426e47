"""Asking all kinds of diagnoses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sojourn.diagnoses.finding import Diagnosis, Finding, Kind
from sojourn.verdict.diagnosed import merged
from sojourn.verdict.judge import LEAST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from sojourn.diagnoses.facts import Facts
    from sojourn.scenario import Scenario

_FEW = {
    1: "1 seed for each case: no interval can be given, so no difference can be told from chance",
    2: "2 seeds for each case: an interval from two is hardly one, so what looks like a difference "
    "may be chance",
}


def before(scenario: Scenario) -> list[Diagnosis]:
    """What can be known of a scenario without running it."""
    return list(_known(scenario.seedless, scenario.asked_loads)[1])


def after(
    scenario: Scenario, summary: Mapping[str, Any], samples: pl.DataFrame | None = None
) -> list[Diagnosis]:
    """What can be known of a run: what was known before, and what came out.

    Args:
        samples: Its table `queues`, if it has one.
    """
    facts, early = _known(scenario.seedless, scenario.asked_loads)
    return [*early, *_asked(facts.of_run(summary, samples), *_late())]


# What the runs of a sweep share: a repeat of all its cases comes before the next one.
@lru_cache(maxsize=256)
def _known(scenario: Scenario, loads: tuple[float | None, ...]) -> tuple[Facts, list[Diagnosis]]:
    """What is known of a scenario before it runs, whatever its seed.

    Two that say the same may have been asked for different loads.
    """
    # Start-up: `sojourn --version` and the like need none of these.
    from sojourn.diagnoses.facts import Facts  # noqa: PLC0415

    facts = Facts.of(scenario, loads)
    return facts, _asked(facts, *_early())


def compared(cases: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The diagnoses in the summaries of a comparison's runs, each once, and those of its own.

    Args:
        cases: For each variation the summaries of its runs, one for each seed.
    """
    found = merged(cases)
    repeats = min((len(runs) for runs in cases if runs), default=LEAST_SEEDS)
    if repeats < LEAST_SEEDS:
        found.append(
            Diagnosis(
                "few-seeds",
                "repeat",
                _FEW[repeats],
                f"repeat with {LEAST_SEEDS} seeds or more",
                {"seeds": repeats},
            ).to_dict()
        )
    repeated = [runs for runs in cases if len(runs) > 1]
    if repeated and all(map(_alike, repeated)):
        found.append(
            Diagnosis(
                "seed-without-effect",
                "repeat",
                "all runs of a case are the same, whatever the seed: an interval of no width says "
                "nothing of chance, and a difference may be one of this timing alone",
                'spread what is fixed: start = "0s..1s", rtt = "20ms..60ms"',
            ).to_dict()
        )
    return found


def _alike(runs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all runs measured the same, and something."""
    measured = [{name: run.get(name) for name in ("links", "groups", "flows")} for run in runs]
    return any(measured[0].values()) and all(each == measured[0] for each in measured)


def kinds() -> dict[str, Kind]:
    """All kinds of diagnoses, by name."""
    found = {}
    for check in (*_early(), *_late()):
        first, _, rest = (check.__doc__ or "").partition("\n")
        name = _name(check)
        found[name] = Kind(name, first, " ".join(rest.split()))
    found["few-seeds"] = Kind(
        "few-seeds",
        "A comparison has fewer than three seeds.",
        "Whatever it shows may be chance: one gives no interval, two give one that is hardly worth "
        "the name.",
    )
    found["seed-without-effect"] = Kind(
        "seed-without-effect",
        "All seeds of a comparison's cases give the same.",
        "Nothing is drawn at random: fixed starts and round trips, a discipline without chance. "
        "Ten such runs are one run, and intervals between cases have no width.",
    )
    return dict(sorted(found.items()))


def _name(check: Callable[[Facts], Iterator[Finding]]) -> str:
    return check.__name__.replace("_", "-")


def _asked(facts: Facts, *checks: Callable[[Facts], Iterator[Finding]]) -> list[Diagnosis]:
    return [
        Diagnosis(_name(check), *finding[:3], dict(finding.numbers))
        for check in checks
        for finding in check(facts)
    ]


def _early() -> tuple[Callable[[Facts], Iterator[Finding]], ...]:
    from sojourn.diagnoses import disciplines, traffic  # noqa: PLC0415 (start-up)

    return (*traffic.EARLY, *disciplines.EARLY)


def _late() -> tuple[Callable[[Facts], Iterator[Finding]], ...]:
    from sojourn.diagnoses import course, hosts, queues  # noqa: PLC0415 (start-up)

    return (*hosts.LATE, *queues.LATE, *course.LATE)
