"""Scenario reference: the keys of the schema, as sections of Markdown pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodeb.inputs.keys import Keys, Schema, plain

CHOICE = re.compile(r"^The [\w ]+: a name, or a table with one key\.")

DEFAULTS = re.compile(r"\bDefaults: (those of |the |measured |)")

LINE = re.compile(r"^\{\{ nodeb list keys(?: (\S+))? \}\}$", re.MULTILINE)
"""Mark of a part; without a key, the part has the top-level keys of the file."""


@dataclass(frozen=True)
class Home:
    """Page and section in which a definition of the schema is documented."""

    page: str
    path: str

    @property
    def anchor(self) -> str:
        """Anchor of the section on its page."""
        return self.path.replace(".", "-").replace("_", "-") or "the-file"


class Reference(Keys):
    """Sections about keys on all pages."""

    def __init__(self, schema: Schema, pages: Mapping[str, str]) -> None:
        super().__init__(schema)
        self.homes: dict[str, Home] = {}
        lines = [(page, path) for page, text in pages.items() for path in LINE.findall(text)]
        self.named = {self._definition(path): Home(page, path) for page, path in lines}
        self.sections: dict[Home, list[tuple[str, Home]]] = {}
        for name, home in self.named.items():
            self.sections[home] = list(self._claim(name, home))

    def sections_of(self, page: str, path: str) -> str:
        """Returns the sections that belong to the key `path` on a page."""
        here = self.sections[Home(page, path)]
        return "\n".join(self._section(name, home, i == 0) for i, (name, home) in enumerate(here))

    def missing(self) -> list[str]:
        """Returns the definitions that have keys but are on no page."""
        return [name for name in self.defs if self._has_section(name) and name not in self.homes]

    # --- Assignment of definitions to pages ---

    def _claim(self, name: str, home: Home) -> Iterator[tuple[str, Home]]:
        """Assigns a definition, and definitions that it uses, to a page.

        Yields each with its section.
        """
        if name in self.homes:
            return
        self.homes[name] = home
        yield name, home
        for key, value in self._inside(name):
            for below in self._mentioned(value):
                path = f"{home.path}.{key}".lstrip(".")
                if below not in self.named:
                    yield from self._claim(below, Home(home.page, path))

    # --- Text of the sections ---

    def _section(self, name: str, home: Home, first: bool) -> str:
        table = self._table(name)
        head = f"`{home.path}`" if home.path else "The file"
        also = [path for path in self._paths(name) if path != home.path] if first else []
        equal = ("accept", "variants") if self._variants(name) else ("contain", "keys")
        text = [f"{'##' if first else '###'} {head} {{#{home.anchor}}}", ""]
        text += [_introduced(_words(table.get("description", "")), home.path), ""]
        if also:
            text += [_equal(also, home.path, *equal), ""]
        if first:
            text += [_command(home.path), ""]
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
        for key, value in self._inside(table):
            for below in dict.fromkeys(self._mentioned(value)):
                here = f"{path}.{key}".lstrip(".")
                if below == name:
                    yield here
                yield from self._paths(name, below, here)

    def _linked(self, kind: str, name: str, here: object) -> str:
        assert isinstance(here, Home)
        return f"[{kind}]({self._link(name, here)})"

    def _words(self, text: str) -> str:
        return _words(text)

    def _link(self, name: str, here: Home) -> str:
        home = self.homes[name]
        page = posixpath.relpath(home.page, posixpath.dirname(here.page))
        return f"{'' if home.page == here.page else page}#{home.anchor}"


def _introduced(description: str, path: str) -> str:
    """Returns the description of a key as the introduction of its section."""
    if CHOICE.match(description):
        first = f"`{path}` is a variant's name, or a table with this name as its only key."
        return CHOICE.sub(first, description)
    description = DEFAULTS.sub(lambda found: _source(path, found[1]), description)
    description = description.replace("The defaults are ", f"The defaults of `{path}` are ")
    return description.replace(": its parameters.", ".")


def _source(path: str, begin: str) -> str:
    verb = {"measured ": "were measured ", "the ": "are the "}.get(begin, "are those of ")
    return f"The defaults of `{path}` {verb}"


def _command(path: str) -> str:
    """Returns the sentence that names the command which prints the keys of a page's part."""
    if not path:
        return "`nodeb list keys` prints the top-level keys, and the names of all sections."
    return f"`nodeb list keys {path}` prints the keys of `{path}`."


def _equal(also: list[str], path: str, verb: str, what: str) -> str:
    *first, last = [f"`{one}`" for one in also]
    if not first:
        return f"{last} {verb}s the same {what} as `{path}`."
    return f"{', '.join(first)} and {last} {verb} the same {what} as `{path}`."


def _words(text: str) -> str:
    return plain(text).replace("|", "\\|")
