"""Writes the Python types of a scenario from its JSON Schema.

    python tools/generate_types.py python/nodeb/scenario_types.py           writes the file
    python tools/generate_types.py --check python/nodeb/scenario_types.py   exits 1 if it is stale

The schema comes from the core (`nodeb._core.schema()`), which derives it from the doc comments,
defaults and limits of its Rust structures. A table becomes a class, a registered variant becomes a
class with a `tag`, a quantity becomes an alias.
"""

from __future__ import annotations

import argparse
import difflib
import json
import keyword
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

ROOT = "ScenarioFields"
HEADER = '''"""The types of a scenario. Generated from its JSON Schema by `make types`; do not edit.

Every class is a table of the scenario file, every field a key. A quantity is a string with its
unit, such as "110 ms". A component that comes in variants (radio, scheduler, traffic, ...) is
given as an object of the variant's class, or by its name alone when its defaults will do.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from nodeb.inputs.parts import Part, field

'''
DEPENDENT = "x-dependent"
"""Keyword of keys that are left out by default, as their absence has a meaning of its own."""
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


@dataclass
class Table:
    """Table of the scenario file, from which a class is generated."""

    name: str
    schema: Schema
    description: str
    tag: str | None = None


@dataclass
class Model:
    """Definitions of the schema, sorted by the Python construct into which they are turned."""

    tables: dict[str, Table] = field(default_factory=dict)
    variants: dict[str, dict[str, str]] = field(default_factory=dict)
    """Class names by tag, for each union."""
    union_docs: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, Schema] = field(default_factory=dict)


def ref_name(schema: Schema) -> str | None:
    """Returns the name of the definition to which a schema refers, or None."""
    ref = schema.get("$ref")
    return ref.rsplit("/", 1)[-1] if isinstance(ref, str) else None


def without_suffix(schema: Any) -> Any:
    """Returns the schema with the suffix `Spec` removed from names such as `SchedulerSpec`."""
    text = json.dumps(schema)
    for name in schema.get("$defs", {}):
        short = name.removesuffix("Spec")
        if short not in schema["$defs"]:
            text = text.replace(f'"#/$defs/{name}"', f'"#/$defs/{short}"')
            text = text.replace(f'"{name}": {{', f'"{short}": {{')
    return json.loads(text)


def variant_branches(schema: Schema) -> list[Schema]:
    """Returns the variants of a definition, which are tables with one key.

    The list is empty if it has none.
    """
    branches: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    return [b for b in branches if b.get("type") == "object" and len(b.get("required", ())) == 1]


def camel(key: str) -> str:
    """Returns a key in camel case, such as `HsDsch` for `hs_dsch`."""
    return "".join(word.capitalize() for word in key.split("_"))


def build_model(schema: Schema) -> Model:
    """Returns the definitions of a schema, sorted into tables, variants and aliases."""
    model = Model()
    defs: dict[str, Schema] = schema.get("$defs", {})
    as_variant = Counter(
        ref_name(body)
        for definition in defs.values()
        for branch in variant_branches(definition)
        for body in branch["properties"].values()
    )
    for name, definition in defs.items():
        if branches := variant_branches(definition):
            model.union_docs[name] = definition.get("description", "")
            model.variants[name] = dict(add_variants(model, defs, as_variant, branches))
        elif definition.get("type") != "object":
            model.aliases[name] = definition
        elif name not in as_variant:
            model.tables[name] = Table(name, definition, definition.get("description", ""))
    model.tables[ROOT] = Table(ROOT, schema, schema.get("description", ""))
    return model


def add_variants(
    model: Model, defs: dict[str, Schema], uses: Counter[str | None], branches: list[Schema]
) -> Iterator[tuple[str, str]]:
    """Adds the class of every variant of one union; yields (tag, class name).

    A class is named after the variant's parameters or, if several variants share these, after its
    tag. Variants of two unions with equal parameters and tag share one class.
    """
    for branch in branches:
        ((tag, body),) = branch["properties"].items()
        target = ref_name(body)
        parameters = defs[target] if target else body
        name = target if target and uses[target] == 1 else camel(tag)
        known = model.tables.get(name)
        if known and (known.schema, known.tag) == (parameters, tag):
            yield tag, name
            continue
        if known or keyword.iskeyword(name):
            raise SystemExit(f"error: two variants, or a variant and a keyword, are called {name}")
        text = branch.get("description") or parameters.get("description", "")
        model.tables[name] = Table(name, parameters, text, tag)
        yield tag, name


class Writer:
    """Writer of the Python source for a model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def module(self) -> str:
        """Returns the source of the whole file, which is still to be formatted."""
        names = [*self.model.tables, *self.model.variants, *self.model.aliases]
        names.sort()
        parts = [f"{HEADER}__all__ = {names!r}\n"]
        parts += [self.alias(name, schema) for name, schema in self.model.aliases.items()]
        parts += [self.table(table) for table in self.model.tables.values()]
        parts += [self.union(name) for name in self.model.variants]
        return "\n\n".join(parts)

    def alias(self, name: str, schema: Schema) -> str:
        """Returns the source of an alias for a quantity or an enumeration."""
        choices = [
            f"`{branch['const']}`: {branch.get('description', '')}"
            for branch in schema.get("oneOf", [])
            if "const" in branch
        ]
        text = "\n\n".join([schema.get("description", ""), *choices])
        return f"{name}: TypeAlias = {self.type_of(schema)}\n{doc(text)}"

    def union(self, name: str) -> str:
        """Returns the source of a union of variants.

        A value may be an object or, without required keys, a name.
        """
        variants = self.model.variants[name]
        tables = self.model.tables
        by_name = [repr(t) for t, cls in variants.items() if not tables[cls].schema.get("required")]
        literal = [f"Literal[{', '.join(by_name)}]"] if by_name else []
        options = " | ".join([*variants.values(), *literal])
        return f"{name}: TypeAlias = {options}\n{doc(self.model.union_docs[name])}"

    def table(self, table: Table) -> str:
        """Returns the source of the class for a table."""
        lines = [f"class {table.name}(Part):"]
        lines.append(indent(doc(table.description or f"`{table.tag or table.name}`.")))
        if table.tag is not None:
            lines.append(f"    tag: ClassVar[str | None] = {table.tag!r}")
        for key, schema in table.schema.get("properties", {}).items():
            lines += ["", self.field(table, key, schema)]
        return "\n".join(lines)

    def field(self, table: Table, key: str, schema: Schema) -> str:
        """Returns the source of a field: its type, default and docstring."""
        annotation = self.type_of(schema)
        required = key in table.schema.get("required", ())
        if required:
            default = ""
        elif schema.get("default") is None or schema.get(DEPENDENT):
            default = " = None"
            if "None" not in annotation.split(" | "):
                annotation += " | None"
        else:
            value = self.default(schema, schema["default"])
            plain = isinstance(schema["default"], str | int | float | bool) and "(" not in value
            default = f" = {value}" if plain else f" = {self.factory(value)}"
        return indent(f"{key}: {annotation}{default}\n{doc(describe(schema))}")

    @staticmethod
    def factory(value: str) -> str:
        """Returns the source of a default that is created anew for each object."""
        if value == "[]":
            return "field(default_factory=list)"
        return (
            # A lambda is used, because the class may be defined later in the file.
            f"field(default_factory=lambda: {value})"
        )

    def default(self, schema: Schema, value: Any) -> str:
        """Returns the source of the Python expression for a default value."""
        if isinstance(value, list):
            return "[" + ", ".join(self.default(schema.get("items", {}), v) for v in value) + "]"
        target = self.target(schema)
        if not isinstance(value, dict) or target is None:
            return repr(value)
        if target in self.model.variants:
            ((tag, parameters),) = value.items()
            return self.construct(self.model.variants[target][tag], parameters)
        return self.construct(target, value)

    def construct(self, name: str, value: dict[str, Any]) -> str:
        """Returns the source of a constructor call.

        Only arguments that differ from the class's defaults are written.
        """
        properties = self.model.tables[name].schema.get("properties", {})
        arguments = [
            f"{key}={self.default(properties[key], item)}"
            for key, item in value.items()
            if item is not None and item != properties[key].get("default")
        ]
        return f"{name}({', '.join(arguments)})"

    def target(self, schema: Schema) -> str | None:
        """Returns the definition to which a schema or one of its branches refers, or None."""
        if name := ref_name(schema):
            return name
        for branch in schema.get("allOf") or schema.get("anyOf") or []:
            if name := ref_name(branch):
                return name
        return None

    def type_of(self, schema: Schema) -> str:
        """Returns the Python type that corresponds to a schema."""
        if name := ref_name(schema):
            return name
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(repr(v) for v in schema['enum'])}]"
        for key in ("anyOf", "oneOf", "allOf"):
            if all("const" in branch for branch in schema.get(key, [{}])):
                values = [repr(branch["const"]) for branch in schema[key]]
                return f"Literal[{', '.join(values)}]"
            if key in schema:
                return " | ".join(dict.fromkeys(self.type_of(branch) for branch in schema[key]))
        kinds = schema.get("type", "object")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return " | ".join(self.scalar(kind, schema) for kind in kinds)

    def scalar(self, kind: str, schema: Schema) -> str:
        """Returns the Python type that corresponds to a JSON type."""
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', {}))}]"
        return SCALARS.get(kind, "dict[str, object]")


def describe(schema: Schema) -> str:
    """Returns the description of a field, followed by the limits of its values."""
    text = str(schema.get("description", "")).strip()
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        return f"{text}\n\nGreater than {schema['exclusiveMinimum']}."
    if low is not None and high is not None and high < 2**31:
        return f"{text}\n\nFrom {low} to {high}."
    if low:
        return f"{text}\n\nAt least {low}."
    return text


def doc(text: str) -> str:
    """Returns a text as a wrapped docstring, or "" if the text is empty."""
    if not text:
        return ""
    paragraphs = [" ".join(p.split()) for p in text.strip().split("\n\n")]
    wrapped = [textwrap.fill(p, 92, break_long_words=False) for p in paragraphs]
    body = "\n\n".join(wrapped).replace("\\", "\\\\")
    if body.endswith('"'):
        body += " "
    return f'"""{body}"""' if "\n" not in body else f'"""{body}\n"""'


def indent(text: str) -> str:
    """Returns a text with its lines indented by one level. Blank lines stay empty."""
    return textwrap.indent(text, "    ", lambda line: bool(line.strip()))


def generate(schema: Schema) -> str:
    """Returns the formatted Python source of the types of a schema."""
    source = Writer(build_model(without_suffix(schema))).module()
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "scenario_types.py", "-"]
    done = subprocess.run(ruff, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: the generated types are not Python: {done.stderr}")
    return done.stdout


def main() -> int:
    """Writes or checks the file that the command line names.

    Returns 1 if a checked file is out of date.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, help="where the types go")
    parser.add_argument("--check", action="store_true", help="only say whether FILE is current")
    parser.add_argument("--schema", type=Path, help="read the schema from here, not from the core")
    options = parser.parse_args()
    if options.schema:
        schema = json.loads(options.schema.read_text(encoding="utf-8"))
    else:
        from nodeb import _core

        schema = json.loads(_core.schema())
    new = generate(schema)
    old = options.file.read_text(encoding="utf-8") if options.file.exists() else ""
    if not options.check:
        options.file.write_text(new, encoding="utf-8")
        return 0
    if old == new:
        return 0
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), "now", "generated", n=1)
    sys.stderr.write("\n".join(diff) + f"\nerror: {options.file} is stale; run `make types`\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
