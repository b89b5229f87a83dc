"""Options of the commands: how each is declared, shown and read.

A command is a function with `@command(...)` above it, which gets the values of its options.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from nodeb.errors import InputError, OutputError, nearest
from nodeb.inputs.cells import cell_of

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.replication.pool import Jobs as Workers
    from nodeb.storage.folders import Owner, Place

Declared = tuple[tuple[str, ...], dict[str, Any]]
"""Names and keywords of `ArgumentParser.add_argument`."""
F = TypeVar("F", bound=Callable[..., Any])


def command(*options: Declared) -> Callable[[F], F]:
    """Declares the options of a function that is a command."""

    def declare(function: F) -> F:
        function.options = options  # type: ignore[attr-defined]
        return function

    return declare


def place(name: str, metavar: str, meaning: str, kind: Any = Path, **more: Any) -> Declared:
    """An argument without a name; `nargs="?"` if it can be missing."""
    return (name,), {"metavar": metavar, "help": _escaped(meaning), "type": kind, **more}


def option(name: str, metavar: str, meaning: str, kind: Any = str, **more: Any) -> Declared:
    shown = f" [default: {more['default']}]" if "default" in more else ""
    kind = NUMBERS.get(kind, kind)
    return (name,), {"metavar": metavar, "help": _escaped(meaning + shown), "type": kind, **more}


def repeated(name: str, metavar: str, meaning: str, kind: Any = str, **more: Any) -> Declared:
    text = _escaped(f"{meaning.rstrip('.')}; repeatable.")
    kind = NUMBERS.get(kind, kind)
    settings = {"metavar": metavar, "help": text, "type": kind, "action": "append", "default": []}
    return (name,), settings | more


def flag(name: str, meaning: str, **more: Any) -> Declared:
    return (name,), {"action": "store_true", "help": _escaped(meaning), **more}


def switch(name: str, meaning: str, **more: Any) -> Declared:
    """A pair of options `--name` and `--no-name`."""
    return (name,), {"action": BooleanOptionalAction, "help": _escaped(meaning), **more}


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not low <= int(text) or (high is not None and int(text) > high):
            raise ArgumentTypeError(
                f"{text} is not {low} or more" if high is None else f"{text} is not {low} to {high}"
            )
        return int(text)

    number.__name__ = "whole number"
    return number


def _number(kind: Any, what: str) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise ArgumentTypeError(f"`{text}` is not a {what}") from None

    return number


NUMBERS = {int: _number(int, "whole number"), float: _number(float, "number")}


def share(text: str) -> float:
    if not 0 <= float(text) <= 1:
        raise ArgumentTypeError(f"{text} is not 0 to 1")
    return float(text)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


FILE = place("file", "FILE", "Scenario file (TOML), or `cell:NAME` for a ready cell.")
FILE_OR_LOG = place(
    "file", "FILE", "Scenario (TOML), `cell:NAME`, or recording of `nodeb emulate`."
)
SET = repeated(
    "--set",
    "KEY=VALUE",
    "Change a key, such as `--set wired.loss=0.01`; `--set KEY=` removes it",
)
SEED = option("--seed", "N", "Seed of the random streams.", int)
RUNS = option("--runs", "N", "Number of replications.", int)
PRECISION = option(
    "--precision",
    "SHARE",
    "Replicate until the 95 % half-width is this fraction of the mean bit rate.",
    float,
)
MARGIN = option(
    "--margin",
    "SHARE",
    "Equivalence margin, as a fraction of the baseline mean.",
    float,
    default=0.02,
)
OUT = option("--out", "DIR", "Results folder; default: out/<file name>.", Path)
TABLES = option("--out", "DIR", "Folder for tables and provenance; default: none.", Path)
DEFAULT_PAGE = Path()
"""Value of `--report` without a page."""
REPORT: Declared = (
    ("--report",),
    {
        "metavar": "PAGE.html",
        "help": "Write an HTML page with figures; default: report.html in the results folder, or "
        "beside it in `out` if there is none.",
        "type": Path,
        "nargs": "?",
        "const": DEFAULT_PAGE,
    },
)
FORCE = flag("--force", "Replace existing results in the folder.")
ALL = flag("--all", "Print all tables, not only the answer and key figures.")
JSON = flag("--json", "Print the answer and its table as JSON.")
JOBS = option("--jobs", "N", "Replications run in parallel; default: one per processor.", int)
PCAP_RADIO = flag(
    "--pcap-radio", "Also capture at rnc, node_b and pdcp, with comments on each packet's fate."
)
AS = option(
    "--as", "USER", "User that runs the command; default: the first real user.", dest="user"
)
SERVER = option("--server", "COMMAND", "Command to run as the server.")
LATE = option("--late", "TIME", "Lateness above which a delivery counts as late.", default="2 ms")
CLUSTER = option(
    "--cluster", "ADDRESS", "Simulate on a Dask cluster: its scheduler's address (tcp://host:8786)."
)


class _Checked(ArgumentParser):
    """Parser whose errors are those of the command line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


class Parser(_Checked):
    """Parser of one command: options and arguments without names, in any order.

    What follows `--` are arguments without names, such as the command that `emulate` runs.
    """

    def __init__(
        self, path: str, about: str, options: Sequence[Declared], example: str = ""
    ) -> None:
        self.example = example
        self.places = [one for one in options if not one[0][0].startswith("-")]
        self.options = [one for one in options if one[0][0].startswith("-")]
        usage = " ".join([path, "[OPTIONS]", *map(_shown, self.places)])
        super().__init__(path, usage, about, add_help=False, allow_abbrev=False)
        self._rest = _Checked(path, add_help=False)
        for names, keywords in self.options:
            self.add_argument(*names, **keywords)
        for names, keywords in self.places:
            self._rest.add_argument(*names, **keywords)

    def read(self, arguments: Sequence[str]) -> Namespace | None:
        """The values of all options; None if the help was asked for and printed."""
        words = list(arguments)
        at = words.index("--") if "--" in words else len(words)
        if {"-h", "--help"} & set(words[:at]):
            print(self.whole_help(), end="")
            return None
        given, rest = self.parse_known_args(_without_pages(words[:at]), Namespace(parser=self))
        for word in rest:
            if word.startswith("-") and word != "-":
                self.error(_no_option(word, self._option_string_actions))
        places = [*rest, *words[at + 1 :]]
        return self._rest.parse_args(["--", *places] if places else [], given)

    def whole_help(self) -> str:
        for names, keywords in self.places:
            shown = _shown((names, keywords))
            self.add_argument(*names, **{**keywords, "nargs": None, "metavar": shown})
        self.add_argument("-h", "--help", action="help", help="Show this message and exit.")
        return f"{self.format_help()}\nexample:\n  {self.example}\n"


def _without_pages(words: Sequence[str]) -> list[str]:
    """Marks each `--report` that no page follows, so that it does not take the next word."""
    pages = (".html", ".htm")
    return [
        "--report=" if word == "--report" and not after.lower().endswith(pages) else word
        for word, after in zip(words, [*words[1:], ""], strict=False)
    ]


def _shown(declared: Declared) -> str:
    shown, count = declared[1]["metavar"], declared[1].get("nargs")
    return f"[{shown}]" if count in ("?", "*") else str(shown)


def _no_option(word: str, options: Any) -> str:
    from difflib import get_close_matches

    name = word.partition("=")[0]
    near = {"--replications": ["--runs"]}.get(name) or get_close_matches(name, options, 1)
    return f"no such option: {name}" + (f"; did you mean `{near[0]}`?" if near else "")


def chosen(given: Namespace, *names: str) -> dict[str, Any]:
    """The options with these names whose values are not the defaults."""
    values = {}
    for name in names:
        action = given.parser._option_string_actions[f"--{name}"]
        if (value := vars(given)[action.dest]) != action.default:
            values[name] = True if value == DEFAULT_PAGE else value
    return values


def arguments(given: Namespace, *names: str, **others: Any) -> Arguments:
    """The file and options of a command, for printed commands that repeat it."""
    from nodeb.base.command_line import Arguments

    return Arguments(given.file, chosen(given, *names) | others)


def check_page(path: Path | None, option: str = "--report") -> None:
    """Checks before the simulation that a page can be written, if one was asked for."""
    from nodeb.storage.files import check_place, refuse_other_page

    if path is not None and path != DEFAULT_PAGE:
        check_place(path, option)
        refuse_other_page(path, option)


def page_of(given: Namespace, default: Path) -> Path | None:
    """The place of the page that `--report` asks for, if it does."""
    return default if given.report == DEFAULT_PAGE else given.report


def write_page(path: Path, text: str) -> None:
    """Writes a page, and adds it to the files of the results folder that contains it, if any."""
    from nodeb.storage import files, folders

    files.write(path, text)
    folders.note(path)


def workers(jobs: int | None, cluster: str | None) -> AbstractContextManager[Workers]:
    """The threads (`--jobs`) or the cluster (`--cluster`) that simulate.

    Raises:
        InputError: both options are given, or one is invalid.
        RunError: the cluster cannot be used.
    """
    from nodeb.replication.pool import check_jobs
    from nodeb.replication.pool import cluster as connected

    if cluster is None:
        return nullcontext(check_jobs(jobs))
    if jobs is not None:
        raise InputError("--jobs and --cluster cannot be combined")
    return connected(cluster)


def check_name(what: str, name: str, allowed: list[str]) -> None:
    if name not in allowed:
        raise InputError(f"there is no {what} `{name}`{nearest(name, allowed)}")


def refuse_for_recordings(given: Namespace, *names: str) -> None:
    """Rejects options that only a scenario can have."""
    for name in chosen(given, *names):
        raise InputError(
            f"--{name} is for scenarios, and {given.file} is a recording; leave --{name} out, or "
            "give the scenario that was emulated"
        )


def claimed(given: Namespace, file: Path, owner: Owner, ending: str = "") -> Place:
    """Claims the folder of `--out`, or the default one, beside which others may be used."""
    from nodeb.storage.folders import claim

    folder = default_folder(given.out, file, ending)
    return claim(folder, owner, force=given.force, beside=given.out is None)


def default_folder(out: Path | None, file: Path, ending: str = "") -> Path:
    return Path("out") / f"{cell_of(file) or file.stem}{ending}" if out is None else out


def check_capture(pcap: Path | None, place: Place | None) -> None:
    """Refuses a capture in the results folder, which is replaced as a whole."""
    if pcap and place and pcap.resolve().is_relative_to(place.path):
        raise OutputError(
            f"{pcap} is in the results folder {place.shown}, which is replaced as a whole; "
            "give another file with --pcap"
        )


def seconds(name: str, text: str) -> float:
    """A time with its unit, such as `1.5 s`, in s; it may be 0."""
    from nodeb.base.units import NS, in_s

    try:
        return in_s(text)
    except ValueError:
        hint = f'a time with a unit, such as "1.5 s" or "500 ms" (units: {", ".join(NS)})'
        raise InputError(f'{name} is "{text}"; expected {hint}') from None


def duration(name: str, text: str) -> float:
    """As `seconds`, but above 0."""
    time_s = seconds(name, text)
    if time_s <= 0:
        raise InputError(f'{name} is "{text}"; expected a time above 0')
    return time_s
