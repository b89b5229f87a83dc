"""Compares nodeb's TCP with packet-level traces of ns-2, row by row.

`python validation/oracle.py FILE...` reads traces in CSV and simulates the path of the first line
of each. It compares every segment sent, every ACK, every drop and every change of the congestion
window: times within 1 microsecond, windows within 0.001 packet. The traces follow the code of
ns-2.35 (``tcp.cc``, ``tcp-newreno.cc``, ``tcp-sink.cc``).
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nodeb import _core

TIME_TOLERANCE_S = 1.000001e-6
WINDOW_TOLERANCE_PACKETS = 1.000001e-3

#: Phase of ns-2's tick clock at the start of a simulation, in ticks. It is the second number that
#: the default random generator draws, when ``run`` resets the agent.
CLOCK_PHASE_TICKS = 0.55588071586372367

#: Order of events with the same time in a trace: ACK, window, segment, drop.
_ORDER = {"a": 0, "w": 1, "s": 2, "d": 3}
_EVENTS = {"send": "s", "ack": "a", "drop": "d"}


@dataclass(frozen=True)
class Row:
    """One event of a trace. Fields that do not apply to the type of event are None."""

    t_s: float
    event: str
    seq: int | None = None
    retransmission: bool | None = None
    cwnd: float | None = None
    ssthresh: float | None = None

    def agrees(self, other: Row) -> bool:
        """Returns true if two rows are equal within the tolerances for times and windows."""
        return (
            self.event == other.event
            and self.seq == other.seq
            and self.retransmission == other.retransmission
            and abs(self.t_s - other.t_s) <= TIME_TOLERANCE_S
            and _close(self.cwnd, other.cwnd)
            and _close(self.ssthresh, other.ssthresh)
        )


def _close(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= WINDOW_TOLERANCE_PACKETS


def parse(text: str) -> tuple[dict[str, str], list[Row]]:
    """The parameters of a trace's path, and its events."""
    first, *lines = text.splitlines()
    parameters = dict(word.split("=", 1) for word in first.removeprefix("# ").split())
    return parameters, [
        Row(
            t_s=float(row["t"]),
            event=row["ev"],
            seq=int(row["seq"]) if row["seq"] else None,
            retransmission=bool(int(row["rtx"])) if row["rtx"] else None,
            cwnd=float(row["cwnd"]) if row["cwnd"] else None,
            ssthresh=float(row["ssthresh"]) if row["ssthresh"] else None,
        )
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]


def _with_unit(text: str) -> str:
    """Converts a quantity of ns-2, such as ``10Mb`` or ``5ms``, to the syntax of scenarios."""
    return f"{text}ps" if text.endswith("b") else text


def scenario_of(parameters: dict[str, str]) -> dict[str, object]:
    p = parameters
    tick_s = float(p["tick"])
    drops = [] if p.get("drops", "none") == "none" else [int(n) for n in p["drops"].split(";")]
    queue = {"drop_tail": {"limit": 1000}}
    access = {"rate": _with_unit(p["acc_rate"]), "delay": p["acc_delay"], "queue": queue}
    reverse = {"rate": _with_unit(p["rrate"]), "delay": p["rdelay"], "queue": queue}
    bottleneck = {
        "rate": _with_unit(p["rate"]),
        "delay": p["delay"],
        "queue": {"drop_tail": {"limit": int(p["qlim"])}},
        "drop_list": drops,
    }
    tcp = {
        "control": p["variant"],
        "era": p.get("era", "ns-2.35"),
        "packet_size": f"{int(p['seg']) + 40} B",
        "max_window": int(p["W"]),
        "initial_ssthresh": int(p["ssthresh"]) or int(p["W"]),
        "clock": f"{p['tick']} s",
        "clock_phase": f"{round(tick_s * CLOCK_PHASE_TICKS * 1e9)} ns",
        "delayed_ack": "100 ms" if p["delack"] == "1" else "0 s",
        "opened_by": "server",
    }
    if "minrto" in p:
        tcp["min_rto"] = f"{p['minrto']} s"
    if "iw" in p:
        tcp["initial_window"] = int(p["iw"])
    size = f"{int(p['npkt']) * int(p['seg'])} B"
    return {
        "name": "ns-2 trace",
        "duration": "10000 s",
        "wired": access,
        "uplink": reverse,
        "radio": {"link": bottleneck},
        "tcp": {"classic": tcp},
        "users": [{"traffic": {"ftp": {"size": size}}}],
        "record": {"segments": True, "cwnd": True},
    }


def simulate(parameters: dict[str, str]) -> list[Row]:
    scenario = json.dumps(scenario_of(parameters))
    tables = _core.CompiledScenario.from_json(scenario).run(1, 0, _core.Control())
    rows = [*_segment_rows(tables["segments"]), *_window_rows(tables["cwnd"])]
    return sorted(rows, key=lambda row: (round(row.t_s, 6), _ORDER[row.event]))


def _segment_rows(table: dict[str, Iterable[object]]) -> Iterator[Row]:
    columns = (table[name] for name in ("t_s", "event", "seq", "retransmission"))
    for t, name, seq, retransmission in zip(*columns, strict=True):
        event = _EVENTS.get(str(name))
        if event is not None:
            sent = bool(retransmission) if event == "s" else None
            yield Row(float(t), event, int(seq), sent)


def _window_rows(table: dict[str, Iterable[float]]) -> Iterator[Row]:
    columns = (table[name] for name in ("t_s", "cwnd_packets", "ssthresh_packets"))
    last: dict[float, Row] = {}
    for t, cwnd, ssthresh in zip(*columns, strict=True):
        last[float(t)] = Row(float(t), "w", cwnd=float(cwnd), ssthresh=float(ssthresh))
    yield from last.values()


def first_difference(expected: list[Row], actual: list[Row]) -> str | None:
    """Rows are compared in order within each kind of event, so that two events less than a
    microsecond apart may be listed in either order."""
    firsts = []
    for event in _ORDER:
        theirs = [row for row in expected if row.event == event]
        ours = [row for row in actual if row.event == event]
        pairs = zip(theirs, ours, strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if not a.agrees(b)), None)
        if at is None and len(theirs) != len(ours):
            at = min(len(theirs), len(ours))
        if at is not None:
            there = theirs[at] if at < len(theirs) else None
            here = ours[at] if at < len(ours) else None
            firsts.append((min(row.t_s for row in (there, here) if row), there, here))
    if not firsts:
        return None
    t, there, here = min(firsts, key=lambda first: first[0])
    return (
        f"  ns-2 has  {there or 'nothing more of this kind'}\n"
        f"  nodeb has {here or 'nothing more of this kind'}\n"
        f"  around it in ns-2:  {_around(expected, t)}\n"
        f"  around it in nodeb: {_around(actual, t)}"
    )


def _around(rows: list[Row], t: float, context: int = 3) -> str:
    at = next((i for i, row in enumerate(rows) if row.t_s >= t - TIME_TOLERANCE_S), len(rows))
    return " | ".join(str(row) for row in rows[max(0, at - context) : at + context + 1])


def check(text: str) -> str | None:
    parameters, expected = parse(text)
    return first_difference(expected, simulate(parameters))


def main(files: list[str]) -> int:
    failed = 0
    for file in files:
        if (difference := check(Path(file).read_text(encoding="utf-8"))) is not None:
            failed += 1
            print(f"{file}: differs\n{difference}")
    print(f"{len(files) - failed} traces agree, {failed} differ")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
