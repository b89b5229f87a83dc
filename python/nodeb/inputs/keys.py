"""The keys of a scenario according to its JSON Schema: type, default, unit, meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodeb.base.command_line import command_line
from nodeb.errors import InputError, nearest

Schema = dict[str, Any]
QUANTITIES = {"Duration": "time", "Rate": "bit rate"}
"""Name in the schema -> name for users, where it is not just the same in lower case."""
NEEDED = "needed"
"""Stands for the default of a required key."""
TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false"}
UNITS = {
    "_dbm": "dBm",
    "_db": "dB",
    "_ghz": "GHz",
    "_mhz": "MHz",
    "_hz": "Hz",
    "_deg": "°",
    "_m": "m",
}
"""Units of plain numbers, by the suffix of their key."""


class Keys:
    def __init__(self, schema: Schema) -> None:
        self.root, self.defs = schema, schema["$defs"]

    def paths(self) -> list[str]:
        """Returns the shortest dotted key of each section of a scenario, in alphabetical order.

        A section is a table with keys or a choice between variants. The whole file is left out.
        """
        paths = {"": ""}
        for name in (queue := [""]):  # The loop appends sections to `queue` while it runs over it.
            for key, value in self._inside(name):
                for below in self._mentioned(value):
                    if below not in paths:
                        paths[below] = f"{paths[name]}.{key}".lstrip(".")
                        queue.append(below)
        return sorted(path for path in paths.values() if path)

    def rows(self, path: str) -> list[list[str]]:
        """Returns key, type, default, unit and meaning of each key of a section, all as texts.

        The default of a required key is `needed`. If the section is a choice, each row is a
        variant, without default and unit. The path of the file itself is empty.
        """
        name = self._definition(path)
        if self._variants(name):
            branches = [(one, *one["properties"].items()) for one in self._branches(name)]
            return [
                [key, self._type(value, None), "", "", plain(branch.get("description", ""))]
                for branch, (key, value) in branches
            ]
        table = self._table(name)
        return [
            [
                key,
                self._type(value, None),
                NEEDED if key in table.get("required", ()) else self._default(value).strip("`"),
                self._unit(key, value),
                " ".join([plain(value.get("description", "")), *self._names(value)]),
            ]
            for key, value in table["properties"].items()
        ]

    def row(self, path: str) -> list[str]:
        section, _, key = path.rpartition(".")
        rows = {row[0]: row for row in self.rows(section)}
        if key not in rows:
            raise InputError(
                f"{path}: there is no key `{key}`{nearest(key, rows)}; {listing(section)}"
            )
        return rows[key]

    def places(self) -> list[str]:
        """Returns all keys of a scenario by the shortest dotted key; those of users by group 0."""
        sections = ["", *self.paths()]
        keys = [f"{path}.{row[0]}".lstrip(".") for path in sections for row in self.rows(path)]
        return [re.sub(r"^users\.", "users.0.", key) for key in keys]

    def names(self, path: str) -> list[str]:
        """Returns the names from which the value of a dotted key is chosen, if it is."""
        section, _, key = path.rpartition(".")
        value = self._table(self._definition(section)).get("properties", {}).get(key)
        if value is None:
            return []
        constants = [one["const"] for one in _constants(self._scalar(value))]
        variants = (self._variants(name) for name in self._mentioned(value))
        return list(dict.fromkeys([*constants, *(tag for tags in variants for tag in tags)]))

    def _definition(self, path: str) -> str:
        """Returns the name of the definition at a dotted key; empty for the file itself."""
        name = ""
        for key in path.split(".") if path else ():
            if key.isdecimal():  # A group of users, or another entry of a list.
                continue
            inside = {one: list(self._mentioned(value)) for one, value in self._inside(name)}
            names = inside.get(key, [])
            if not names:
                near = nearest(key, [one for one in inside if inside[one]])
                below = [one for one in self.paths() if one.rpartition(".")[2] == key]
                near = f"; did you mean `{below[0]}`?" if below else near
                raise InputError(f"{path}: there is no section for `{key}`{near}")
            name = names[0]
        return name

    def _table(self, name: str) -> Schema:
        return self.defs[name] if name else self.root

    def _inside(self, name: str) -> list[tuple[str, Schema]]:
        """The keys or variants of a section, each with its schema."""
        return list((self._variants(name) or self._table(name).get("properties", {})).items())

    def _mentioned(self, schema: Schema) -> Iterator[str]:
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
        """Alternatives that are tables with one key."""
        options = self._table(name).get("anyOf") or self._table(name).get("oneOf") or []
        return [one for one in options if len(one.get("properties", ())) == 1]

    def _variants(self, name: str) -> dict[str, Schema]:
        return {k: v for one in self._branches(name) for k, v in one["properties"].items()}

    def _linked(self, kind: str, name: str, here: object) -> str:
        """The name of a type that has keys of its own; a link in the documentation."""
        return kind

    def _words(self, text: str) -> str:
        return plain(text)

    def _type(self, value: Schema, here: object) -> str:
        """The type of a value in words, such as `whole number, 1 to 64`."""
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

    def _type_of_reference(self, name: str, here: object) -> str:
        target = self.defs[name]
        if self._has_section(name):
            return self._linked("choice" if self._variants(name) else "table", name, here)
        if "pattern" in target:
            return QUANTITIES.get(name, name.lower())
        if options := _constants(target):
            return " or ".join(f'`"{one["const"]}"`' for one in options)
        return "empty table" if target.get("type") == "object" else self._type(target, here)

    def _unit(self, key: str, value: Schema) -> str:
        """The units that a quantity accepts, or the unit of a plain number."""
        target = self._scalar(value)
        if "pattern" in target:
            units = str(target["pattern"]).rpartition("(")[2]
            return units.rstrip(")$").replace("|", ", ")
        if target.get("type") in ("string", "boolean", "object"):
            return ""
        return next((unit for end, unit in UNITS.items() if key.endswith(end)), "")

    def _scalar(self, value: Schema) -> Schema:
        """The schema of a value; of a list, that of its items."""
        for part in [*value.get("anyOf", ()), value.get("items")]:
            if part and part.get("type") != "null":
                return self._scalar(part)
        return self.defs[value["$ref"].rsplit("/", 1)[-1]] if "$ref" in value else value

    def _names(self, value: Schema) -> list[str]:
        """The names from which a text is chosen, each with its meaning."""
        return [
            f'`"{name["const"]}"`: {self._words(name["description"])}'
            for name in _constants(self._scalar(value))
            if "description" in name
        ]

    def _default(self, value: Schema) -> str:
        if value.get("default") is None:
            return ""
        shortest = self._shortest(value, value["default"])
        return "that of its keys" if shortest == {} else f"`{toml_value(shortest)}`"

    def _shortest(self, schema: Schema, value: Any) -> Any:
        """Removes keys that have their default values from a table.

        A variant, a table with one key, is shortened to this key if its parameters are defaults.
        """
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


def listing(section: str) -> str:
    """Names the command that lists the keys of a section, or those of the whole file."""
    command = command_line("list keys", *([section] if section else []))
    return f"all keys{f' of {section}' if section else ''}: `{command}`"


def toml_value(value: Any) -> str:
    """A value or a part of a scenario as inline TOML."""
    if hasattr(value, "to_dict"):  # A part; its module imports NumPy, which is slow.
        return toml_value(value.to_dict())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return str(value)


def _constants(schema: Schema) -> list[Schema]:
    return [one for one in schema.get("oneOf") or schema.get("anyOf") or [] if "const" in one]


def _several(kind: str) -> str:
    return re.sub(r"^(\[?)(whole number|[a-z]+( rate)?)", r"\1\2s", kind)


def _limits(value: Schema) -> str:
    """The range of a number, as `, 1 to 64`; a maximum of 2^31 or more is left out."""
    low, high = value.get("minimum"), value.get("maximum")
    if "exclusiveMinimum" in value:
        return f", above {value['exclusiveMinimum']:g}"
    if low is not None and high is not None and high < 2**31:
        return f", {low:g} to {high:g}"
    return f", at least {low:g}" if low else ""


def plain(text: str) -> str:
    return " ".join(text.split())
