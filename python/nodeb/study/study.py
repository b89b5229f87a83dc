"""A study: the tables, figures and statements of a paper, and how they are measured again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from nodeb.base.streams import printable
from nodeb.errors import InputError, nearest
from nodeb.study import predicted, targets, texts
from nodeb.study.axis import anchor, label_of
from nodeb.study.case import Effort, Quick, ScenarioFunction, check_warm_up
from nodeb.study.claims import Check, Claim
from nodeb.study.items import Figure, Rows, Table
from nodeb.study.quantity import Fact
from nodeb.study.stage import Stage

if TYPE_CHECKING:
    from nodeb.inputs.scenario import Scenario

__all__ = ["Study"]

USUAL, SHORT = Effort(), Quick()
Item = TypeVar("Item", Table, Figure)


class Study:
    """The tables, figures and statements of a paper, and how they are measured again.

    Args:
        file: the study's own file, `__file__`. Its name is the study's, and begins the names of
            the files beside it: texts in `NAME.toml`, predictions in `NAME_predicted.csv` and
            `NAME_predicted.toml`; none of them needs to be there.
        title: what the study is about.
        reference: the paper.
        effort: how long cases are replicated that say nothing else.
        quick: the short version.
        warm_up_s: beginning of each replication that does not count, s.
        minutes: about how long two processors take, for `quick` and `full`.
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
        for what, value, kind in (("effort", effort, Effort), ("quick", quick, Quick)):
            if not isinstance(value, kind):
                raise InputError(f"`{what}` is {value!r}; expected `{kind.__name__}(...)`")
        self.tables: dict[str, Table] = {}
        self.figures: dict[str, Figure] = {}
        self.claims: list[Claim] = []
        self.stages: list[Stage] = []
        self.headline: tuple[str, str, list[str]] | None = None
        """Title, table and columns that the terminal shows at the end."""
        self.scenario_text = ""
        """The scenario file that the page shows."""
        self.texts = texts.read(self.file.with_suffix(".toml"))
        self.predictions = predicted.read(self.file.with_name(f"{self.file.stem}_predicted.csv"))

    def load(self, name: str) -> Scenario:
        """Reads a scenario file beside the study's file, which the page shows."""
        from nodeb.inputs.scenario import load

        path = self.file.with_name(name)
        self.scenario_text = path.read_text(encoding="utf-8")
        return load(path)

    def files(self) -> list[Path]:
        """The files that the study is made of, by name."""
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
        """Makes cases of a function that returns a scenario: each call with points is a case.

            @study.scenario
            def download(size, bler): ...

        Args:
            function: takes points' values.
            effort: how long they are replicated; may be a function of some of the same values.
            reduce: makes numbers of the tables of one replication, which are kept in place of the
                series that the scenario records (`nodeb.replication.reduction.Reduction`).
            endless: whether downloads are not meant to end: what they delivered is watched.
        """

        def cases(of: Callable[..., Scenario]) -> ScenarioFunction:
            return ScenarioFunction(of, effort, reduce, endless)

        return cases if function is None else cases(function)

    def table(self, name: str, title: str, rows: Rows, printed: str = "", **how: Any) -> Table:
        """Adds a table.

        Args:
            name: what the paper calls it, such as "Table 12".
            title: what it shows.
            rows: quantities by row and column.
            printed: the values of the paper as text, a line for each row; `-` where there is none.
            how: `unit`, None for that of the first cell; `digits` shown; `runs` that a printed
                value is the mean of, where the paper tells; `near` or `near_percent`, the
                deviation up to which a cell counts as near; a `note`.
        """
        how = {"note": self.texts.notes.get(name, "")} | how
        return self._add(self.tables, Table(name, title, rows, printed, **how))

    def figure(self, name: str, title: str, curves: Rows, y_label: str, **how: Any) -> Figure:
        """Adds a figure.

        Args:
            name: what the paper calls it, such as "Figure 8".
            title: what it shows.
            curves: quantities by curve and place.
            y_label: name and unit of the quantity.
            how: `x_label`, None for that of the places' axis; `unit`; `digits`; `printed`, values
                that the paper tells, by curve and place; `marks` (`Mark`) and what is `said` of it
                in the paper's text; a `note`; `bars`, whether it has bars and no lines;
                `from_zero`; `panels`, whether the first two parts of a curve's key have panels of
                their own, where the points of a place stand beside each other; `extra`, whether
                it shows what a table does.
        """
        said = {"note": self.texts.notes.get(name, ""), "said": self.texts.said.get(name, "")}
        return self._add(self.figures, Figure(name, title, curves, y_label, **said | how))

    def _add(self, items: dict[str, Item], item: Item) -> Item:
        if not anchor(item.id):
            raise InputError(f'a table or a figure is called `{item.id}`; expected "Table 1"')
        for other in [*self.tables, *self.figures]:
            if anchor(other) == anchor(item.id):
                also = "" if other == item.id else f", `{other}`: their files have one name"
                raise InputError(f"{self.name} has two items `{item.id}`{also}")
        items[item.id] = item
        return item

    def claim(
        self, section: str, *items: str, name: str | None = None, text: str | None = None
    ) -> Callable[[Callable[[], Iterable[Check]]], Callable[[], Iterable[Check]]]:
        """Makes a claim of a generator of checks, whose docstring is the statement.

        Args:
            section: where the paper says it.
            items: tables and figures that it is about: it is judged when all of them were
                measured, and only with the whole study where there are none.
            name: of the claim; None for that of the function.
            text: the statement; None for the docstring.
        """
        if not all(isinstance(one, str) for one in (section, *items)):
            raise InputError('a claim is written `@study.claim("IV.B", "Table 12")` over a def')

        def add(checks: Callable[[], Iterable[Check]]) -> Callable[[], Iterable[Check]]:
            identity = name or checks.__name__.replace("_", "-")
            said = checks.__doc__ if text is None else text
            if not said:
                raise InputError(f"claim `{identity}` has no statement; write it as the docstring")
            if any(one.id == identity for one in self.claims):
                raise InputError(f"{self.name} has two claims `{identity}`")
            self.claims.append(Claim(identity, section, " ".join(said.split()), items, checks))
            return checks

        return add

    def fact(self, name: str, unit: str = "") -> Fact:
        """A number that a stage finds beside the scenarios, for claims and cells."""
        return Fact(name, unit)

    def stage(
        self,
        function: Callable[..., Any] | None = None,
        *,
        first: bool = False,
        leaves: Sequence[str] = (),
        keeps: Sequence[str] = (),
    ) -> Any:
        """Makes a stage of a function (`nodeb.study.stage`).

        Args:
            function: takes what a stage is given.
            first: whether it comes before the scenarios; else after the items of a whole study.
            leaves: files and folders that it writes to the folder of results.
            keeps: those that it writes for the next run to go on with.
        """

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.stages.append(Stage(function, first, leaves, keeps))
            return function

        return add if function is None else add(function)

    def show(self, title: str, table: str, columns: Sequence[str]) -> None:
        """Chooses the columns of a table that the terminal shows at the end."""
        self.headline = title, table, list(columns)

    def items(self) -> list[str]:
        """Names of the tables and figures, in the study's order."""
        return [*self.tables, *(name for name, figure in self.figures.items() if not figure.extra)]

    def named(self, item: str) -> str | None:
        """The table or figure of a name, whatever its case and spaces; None if there is none."""
        known = {_plain(one): one for one in self.items()}
        return known.get(_plain(item))

    def warm_up_s(self, quick: bool) -> float:
        """Beginning of each replication that does not count, s."""
        short = self.quick.warm_up_s if quick else None
        return self.warm_up if short is None else short

    def check(self) -> None:
        """Checks what names what.

        Raises:
            InputError: there is neither table nor figure, or a claim, a target or what a terminal
                shows names what is not there.
        """
        if not self.items():
            raise InputError(f"{self.name} has no table and no figure")
        known, claims = self.items(), [claim.id for claim in self.claims]
        everything = [*self.tables, *self.figures]
        self._check("the file of texts", "item", [*self.texts.notes, *self.texts.said], everything)
        for claim in self.claims:
            self._check(f"claim `{claim.id}`", "item", claim.items, known)
        for target in self.texts.targets:
            self._check(f"target `{target.id}`", "item", target.items, known)
            self._check(f"target `{target.id}`", "claim", target.claims or (), claims)
            self._check_places(target)
        if self.headline is not None:
            _, table, columns = self.headline
            self._check("`show`", "table", [table], list(self.tables))
            known = list(map(label_of, self.tables[table].columns))
            self._check("`show`", "column", columns, known)

    def _check_places(self, target: targets.Target) -> None:
        items = {**self.tables, **self.figures}
        for what, patterns in (("rows", target.rows), ("columns", target.columns)):
            for name in target.items if patterns else ():
                table = name in self.tables
                of_rows = (what == "rows") == table  # a curve of a figure is a column of cells
                found = list(items[name].rows) if of_rows else items[name].columns
                if not any(targets.matches(label_of(one), patterns) for one in found):
                    known = ", ".join(map(label_of, found))
                    raise InputError(
                        f"{self.name}: target `{target.id}` has {what} that {name} has not: "
                        f"{', '.join(patterns or ())} (there is: {known})"
                    )

    def _check(self, who: str, what: str, names: Iterable[str], known: Sequence[str]) -> None:
        for name in names:
            if name not in known:
                raise InputError(
                    f"{self.name}: {who} names no {what}, `{name}`{nearest(name, known)}"
                )


def _plain(item: str) -> str:
    return "".join(item.lower().split())
