"""The sentences of the talk and of the ToN abstract, each as a test.

What is compared is the mean response time with each exchange counted as two seconds at most
(`responses.py`), unless a sentence is about something else. "The same" and "close to" have a margin
that is stated here, before any run: 5 % for the same, 20 % for close.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from sojourn.load import UNCONGESTED
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.responses import limited_mean, throughput
from sojourn.studies.study import Check
from sojourn.studies.verdicts import Tested, less, not_less, same
from sojourn.studies.web_aqm.schemes import SCHEMES, TAIL
from sojourn.studies.words import percent

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.sweep import Results

SAME, CLOSE = 0.05, 0.20
_TALK = "talk (SIGCOMM 2003)"
_TON = "ToN 2007, abstract"

# Of response times, which readers know in milliseconds.
quicker = partial(less, unit="ms", scale=1e3)
not_quicker = partial(not_less, unit="ms", scale=1e3)
alike = partial(same, unit="ms", scale=1e3)

Measure = Callable[["RunResult"], float]
Test = Callable[[Mapping[str, Pairs]], Tested]
Gain = tuple[list[float], int]
"""By seed, and how many of the runs behind it had not settled."""


class Claims:
    """The runs of a study, asked for pairs; ``grid`` is the part with all schemes and loads."""

    def __init__(self, results: Results, grid: str = "grid") -> None:
        self.results = results
        self.grid = grid
        # A case is asked for many times, and its curve takes a while.
        self._known: dict[tuple[Measure, int], float] = {}

    def checks(self) -> list[Check]:
        """All sentences in the order of the publications."""
        return [*self._talk(), *self._ton()]

    def pair(
        self,
        first: str,
        second: str,
        load: float,
        measure: Measure = limited_mean,
        part: str | None = None,
        **labels: object,
    ) -> Pairs:
        """Values of two schemes at the same load, seed by seed; empty if they did not run."""
        mine, theirs = (
            self.results.where(part=self._part(scheme, part), scheme=scheme, load=load, **labels)
            for scheme in (first, second)
        )
        return paired(mine, theirs, lambda run: self._value(measure, run))

    def _gain(self, better: str, worse: str, load: float, **labels: object) -> Gain:
        """How much sooner exchanges end under the one, by seed, and how many runs had not
        settled."""
        mine, theirs, moving = self.pair(better, worse, load, **labels)  # type: ignore[arg-type]
        return [b - a for a, b in zip(mine, theirs, strict=True)], moving

    def _part(self, scheme: str, part: str | None) -> str:
        if part is None and self.grid == "grid" and scheme not in (*SCHEMES, UNCONGESTED):
            return "ared"
        return part or self.grid

    def _value(self, measure: Measure, run: RunResult) -> float:
        # By its summary, which all names of a run share.
        key = (measure, id(run.summary))
        if key not in self._known:
            self._known[key] = measure(run)
        return self._known[key]

    def _each(
        self, pairs: Iterable[tuple[str, str]], loads: Iterable[float], measure: Measure
    ) -> dict[str, Pairs]:
        """Pairs of schemes at every load, with the names by which a reader knows them."""
        pairs, found = list(pairs), {}
        for load in loads:
            for first, second in pairs:
                each = self.pair(first, second, load, measure)
                if len(each.one):
                    found[f"{first} − {second}, {percent(load)}"] = each
        return found

    def _check(
        self,
        claim: str,
        source: str,
        published: str,
        test: Test,
        pairs: Mapping[str, Pairs],
        note: str = "",
    ) -> Check:
        tested = test(pairs)
        return Check(
            claim,
            source,
            published,
            tested.ours,
            tested.verdict,
            note=f"{note} {tested.note}".strip(),
        )

    def _talk(self) -> Iterable[Check]:
        response = limited_mean
        aqms = [name for name in SCHEMES if "drop-tail" not in name]
        plain = [name for name in aqms if "ECN" not in name]
        busy = (0.9, 0.98, 1.05)

        def each(pairs: Iterable[tuple[str, str]], *loads: float) -> dict[str, Pairs]:
            return self._each(pairs, loads, response)

        yield self._check(
            "At 80 % no AQM beats drop-tail.",
            _TALK,
            "none",
            partial(not_quicker, margin=SAME),
            each([(name, TAIL) for name in aqms], 0.8),
            "Drop-tail is that with 240 packets.",
        )
        yield self._check(
            "At 80 % ECN changes nothing.",
            _TALK,
            "no difference",
            partial(alike, margin=SAME),
            each([(f"{name} ECN", name) for name in plain], 0.8),
        )
        yield self._check(
            "Without ECN, at 90 % and above, PI is better than drop-tail.",
            _TALK,
            "better",
            quicker,
            each([("PI 24", TAIL)], *busy),
        )
        yield self._check(
            "Without ECN, at 90 % and above, PI is better than the other AQMs.",
            _TALK,
            "better",
            quicker,
            each([("PI 24", "REM 24"), ("PI 24", "ARED 24")], *busy),
        )
        yield self._check(
            "With ECN, PI and REM improve strongly.",
            _TALK,
            "better with ECN",
            quicker,
            each([("PI 24 ECN", "PI 24"), ("REM 24 ECN", "REM 24")], *busy),
        )
        yield self._check(
            "With ECN at 90 %, PI and REM are close to the uncongested network.",
            _TALK,
            "close",
            partial(alike, margin=CLOSE),
            each([("PI 24 ECN", UNCONGESTED), ("REM 24 ECN", UNCONGESTED)], 0.9),
        )
        yield self._check(
            "With ECN at 98 %, PI and REM are far better than drop-tail.",
            _TALK,
            "far better",
            quicker,
            each([("PI 24 ECN", TAIL), ("REM 24 ECN", TAIL)], 0.98),
            "Tested is better; how far is in the figures.",
        )
        yield self._most_gained()
        others = [name for name in ("PI 24", "REM 24", TAIL) if name in SCHEMES]
        yield self._check(
            "ARED has the poorest response times.",
            _TALK,
            "poorest",
            quicker,
            each([(name, "ARED 24") for name in others], *busy),
        )
        yield self._check(
            "ARED has the lowest utilisation.",
            _TALK,
            "lowest",
            partial(less, unit="Mb/s", scale=1e-6),
            self._each([("ARED 24", name) for name in others], busy, throughput),
            "By the rate of IP packets, which framing leaves below 93 Mb/s.",
        )
        yield self._check(
            "ECN does not help ARED.",
            f"{_TALK}; {_TON}",
            "no difference or worse",
            partial(not_quicker, margin=SAME),
            each([("ARED 24 ECN", "ARED 24")], *busy),
        )
        yield self._check(
            "No scheme without ECN offsets the degradation at 98 %.",
            _TALK,
            "none",
            quicker,
            each([(UNCONGESTED, name) for name in (TAIL, *plain)], 0.98),
            "Every scheme is worse than the uncongested network.",
        )

    def _most_gained(self) -> Check:
        """What ECN gives REM against what it gives PI, at 105 %."""
        gains = [self._gain(f"{name} ECN", name, 1.05) for name in ("PI 24", "REM 24")]
        n = min(len(values) for values, _ in gains)
        pi, rem = ((values[:n], moving) for values, moving in gains)
        return self._check(
            "At 105 % it is REM that gains most from ECN.",
            _TALK,
            "REM",
            quicker,
            _beside({"gain of PI − gain of REM": (pi, rem)}),
        )

    def _ton(self) -> Iterable[Check]:
        busy = (0.9, 0.98, 1.05)

        def each(pairs: Iterable[tuple[str, str]], *loads: float) -> dict[str, Pairs]:
            return self._each(pairs, loads, limited_mean)

        best = "ARED 24 bytes"
        yield self._check(
            "Without ECN, ARED in byte mode is best and beats drop-tail above 90 %.",
            _TON,
            "best",
            quicker,
            each([(best, name) for name in (TAIL, "PI 24", "REM 24")], 0.98, 1.05),
        )
        yield self._check(
            "ARED in packet mode, with or without ECN, is worse than drop-tail.",
            _TON,
            "worse",
            quicker,
            each([(TAIL, "ARED 24"), (TAIL, "ARED 24 ECN")], *busy),
        )
        yield self._check(
            "REM without ECN is worse than drop-tail at every load.",
            _TON,
            "worse",
            quicker,
            each([(TAIL, "REM 24")], 0.8, *busy),
        )
        for mode in ("", "bytes "):
            pair = (f"ARED 24 {mode}marks ECN", f"ARED 24 {mode}ECN")
            yield self._check(
                "ARED that marks instead of dropping above max_th is much better with ECN"
                f" ({mode.strip() or 'packets'}).",
                _TON,
                "much better",
                quicker,
                each([pair], *busy),
                "Acknowledgements and SYNs are not ECN-capable: above max_th they are dropped "
                "whatever becomes of the others, in byte mode seldom, as they are small.",
            )
        yield self._spread()

    def _spread(self) -> Check:
        """What PI with ECN gains over drop-tail, for three spreads of round-trip times."""
        talk, narrow, wide = (
            self._gain("PI 24 ECN", TAIL, 0.98, **labels)
            for labels in (
                {"part": self.grid},
                {"part": "rtt", "rtt": "narrow"},
                {"part": "rtt", "rtt": "wide"},
            )
        )
        pairs = _beside(
            {"gain wide − gain talk": (wide, talk), "gain talk − gain narrow": (talk, narrow)}
        )
        effect = "Effect: what PI with ECN gains over drop-tail at 98 %; spreads with one mean."
        return self._check(
            "A wider spread of round-trip times shrinks the effect of AQM and ECN.",
            _TON,
            "smaller effect",
            quicker,
            pairs,
            effect if pairs else f"{effect} This scale has one spread only.",
        )


def _beside(gains: Mapping[str, tuple[Gain, Gain]]) -> dict[str, Pairs]:
    """Gains by seed beside each other, of those that have the same seeds."""
    return {
        name: Pairs(first, second, moving + also)
        for name, ((first, moving), (second, also)) in gains.items()
        if len(first) == len(second) > 0
    }
