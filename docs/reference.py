"""The scenario reference: what the schema says about keys, as sections of Markdown pages.

A page of `docs/scenario` has its own words and examples, and lines `{{ keys: wired }}` where the
keys below one, and all that belongs to them, are to stand. What several keys share stands where a
line names it, and once; elsewhere it is a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

LINE = re.compile(r"^\{\{ keys: ?(\S*) \}\}$", re.MULTILINE)
"""Where keys are to stand; nothing after the colon means those of the file itself."""
QUANTITIES = {"Duration": "time", "Rate": "bit rate"}
"""What quantities are called, where not as in the schema."""
TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false"}
UNITS = {"_dbm": "dBm", "_db": "dB", "_mhz": "MHz", "_hz": "Hz", "_deg": "°", "_m": "m"}
"""Units of plain numbers, by the end of their key."""


@dataclass(frozen=True)
class Home:
    """Where a definition of the schema is written."""

    page: str
    path: str
    """Dotted key by which it is called there."""

    @property
    def anchor(self) -> str:
        """The end of a link to it."""
        return self.path.replace(".", "-").replace("_", "-") or "the-file"


class Reference:
    """Writes the sections of all pages.

    Args:
        schema: JSON Schema of a scenario.
        pages: text of each page by its file name.

    Raises:
        ValueError: a line names no key.
    """

    def __init__(self, schema: Schema, pages: Mapping[str, str]) -> None:
        self.root, self.defs = schema, schema["$defs"]
        self.homes: dict[str, Home] = {}
        lines = [(page, path) for page, text in pages.items() for path in LINE.findall(text)]
        self.named = {self._definition(path): Home(page, path) for page, path in lines}
        self.sections: dict[Home, list[tuple[str, Home]]] = {}
        for name, home in self.named.items():
            self.sections[home] = list(self._claim(name, home))

    def expand(self, page: str, text: str) -> str:
        """A page with its keys."""

        def sections(found: re.Match[str]) -> str:
            here = self.sections[Home(page, found[1])]
            parts = [self._section(name, home, i == 0) for i, (name, home) in enumerate(here)]
            return "\n".join(parts)

        return LINE.sub(sections, text)

    def missing(self) -> list[str]:
        """Definitions with keys that stand on no page."""
        return [name for name in self.defs if self._has_section(name) and name not in self.homes]

    # --- which definition is where ---

    def _definition(self, path: str) -> str:
        """Name of the definition that a dotted key leads to; empty for the file itself."""
        name = ""
        for key in path.split(".") if path else ():
            found = dict(self._inside(name)).get(key)
            names = [] if found is None else list(self._mentioned(found))
            if not names:
                raise ValueError(f"{path}: the schema has no section for `{key}`")
            name = names[0]
        return name

    def _table(self, name: str) -> Schema:
        return self.defs[name] if name else self.root

    def _claim(self, name: str, home: Home) -> Iterator[tuple[str, Home]]:
        """Takes a definition, and what it leads to, for a page."""
        if name in self.homes:
            return
        self.homes[name] = home
        yield name, home
        for key, value in self._inside(name):
            for below in self._mentioned(value):
                path = f"{home.path}.{key}".lstrip(".")
                if below not in self.named:
                    yield from self._claim(below, Home(home.page, path))

    def _inside(self, name: str) -> list[tuple[str, Schema]]:
        """What is one key below a definition: its keys, or its alternatives."""
        return list((self._variants(name) or self._table(name).get("properties", {})).items())

    def _mentioned(self, schema: Schema) -> Iterator[str]:
        """The definitions with a section that a value leads to by itself."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            if self._has_section(name):
                yield name
        for part in [*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("items")]:
            if part:
                yield from self._mentioned(part)

    def _has_section(self, name: str) -> bool:
        return bool(self.defs[name].get("properties") or self._variants(name))

    def _branches(self, name: str) -> list[Schema]:
        """The one-key tables among what a definition can be."""
        options = self._table(name).get("anyOf") or self._table(name).get("oneOf") or []
        return [one for one in options if len(one.get("properties", ())) == 1]

    def _variants(self, name: str) -> dict[str, Schema]:
        """Parameters of each alternative by its name."""
        return {k: v for one in self._branches(name) for k, v in one["properties"].items()}

    # --- how it is written ---

    def _section(self, name: str, home: Home, first: bool) -> str:
        table = self._table(name)
        head = f"`{home.path}`" if home.path else "The file"
        also = [path for path in self._paths(name) if path != home.path] if first else []
        text = [f"{'##' if first else '###'} {head} {{#{home.anchor}}}", ""]
        text += [_words(table.get("description", "")), ""]
        if also:
            text += [f"The same holds for {', '.join(f'`{path}`' for path in also)}.", ""]
        if self._variants(name):
            text += ["| name | what it is | its keys |", "|---|---|---|"]
            text += [self._choice(branch, home) for branch in self._branches(name)]
        else:
            text += ["| key | type | default | unit | meaning |", "|---|---|---|---|---|"]
            required = table.get("required", ())
            for key, value in table["properties"].items():
                text.append(self._row(key, value, key in required, home))
        return "\n".join([*text, ""])

    def _choice(self, branch: Schema, here: Home) -> str:
        ((tag, parameters),) = branch["properties"].items()
        below = next(self._mentioned(parameters), None)
        keys = "" if below is None else f"[`{here.path}.{tag}`]({self._link(below, here)})"
        return f"| `{tag}` | {_words(branch.get('description', ''))} | {keys} |"

    def _row(self, key: str, value: Schema, required: bool, here: Home) -> str:
        default = "**needed**" if required else self._default(value)
        meaning = " ".join([_words(value.get("description", "")), *self._names(value)])
        cells = [f"`{key}`", self._type(value, here), default, self._unit(key, value), meaning]
        return f"| {' | '.join(cells)} |"

    def _paths(self, name: str, table: str = "", path: str = "") -> Iterator[str]:
        """Dotted keys that lead to a definition."""
        for key, value in self._inside(table):
            for below in dict.fromkeys(self._mentioned(value)):
                here = f"{path}.{key}".lstrip(".")
                if below == name:
                    yield here
                yield from self._paths(name, below, here)

    def _link(self, name: str, here: Home) -> str:
        home = self.homes[name]
        return f"{'' if home.page == here.page else home.page}#{home.anchor}"

    def _type(self, value: Schema, here: Home) -> str:
        """What a value is in TOML."""
        if "$ref" in value:
            return self._type_of_reference(value["$ref"].rsplit("/", 1)[-1], here)
        for word in ("anyOf", "oneOf"):
            if word in value:
                kinds = [self._type(one, here) for one in value[word] if one.get("type") != "null"]
                return " or ".join(dict.fromkeys(kinds))
        kinds = value.get("type", "object")
        kinds = [one for one in ([kinds] if isinstance(kinds, str) else kinds) if one != "null"]
        if kinds == ["array"]:
            return f"list of {_several(self._type(value.get('items', {}), here))}"
        if kinds == ["object"]:
            return "table"
        return " or ".join(TYPES.get(one, one) for one in kinds) + _limits(value)

    def _type_of_reference(self, name: str, here: Home) -> str:
        target = self.defs[name]
        if self._has_section(name):
            return f"[{'choice' if self._variants(name) else 'table'}]({self._link(name, here)})"
        if "pattern" in target:
            return QUANTITIES.get(name, name.lower())
        if options := _constants(target):
            return " or ".join(f'`"{one["const"]}"`' for one in options)
        return "empty table" if target.get("type") == "object" else self._type(target, here)

    def _unit(self, key: str, value: Schema) -> str:
        """Units that a quantity is given in, or that a number is in."""
        target = self._scalar(value)
        if "pattern" in target:
            return target["pattern"].rpartition("(")[2].rstrip(")$").replace("|", ", ")
        if target.get("type") in ("string", "boolean", "object"):
            return ""
        return next((unit for end, unit in UNITS.items() if key.endswith(end)), "")

    def _scalar(self, value: Schema) -> Schema:
        """What a value is when it is no table: an item of a list, a quantity, a number."""
        for part in [*value.get("anyOf", ()), value.get("items")]:
            if part and part.get("type") != "null":
                return self._scalar(part)
        return self.defs[value["$ref"].rsplit("/", 1)[-1]] if "$ref" in value else value

    def _names(self, value: Schema) -> list[str]:
        """What the names among which to choose mean."""
        found = _constants(self._scalar(value))
        told = [one for one in found if "description" in one]
        return [f'`"{one["const"]}"`: {_words(one["description"])}' for one in told]

    def _default(self, value: Schema) -> str:
        if value.get("default") is None:
            return ""
        shortest = self._shortest(value, value["default"])
        return "that of its keys" if shortest == {} else f"`{as_toml(shortest)}`"

    def _shortest(self, schema: Schema, value: Any) -> Any:
        """A value without what is the default of its own keys; a variant may be its name alone."""
        name = next(self._mentioned(schema), None)
        if not isinstance(value, dict) or name is None:
            return value
        if variants := self._variants(name):
            ((tag, parameters),) = value.items()
            return {tag: rest} if (rest := self._shortest(variants[tag], parameters)) else tag
        keys = self.defs[name]["properties"]
        return {
            key: self._shortest(keys[key], one)
            for key, one in value.items()
            if one is not None and one != keys[key].get("default")
        }


def as_toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {as_toml(one)}' for key, one in value.items())} }}"
    return repr(value)


def _constants(schema: Schema) -> list[Schema]:
    """The names among which a value is one."""
    return [one for one in schema.get("oneOf", schema.get("anyOf", ())) if "const" in one]


def _several(kind: str) -> str:
    """A type in the plural."""
    return re.sub(r"^(\[?)(whole number|[a-z]+( rate)?)", r"\1\2s", kind)


def _limits(value: Schema) -> str:
    """The range of a number, after a comma."""
    least, most = value.get("minimum"), value.get("maximum")
    if "exclusiveMinimum" in value:
        return f", above {value['exclusiveMinimum']:g}"
    if least is not None and most is not None and most < 2**31:
        return f", {least:g} to {most:g}"
    return f", at least {least:g}" if least else ""


def _words(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
