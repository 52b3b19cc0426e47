"""Writes ``_types.py``, the scenario as typed dictionaries, from the JSON Schema.

``python -m sojourn._typegen`` writes the file; a test sees to it that it is current.
"""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path
from typing import Any

from sojourn.scenario import schema

Schema = dict[str, Any]

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

_HEADER = '''"""Scenarios as typed dictionaries, so that an editor completes and checks them.

Made from the schema by ``python -m sojourn._typegen``: change that or the schema, not this file.
"""

from __future__ import annotations

from typing import Literal, Required, TypeAlias, TypedDict
'''


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []

    def define(self, name: str, schema: Schema) -> None:
        """Adds the definition of a named type."""
        if "properties" in schema:
            self.parts.append(self._table(name, schema))
        else:
            # Quoted, since definitions may come in any order.
            alias = f"{name}: TypeAlias = {json.dumps(self.type_of(schema, name))}"
            self.parts.append(alias + _docstring(schema))

    def type_of(self, schema: Schema, name: str) -> str:
        """The type of a value; ``name`` names what must be defined on the way."""
        if "$ref" in schema:
            return str(schema["$ref"].rsplit("/", 1)[-1])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        for key in ("oneOf", "anyOf"):
            if key in schema:
                # What takes anything is there for validators.
                told = [each for each in schema[key] if each]
                return _union(self.type_of(each, _name(name, each)) for each in told)
        if "properties" in schema:
            self.define(name, schema)
            return name
        kind = schema.get("type")
        if isinstance(kind, list):
            return _union(self.type_of({**schema, "type": each}, name) for each in kind)
        if kind == "array" and "prefixItems" in schema:
            items = [self.type_of(each, f"{name}Item") for each in schema["prefixItems"]]
            return f"list[{_union(items)}]"
        if kind == "array":
            return f"list[{self.type_of(schema['items'], f'{name}Item')}]"
        return "None" if kind == "null" else _PLAIN.get(str(kind), "object")

    def _table(self, name: str, schema: Schema) -> str:
        required = set(schema.get("required", ()))
        fields = {}
        for field, inner in schema["properties"].items():
            kind = self.type_of(inner, name + _camel(field))
            fields[field] = f"Required[{kind}]" if field in required else kind
        if any(keyword.iskeyword(field) for field in fields):
            # A class cannot have a field called "from".
            lines = "".join(f"        {field!r}: {kind!r},\n" for field, kind in fields.items())
            return (
                f"{name} = TypedDict(\n    {name!r},\n    {{\n{lines}    }},\n    total=False,\n)"
                + _docstring(schema)
            )
        body = "".join(
            f"    {field}: {kind}\n" + _docstring(schema["properties"][field], "    ", end="\n")
            for field, kind in fields.items()
        )
        about = _docstring(schema, "    ", end="\n\n") or '    """Fields of this table."""\n\n'
        return f"class {name}(TypedDict, total=False):\n{about}{body}"


def _union(kinds: Any) -> str:
    distinct = list(dict.fromkeys(kinds))
    # A field that is not said is left out.
    return " | ".join(kind for kind in distinct if kind != "None") or "None"


def _name(outer: str, schema: Schema) -> str:
    kind = schema.get("properties", {}).get("kind", {}).get("const")
    if kind:
        return _camel(kind) + outer
    return f"{outer}Table" if "properties" in schema else outer


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W|_", name))


def _docstring(schema: Schema, indent: str = "", end: str = "") -> str:
    """The schema's explanation, as what stands below a definition."""
    text = " ".join(str(schema.get("description", "")).split())
    if not text:
        return ""
    text = text.replace("\\", "\\\\")
    lines, line = [], f'{indent}"""'
    for word in text.split(" "):
        if len(line) + len(word) > 92:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    # A quotation mark must not run into the closing ones.
    closing = ' """' if text.endswith('"') else '"""'
    lines.append(line.rstrip() + closing)
    start = "" if indent else "\n"
    return start + "\n".join(lines) + end


def generate(schema: Schema) -> str:
    """The text of ``_types.py``."""
    writer = _Writer()
    for name, definition in schema["$defs"].items():
        writer.define(name, definition)
    writer.define("Scenario", schema)
    return _HEADER + "\n\n" + "\n\n\n".join(part.rstrip("\n") for part in writer.parts) + "\n"


def main() -> None:
    """Writes the file."""
    Path(__file__).with_name("_types.py").write_text(generate(schema()), encoding="utf-8")


if __name__ == "__main__":
    main()
