"""apt beside the machine's own: another suite of the same Debian mirror, and nothing installed.

All that it knows lies in a folder that is thrown away; the machine's own configuration is read, for
the mirror and its keys, and never written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sojourn.engines.kernel.programs import missing, output
from sojourn.errors import Error

_SYSTEM = Path("/etc/apt")
_RELEASES = {
    *("stable", "testing", "unstable", "sid", "oldstable", "oldoldstable"),
    *("bookworm", "trixie", "forky", "duke"),
}
"""Suites that every mirror of Debian has, so that one that has any of them has the others too."""
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_TIME_S = 600


class Apt:
    """What the suites of the machine's mirror offer."""

    def __init__(self, place: Path, suites: Iterable[str]) -> None:
        """Asks the mirror.

        Args:
            place: An empty folder.
            suites: Names of suites; one that the mirror does not have is left out.

        Raises:
            Error: If there is no apt, or no mirror of Debian among its sources.
        """
        if missing({"apt-get": "apt", "apt-cache": "apt"}):
            raise Error("there is no apt-get to fetch it")
        mirror, keys = _mirror(_SYSTEM)
        for folder in ("lists/partial", "cache/archives/partial", "files"):
            (place / folder).mkdir(parents=True)
        self._files = place / "files"
        sources = place / "sources.list"
        lines = [f"deb [signed-by={keys}] {mirror} {suite} main\n" for suite in suites]
        sources.write_text("".join(lines))
        self._options = [
            *("-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-"),
            *("-o", f"Dir::State::lists={place / 'lists'}", "-o", f"Dir::Cache={place / 'cache'}"),
            *("-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none"),
        ]
        try:
            output(["apt-get", *self._options, "--quiet", "update"], place, _TIME_S)
            self.said = ""
        except Error as error:
            # It has what the other suites have; whoever finds nothing may say why.
            self.said = str(error).rpartition("update: ")[2]

    def names(self, pattern: str) -> list[str]:
        """Packages whose whole name matches a regular expression.

        Raises:
            Error: If apt fails.
        """
        listed = output(["apt-cache", *self._options, "pkgnames"], self._files, _TIME_S)
        return [name for name in listed.split() if re.fullmatch(pattern, name)]

    def download(self, name: str) -> Path:
        """The file of a package.

        Raises:
            Error: If it cannot be had.
        """
        command = ["apt-get", *self._options, "--quiet", "download", name]
        output(command, self._files, _TIME_S)
        files = list(self._files.glob(f"{name}_*.deb"))
        if not files:
            raise Error(f"apt-get download {name} brought no file")
        return files[0]


def _mirror(system: Path) -> tuple[str, str]:
    """Where the machine gets Debian from, and the keys that it trusts for that."""
    for entry in _entries(system):
        if entry["suites"].split() and _RELEASES.intersection(entry["suites"].split()):
            for address in entry["uris"].split():
                if address.startswith(("http://", "https://", "file:/")):
                    return address, entry.get("signed-by", "").strip() or _KEYS
    raise Error(f"{system} names no mirror of Debian to fetch it from")


def _entries(system: Path) -> Iterator[Mapping[str, str]]:
    """The machine's sources, those of either form."""
    for file in sorted((system / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", _text(file)):
            lines = [line for line in stanza.splitlines() if not line.startswith("#")]
            fields = re.findall(
                r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", "\n".join(lines), re.MULTILINE
            )
            entry = {name.lower(): value for name, value in fields}
            if "deb" in entry.get("types", "").split() and {"uris", "suites"} <= entry.keys():
                # A key may stand there itself.
                if "BEGIN PGP" in entry.get("signed-by", ""):
                    del entry["signed-by"]
                yield entry
    for file in [system / "sources.list", *sorted((system / "sources.list.d").glob("*.list"))]:
        line = r"^deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)"
        for options, address, suite in re.findall(line, _text(file), re.MULTILINE):
            keys = re.search(r"signed-by=(\S+)", options)
            found = {"uris": address, "suites": suite}
            yield found if keys is None else {**found, "signed-by": keys[1]}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
