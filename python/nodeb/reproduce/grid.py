"""From a selection of choices to a scenario: the study's base scenario with their changes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from nodeb.errors import InputError
from nodeb.reproduce.specs import Effort, Selection
from nodeb.reproduce.study import Study

ANY = "*"
IF_THERE = "?"


def scenario(study: Study, selection: Selection, quick: bool = False) -> dict[str, Any]:
    """The partial scenario of a selection, in the form of a scenario file.

    Changes apply in the order of the study's axes; a change replaces whatever stood at its path.
    Those of the quick version come first.
    """
    result: dict[str, Any] = copy.deepcopy(dict(study.scenario))
    changes = [study.quick.get("set", {})] if quick else []
    changes += [choice.set for choice in study.ordered(selection)]
    for change in changes:
        for path, value in change.items():
            put(result, path, copy.deepcopy(value))
    return result


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at a dotted path: keys, numbers of list entries, or `*` for the only key.

    A path with a key that ends in `?` is left alone where that key is not there.

    Raises:
        InputError: if the path leads nowhere.
    """
    *parents, last = path.split(".")
    node: Any = document
    for part in parents:
        if part.endswith(IF_THERE):
            part = part.removesuffix(IF_THERE)
            if not isinstance(node, dict) or part not in node:
                return
        node = _step(node, part, path)
    if isinstance(node, list):
        node[_index(node, last, path)] = value
    elif isinstance(node, dict):
        node[_only(node, path) if last == ANY else last] = value
    else:
        raise InputError(f"`{path}` leads into a value that has no parts")


def _step(node: Any, part: str, path: str) -> Any:
    if isinstance(node, list):
        return node[_index(node, part, path)]
    if isinstance(node, dict):
        key = _only(node, path) if part == ANY else part
        return node.setdefault(key, {})
    raise InputError(f"`{path}`: nothing below `{part}`")


def _index(node: list[Any], part: str, path: str) -> int:
    if not part.isdigit() or int(part) >= len(node):
        raise InputError(f"`{path}`: `{part}` is not one of the {len(node)} entries, from 0")
    return int(part)


def _only(node: Mapping[str, Any], path: str) -> str:
    if len(node) != 1:
        raise InputError(f"`{path}`: `*` needs exactly one key, there are {len(node)}")
    return next(iter(node))


def effort(study: Study, selection: Selection, quick: bool) -> Effort:
    """How long to replicate a selection: the study's effort with the choices' changes.

    The quick version does at most `quick.runs` replications and spends at most `quick.cost` on a
    scenario, but two in any case, as there is no interval without.
    """
    fields = {**vars(study.effort)}
    for choice in study.ordered(selection):
        fields.update({k: v for k, v in choice.effort.items() if k != "cost"})
        fields["cost"] *= choice.effort.get("cost", 1.0)
    if quick:
        affordable = min(study.quick["runs"], int(study.quick["cost"] / fields["cost"]))
        fields["runs"] = fields["max_runs"] = max(2, affordable)
    fields["max_runs"] = max(fields["max_runs"], fields["runs"])
    return Effort(**fields)


def simulated(selection: Selection) -> Selection:
    """The choices that change the scenario; the others only say what is tabulated."""
    return tuple(choice for choice in selection if choice.set or choice.effort)
