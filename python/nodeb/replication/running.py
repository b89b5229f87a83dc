"""Runs a scenario: simulates its replications, and captures the first one on request."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from nodeb.answer.words import counted
from nodeb.base import signals
from nodeb.base.arguments import as_path, as_texts, as_whole
from nodeb.errors import InputError, Interrupted
from nodeb.inputs.scenario import Scenario
from nodeb.replication.capture import Capture, CaptureWork
from nodeb.replication.cells import Replicated, ReplicationWork
from nodeb.replication.engine import Single
from nodeb.replication.pool import Jobs, check_jobs, width
from nodeb.replication.rules import rule_of
from nodeb.replication.work import Source
from nodeb.results.provenance import Provenance, utc_now
from nodeb.results.result import Result
from nodeb.scenario_types import Hsdpa, Lte
from nodeb.stats import Precision, Stop
from nodeb.terminal.progress import ProgressCallback, progress_bar


def run(
    planned: Scenario,
    jobs: Jobs | None,
    progress: ProgressCallback | bool | None,
    pcap: str | os.PathLike[str] | None = None,
    snap_length: int | None = None,
    at: Sequence[str] = (),
    radio: bool = False,
    causes: Sequence[int] = (),
) -> Result:
    """Simulates a resolved scenario; see `nodeb.Scenario.run`.

    Raises:
        InputError: an argument is invalid, or the scenario has no such capture point.
        Interrupted: Ctrl-C; the error carries the result of the finished replications.
        RunError: a replication failed.
    """
    if progress is True:
        with progress_bar(planned.name) as bar:
            return run(planned, jobs, bar, pcap, snap_length, at, radio, causes)
    if progress is not None and progress is not False and not callable(progress):
        raise InputError(f"progress is {progress!r}; expected True, False or a function")
    rule = planned.stopping_rule()
    workers = check_jobs(jobs)
    work = ReplicationWork(Source.of(planned))
    if pcap is not None:
        if not isinstance(workers, int):
            raise InputError("a capture needs threads of this process; expected a number as jobs")
        work = CaptureWork(work.source, _capture(planned, pcap, snap_length, at, radio, causes))
    only = Replicated(work, rule_of(rule))
    limit = rule.max_runs if isinstance(rule, Precision) else rule
    is_precise = isinstance(rule, Precision)
    if is_precise:
        limit_text = f" replications, at most {limit}"
    else:
        limit_text = f" of {counted(limit, 'replication')}"
    started, begin = utc_now(), time.perf_counter()

    def result(stop: Stop) -> Result:
        about = Provenance.now(
            seed=planned.seed,
            runs=only.runs,
            stopping=stop.reason,
            precision_reached=stop.reached if isinstance(rule, Precision) else None,
            wall_time_s=round(time.perf_counter() - begin, 6),
            jobs=width(workers),
            started=started,
        )
        return Result.from_replications(planned, only.parts(), about)

    try:
        Single(only, planned.seed, workers, progress or None, limit_text).run()
    except KeyboardInterrupt:
        signals.ignore()
        n = only.runs
        why = f"interrupted after {n} of at most {limit} replications"
        if only.stop is not None:
            why = f"stopped after all replications ({n})"
        stop = only.stop or Stop(n, False, why)
        raise Interrupted(why, result(stop) if n else None) from None
    signals.ignore()  # What is left is to save the result; it can be joined only once.
    assert only.stop is not None
    return result(only.stop)


def _capture(
    scenario: Scenario,
    pcap: str | os.PathLike[str],
    snap_length: int | None,
    at: Sequence[str],
    radio: bool,
    causes: Sequence[int],
) -> Capture:
    for user in causes:
        scenario.check_user(as_whole(user, "pcap_causes"))
    at = as_texts(at, "pcap_at", "['server']")
    snap_length = None if snap_length is None else as_whole(snap_length, "snap_length")
    if "proxy" in at and scenario.proxy is None:
        raise InputError("this scenario has no proxy to capture at; set `proxy` to add one")
    if "rnc" in at and not (isinstance(scenario.radio, Hsdpa) and scenario.radio.iub):
        raise InputError("this scenario has no RNC to capture at; set `radio.hsdpa.iub` to add one")
    if "pdcp" in at and not isinstance(scenario.radio, Lte):
        raise InputError("this scenario has no PDCP to capture at; `radio.lte` has")
    return Capture(as_path(pcap, "pcap"), snap_length, tuple(at), radio, tuple(causes))
