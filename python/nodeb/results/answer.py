"""The answer of a run, from the core (`crates/answers/src/answer/run.rs`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeb import _core
from nodeb.answer.answer import Answer
from nodeb.errors import NodebError
from nodeb.results.metrics import METRICS

if TYPE_CHECKING:
    from nodeb.base.command_line import Arguments
    from nodeb.explanation import Explanation
    from nodeb.results.result import Result

MAX_RUNS = 20
"""Maximum number of replications simulated again to explain a transfer in the answer of a run."""
MAX_BYTES = 2_000_000
"""Size of a transfer, bytes, above which the answer of a run does not explain the transfer."""


def answer(result: Result, arguments: Arguments | None = None, folder: str = "") -> Answer:
    return answer_of(result, explain_only_transfer(result), arguments, folder)


def explain_only_transfer(result: Result) -> Explanation | None:
    """Explains the first transfer of a scenario's only phone, if it is not too large."""
    flows = result.flows
    users = flows["phone" if "phone" in flows.columns else "user"]
    if len(flows) == 0 or (users != users[0]).any() or flows["endless"][0]:
        return None
    if flows["app_bytes"][0] > MAX_BYTES * max(flows["transfers"][0], 1):
        return None
    try:
        return result.explain(runs=min(result.provenance.runs, MAX_RUNS))
    except NodebError:
        return None


def answer_of(
    result: Result, why: Explanation | None, arguments: Arguments | None, folder: str
) -> Answer:
    about = result.provenance
    summary = result.summary
    columns = (summary[name].tolist() for name in summary.columns)
    text = _core.run_answer(
        result.scenario.name or (arguments.file.stem if arguments else ""),
        result.tables,
        list(METRICS.values()),
        list(zip(*columns, strict=True)),
        (about.runs, about.seed, "" if about.stopping.endswith("as asked") else about.stopping),
        result.scenario.compiled().to_bare_json(),
        None if why is None else why.core,
        None if arguments is None else _next(result, arguments, folder),
    )
    return Answer.of_core(text)


def _next(result: Result, arguments: Arguments, folder: str) -> tuple[str, bool, str]:
    options = arguments.options
    given = any(options.get(name) is not None for name in ("runs", "precision"))
    is_other = given or result.scenario.precision is not None
    runs = result.provenance.runs if is_other else None
    explain = arguments.command("explain", precision=None, report=None, runs=runs)
    return folder, bool(options.get("report")), explain
