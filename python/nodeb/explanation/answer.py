"""Answer of `nodeb explain`, which the core composes (`crates/answers/src/answer/explain.rs`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nodeb import _core
from nodeb.answer.answer import Answer
from nodeb.explanation.causes import Explanation

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.explanation.what_if import WhatIf


def answer(
    found: Explanation,
    tried: Sequence[WhatIf] | None = None,
    arguments: Arguments | None = None,
    beside: Mapping[str, Explanation] | None = None,
) -> Answer:
    sizes = [path.bytes for path in found.paths]
    commands = (
        None
        if arguments is None
        else (
            arguments.command("explain", what_if=True),
            arguments.command("explain", what_if=True, report="why.html"),
        )
    )
    return Answer.of_core(
        _core.explain_answer(
            found.scenario.compiled(),
            found.core,
            (found.what, found.user, found.transfer),
            (min(sizes), max(sizes), _unfinished(found)),
            [(lever.name, lever.path_s) for lever in found.levers()],
            None if tried is None else [one.core for one in tried],
            commands,
            [(whose, other.core) for whose, other in (beside or {}).items()],
        )
    )


def incomplete(found: Explanation, where: str = "") -> str:
    """Returns a remark if the transfer is incomplete in some replication, otherwise ""."""
    unfinished = _unfinished(found)
    return _core.incomplete(unfinished, len(found.paths), where) if unfinished else ""


def _unfinished(found: Explanation) -> int:
    return sum(not path.complete for path in found.paths)
