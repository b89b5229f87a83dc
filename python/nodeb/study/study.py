"""A study: the tables, figures and statements of a paper, and how to measure them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from nodeb.base.streams import printable
from nodeb.errors import InputError, nearest
from nodeb.inputs.scenario import Scenario, load
from nodeb.study.axis import anchor, label_of
from nodeb.study.campaign import Stage
from nodeb.study.case import Effort, Quick, ScenarioFunction, check_warm_up
from nodeb.study.claims import Check, Claim
from nodeb.study.items import Figure, Rows, Table
from nodeb.study.quantity import Fact

__all__ = ["Study"]

USUAL, SHORT = Effort(), Quick()
Item = TypeVar("Item", Table, Figure)
TEXTS: dict[str, Any] = {
    "question": "",
    "summary": [],
    "limits": [],
    "assumptions": [],
    "notes": {},
    "said": {},
}
"""Keys of the file of texts, with their defaults."""


class Study:
    """The tables, figures and statements of a paper, and how to measure them.

    Args:
        file: the study's own file, `__file__`. Its stem is the study's name and the prefix of
            optional files in the same folder, such as texts in `NAME.toml`.
        title: subject of the study.
        reference: citation of the paper.
        effort: number of replications of cases that do not set their own.
        quick: the short version.
        warm_up_s: initial part of each replication that is not measured, s.
        minutes: approximate duration on two processors in minutes, by version (`quick` and `full`).
    """

    def __init__(
        self,
        file: str,
        *,
        title: str,
        reference: str = "",
        effort: Effort = USUAL,
        quick: Quick = SHORT,
        warm_up_s: float = 0.0,
        minutes: Mapping[str, float] | None = None,
    ) -> None:
        self.file = Path(file)
        self.name = printable(self.file.stem)
        self.title, self.reference = title, reference
        self.effort, self.quick, self.minutes = effort, quick, minutes or {}
        self.warm_up = warm_up_s
        check_warm_up(warm_up_s)
        self.tables: dict[str, Table] = {}
        self.figures: dict[str, Figure] = {}
        self.claims: list[Claim] = []
        self.stages: list[Stage] = []
        self.headline: tuple[str, str, list[str]] | None = None
        """Title, table and columns of the summary that the terminal shows at the end."""
        self.scenario_text = ""
        """Text of the scenario file that the page shows."""
        self.texts = _texts(self.file.with_suffix(".toml"))

    def load(self, name: str) -> Scenario:
        """Reads a scenario file from the study's folder. The page shows its text."""
        path = self.file.with_name(name)
        self.scenario_text = path.read_text(encoding="utf-8")
        return load(path)

    def files(self) -> list[Path]:
        """Returns the files that belong to the study, sorted by name.

        Their names begin with the study's name, alone or followed by `_`.
        """
        stem = self.file.stem
        return sorted(
            one
            for one in self.file.parent.iterdir()
            if one.is_file() and (one.stem == stem or one.stem.startswith(f"{stem}_"))
        )

    def scenario(
        self,
        function: Callable[..., Scenario] | None = None,
        *,
        effort: Effort | Callable[..., Effort] | None = None,
        reduce: Callable[..., Mapping[str, Any]] | None = None,
        endless: bool = False,
    ) -> Any:
        """Turns a function that returns a scenario into one that returns a case.

            @study.scenario
            def download(size, bler): ...

        Args:
            function: scenario function; it receives the values of the points that the case is
                called with.
            effort: number of replications; may be a function with some of the same arguments.
            reduce: computes numbers from the tables of one replication, which are stored instead of
                the series that the scenario records (`nodeb.replication.reduction.Reduction`).
            endless: true if downloads are not meant to complete: precision then refers to the bytes
                delivered.
        """

        def cases(of: Callable[..., Scenario]) -> ScenarioFunction:
            return ScenarioFunction(of, effort, reduce, endless)

        return cases if function is None else cases(function)

    def table(self, name: str, title: str, rows: Rows, printed: str = "", **how: Any) -> Table:
        """Adds a table.

        Args:
            name: number of the table in the paper, such as "Table 12".
            title: content of the table.
            rows: quantities by row and column.
            printed: the paper's values as text, one line for each row; `-` for a missing value.
            how: `unit`, None for the unit of the first cell; `digits`, the number of decimals
                shown; `runs`, the number of replications that a printed value is the mean of, if
                the paper states it; `near` or `near_percent`, the deviation from the printed value
                up to which a cell is near it; a `note`.
        """
        how = {"note": self.texts["notes"].get(name, "")} | how
        return self._add(self.tables, Table(name, title, rows, printed, **how))

    def figure(self, name: str, title: str, curves: Rows, y_label: str, **how: Any) -> Figure:
        """Adds a figure.

        Args:
            name: number of the figure in the paper, such as "Figure 8".
            title: content of the figure.
            curves: quantities by curve and x value.
            y_label: name and unit of the quantity.
            how: `x_label`, None for the label of the x values' axis; `unit` and `digits` as for a
                table; `printed`, values that the paper states, by curve and x value; `marks`
                (`Mark`); `said`, what the paper's text states about the figure; a `note`; `bars`,
                true for bars instead of lines; `from_zero`, true if the y axis begins at 0;
                `panels`, true for one panel per combination of the first two parts of the curves'
                keys, in which the points of an x value are next to each other; `extra`, true if the
                figure repeats a table and is not an item of its own.
        """
        texts = {
            "note": self.texts["notes"].get(name, ""),
            "said": self.texts["said"].get(name, ""),
        }
        return self._add(self.figures, Figure(name, title, curves, y_label, **texts | how))

    def _add(self, items: dict[str, Item], item: Item) -> Item:
        if not anchor(item.id):
            raise InputError(f'`{item.id}` is no name of a table or figure; expected "Table 1"')
        for other in [*self.tables, *self.figures]:
            if anchor(other) == anchor(item.id):
                also = (
                    "" if other == item.id else f", `{other}`: their files would have the same name"
                )
                raise InputError(f"{self.name} has two items `{item.id}`{also}")
        items[item.id] = item
        return item

    def claim(
        self,
        section: str,
        *items: str,
        name: str | None = None,
        text: str | None = None,
        cause: str = "",
    ) -> Callable[[Callable[[], Iterable[Check]]], Callable[[], Iterable[Check]]]:
        """Turns a generator of checks into a claim. Its docstring is the statement.

        Args:
            section: section of the paper.
            items: tables and figures that the claim is about. The claim is judged if all of them
                are measured. A claim without items is judged only with the complete study.
            name: name of the claim; None for the function's name.
            text: the statement; None for the docstring.
            cause: why a measurement contradicts the statement, if that is known; shown if it does.
        """
        if not all(isinstance(one, str) for one in (section, *items)):
            raise InputError('write a claim as `@study.claim("IV.B", "Table 12")` above a function')

        def add(checks: Callable[[], Iterable[Check]]) -> Callable[[], Iterable[Check]]:
            identity = name or checks.__name__.replace("_", "-")
            said = checks.__doc__ if text is None else text
            if not said:
                raise InputError(f"claim `{identity}` has no statement; write it as the docstring")
            if any(one.id == identity for one in self.claims):
                raise InputError(f"{self.name} has two claims `{identity}`")
            statement = " ".join(said.split())
            self.claims.append(Claim(identity, section, statement, items, checks, cause))
            return checks

        return add

    def fact(self, name: str, unit: str = "") -> Fact:
        """Returns a result of a stage by its name, for use in claims and table cells."""
        return Fact(name, unit)

    def stage(
        self,
        function: Callable[..., Any] | None = None,
        *,
        first: bool = False,
        leaves: Sequence[str] = (),
        keeps: Sequence[str] = (),
    ) -> Any:
        """Turns a function into a stage: work other than cases, such as simulating a link.

        Args:
            function: receives a `StageContext`.
            first: true to run before the scenarios, otherwise after the items of a complete study.
            leaves: files and folders that the stage writes to the results folder.
            keeps: files and folders from which the next run of the stage continues.
        """

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.stages.append(Stage(function, first, leaves, keeps))
            return function

        return add if function is None else add(function)

    def show(self, title: str, table: str, columns: Sequence[str]) -> None:
        """Selects a table and its columns to be shown on the terminal with the results."""
        self.headline = title, table, list(columns)

    def items(self) -> list[str]:
        """Returns the names of tables and figures, in the study's order, without extra figures."""
        return [*self.tables, *(name for name, figure in self.figures.items() if not figure.extra)]

    def named(self, item: str) -> str | None:
        """Returns the full name of a table or figure, or `None`; case and spaces are ignored."""
        known = {_plain(one): one for one in self.items()}
        return known.get(_plain(item))

    def warm_up_s(self, quick: bool) -> float:
        """Returns the duration of the initial part of each replication that is not measured, s."""
        short = self.quick.warm_up_s if quick else None
        return self.warm_up if short is None else short

    def check(self) -> None:
        """Checks that all names refer to existing items, claims, rows and columns.

        Raises:
            InputError: there is neither a table nor a figure, or a claim, `show` or the file of
                texts has an unknown name.
        """
        items, everything = self.items(), [*self.tables, *self.figures]
        if not items:
            raise InputError(f"{self.name} has no table and no figure")
        named = [*self.texts["notes"], *self.texts["said"]]
        self._check("the file of texts", "item", named, everything)
        for claim in self.claims:
            self._check(f"claim `{claim.id}`", "item", claim.items, items)
        if self.headline is not None:
            _, table, columns = self.headline
            self._check("`show`", "table", [table], list(self.tables))
            known = list(map(label_of, self.tables[table].columns))
            self._check("`show`", "column", columns, known)

    def _check(self, who: str, what: str, names: Iterable[str], known: Sequence[str]) -> None:
        for name in names:
            if name not in known:
                raise InputError(
                    f"{self.name}: {who} names an unknown {what} `{name}`{nearest(name, known)}"
                )


def _plain(item: str) -> str:
    return "".join(item.lower().split())


def _texts(file: Path) -> dict[str, Any]:
    """Reads the texts of a study; default texts if there is no file."""
    try:
        texts = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except ValueError as error:
        raise InputError(f"{file}: {error}") from error
    for key, value in texts.items():
        if key not in TEXTS:
            raise InputError(f"{file}: unknown key `{key}`{nearest(key, TEXTS)}")
        if type(value) is not type(TEXTS[key]):
            kind = {"str": "a text", "list": "a list", "dict": "a table"}[type(TEXTS[key]).__name__]
            raise InputError(f"{file}: `{key}` is {value!r}; expected {kind}")
    return TEXTS | texts
