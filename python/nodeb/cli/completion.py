"""`nodeb completion`: completes commands, options, keys, metrics, names and files in a shell."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from nodeb import cli
from nodeb.cli import options as of
from nodeb.errors import InputError

if TYPE_CHECKING:
    from nodeb.inputs.keys import Keys

SCRIPTS = {
    # Bash splits words at `=` and `:`, and replaces only what follows the last of them.
    "bash": """_nodeb() {
  local line="${COMP_LINE:0:COMP_POINT}" words word cut
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word="${words[-1]}" cut="${word%"${word##*[=:]}"}"
  mapfile -t COMPREPLY < <(nodeb completion bash -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]#"$cut"}")
  [[ ${COMPREPLY[0]} == *[./=:] ]] && compopt -o nospace
}
complete -o default -F _nodeb nodeb
""",
    "zsh": """#compdef nodeb
_nodeb() {
  local -a found
  found=(${(f)"$(nodeb completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -Q -S '' -a found || _files
}
compdef _nodeb nodeb
""",
    "fish": """complete -c nodeb -f -a '(
  nodeb completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
""",
}


@of.command(
    of.place("shell", "SHELL", "bash, zsh or fish.", str),
    of.place("words", "-- WORD...", "Only complete the last of these words.", str, nargs="*"),
)
def completion(given: Namespace) -> None:
    if given.shell.lower() in ("powershell", "pwsh", "cmd"):
        raise InputError(
            f"{given.shell} cannot complete nodeb's commands; expected {', '.join(SCRIPTS)}, such "
            "as the bash of Git for Windows or of WSL 2"
        )
    of.check_name("shell", given.shell, [*SCRIPTS])
    if not given.words:
        print(SCRIPTS[given.shell], end="")
        return
    *before, word = given.words
    with suppress(InputError):
        print("\n".join(one for one in candidates(before, word) if one.startswith(word)))


def candidates(before: list[str], word: str) -> Iterable[str]:
    """What a word can be after the words before it, those after `nodeb`."""
    group = before[:1] == ["link"]
    name = " ".join(before[: 2 if group else 1])
    if name not in cli.EXAMPLES:
        return [one.split()[-1] for one in cli.COMMANDS if one.split()[:-1] == before[:group]]
    options = cli.parser(name)[0]._option_string_actions
    if word.startswith("-"):
        return [*options, "--help"]
    last = before[-1]
    if last in options and options[last].nargs != 0:
        return OPTIONS.get(last, _files)(word)
    places = [one for one in before[len(name.split()) :] if not one.startswith("-")]
    if name == "list" and places[:1] == ["keys"]:
        return _schema().paths()
    return PLACES.get(name, _files)(word)


def _files(word: str) -> list[str]:
    from nodeb.inputs import cells

    found = [f"{one}/" if Path(one).is_dir() else one for one in glob(f"{word}*")]
    return [*found, *(f"{cells.PREFIX}{name}" for name in cells.names() if word)]


def _cells(_: str) -> list[str]:
    from nodeb.inputs import cells

    return cells.names()


def _studies(_: str) -> list[str]:
    from nodeb import studies

    return [*studies.names(), "all"]


def _metrics(_: str) -> list[str]:
    from nodeb.results.metrics import METRICS

    return [*METRICS]


def _kinds(_: str) -> list[str]:
    from nodeb.cli.lists import kinds

    return [one for one in kinds() if " " not in one]


def _schema() -> Keys:
    from nodeb import _core
    from nodeb.inputs.keys import Keys

    return Keys(json.loads(_core.schema()))


def _keys(word: str) -> list[str]:
    """The keys of the section of `word`, or the names that the value of a key can have."""
    keys, (key, equals, _) = _schema(), word.partition("=")
    if equals:
        return [f"{key}={name}" for name in keys.names(key)]
    section = key.rpartition(".")[0]
    if section == "users":
        return ["users.0."]
    names = [f"{section}.{row[0]}".lstrip(".") for row in keys.rows(section)]
    sections = set(keys.paths())
    below = [f"{name}." for name in names if re.sub(r"\.\d+", "", name) in sections]
    return [*below, *(f"{name}=" for name in names)]


OPTIONS: dict[str, Callable[[str], list[str]]] = {
    **dict.fromkeys(("--set", "--with", "--baseline"), _keys),
    **dict.fromkeys(("--metric", "--y"), _metrics),
}
"""What completes the value of an option; files for others."""
PLACES: dict[str, Callable[[str], list[str]]] = {
    "completion": lambda _: [*SCRIPTS],
    "list": _kinds,
    "new": _cells,
    "reproduce": _studies,
    "schema": lambda word: [one.rstrip("=") for one in _keys(word)],
}
"""What completes the argument of a command; files for others."""
