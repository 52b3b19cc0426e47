"""Values as they are typed on a command line."""

from __future__ import annotations

from sojourn.errors import InputError, ScenarioError

# As typing.TYPE_CHECKING, without the import: every run imports this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OPENING = {"{": "}", "[": "]", "(": ")"}
_QUOTES = "\"'"


def parse_set(text: str, option: str = "--set") -> tuple[str, str]:
    """``path=value`` in its two parts."""
    path, sign, value = text.partition("=")
    if not sign or not path.strip():
        raise ScenarioError(f'{option} "{text}": must be PATH=VALUE, such as bottleneck.qdisc=pi')
    return path.strip(), value


def parse_sets(texts: Sequence[str]) -> list[tuple[str, str]]:
    """What was typed after each ``--set``: paths and values."""
    pairs = [parse_set(text) for text in texts]
    once([path for path, _ in pairs], "--set {}: given twice; give one value")
    return pairs


def once(words: Sequence[str], complaint: str) -> None:
    """Refuses a word that is there twice; ``complaint`` has ``{}`` in its place."""
    for place, word in enumerate(words):
        if word in words[:place]:
            raise InputError(complaint.format(word))


def parse_variations(texts: Sequence[str]) -> dict[str, list[object]]:
    """What was typed after each ``--vary``, by path."""
    found = [parse_vary(text) for text in texts]
    once([path for path, _ in found], "--vary {}: given twice; give all of its values at once")
    return dict(found)


def parse_vary(text: str) -> tuple[str, list[object]]:
    """``path=a,b,{kind="pi",ecn=true}`` as a path and its values."""
    path, values = parse_set(text, "--vary")
    return path, parse_values(values, f"--vary {path}")


def parse_values(text: str, field: str) -> list[object]:
    """Values with commas between them; ``field`` is for errors."""
    try:
        return [parse_value(part) for part in _split(text)]
    except ScenarioError as error:
        raise ScenarioError(f"{field}: {error}") from error


def _split(text: str) -> list[str]:
    """Splits at commas that are in no braces, brackets or quotes."""
    parts, part, closing, quote = [], "", [], ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENING:
            closing.append(_OPENING[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            parts.append(part)
            part = ""
            continue
        part += letter
    if quote or closing:
        raise ScenarioError(f"{text}: {quote or closing[-1]} is missing")
    return [*parts, part]


def parse_value(text: str) -> object:
    """A TOML value, or else a bare word such as ``droptail`` or ``10ms``."""
    import tomllib

    text = text.strip()
    if not text:
        raise ScenarioError("a value is missing; give it, or leave its comma out")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        if text[0] in "{[\"'":
            raise ScenarioError(f"{text}: {error}") from error
        return text
