"""Simulates random connections with ns-2, and writes traces for `oracle.py`.

    python validation/ns2_traces.py OUT --count 50 --seed 1            any era
    python validation/ns2_traces.py OUT --count 50 --seed 1 --era 2003-06-01
    python validation/oracle.py OUT/*.csv                               compares each with nodeb

Needs `ns` of ns-2.35, which Debian packages as `ns2`. Older eras are simulated by ns-2.35 with the
defaults of that time (`nodeb._core.era_switches()`), as its code still supports both values of
every switch. Each trace is one connection through one bottleneck, where packets of given arrival
numbers are lost or the queue is short.
"""

from __future__ import annotations

import argparse
import bisect
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeb import _core

#: Dates of eras, chosen so that the default of every switch changes between two of them.
ERAS = [
    "2001-01-01",
    "2001-06-06",
    "2002-01-01",
    "2002-04-13",
    "2003-06-01",
    "2004-01-18",
    "2005-10-19",
    "2006-09-26",
    "2011-11-04",
]
AGENTS = {"tahoe": "TCP", "reno": "TCP/Reno", "newreno": "TCP/Newreno", "sack": "TCP/Sack1"}
#: Classes of those ns-2 variables that do not belong to Agent/TCP.
CLASSES = {
    "newreno_changes1_": "Agent/TCP/Newreno",
    "partial_window_deflation_": "Agent/TCP/Newreno",
    "SYN_immediate_ack_": "Agent/TCPSink",
}
#: Tolerance in s for the times of ns-2's variables, which are printed in steps of 10
#: microseconds.
STEP_S = 5.2e-6

SCRIPT = """
{defaults}
Agent/TCP set window_ {W}
Agent/TCP set packetSize_ {seg}
set ns [new Simulator]
foreach name {{server router phone}} {{ set $name [$ns node] }}
$ns duplex-link $server $router {acc_rate} {acc_delay} DropTail
$ns simplex-link $router $phone {rate} {delay} DropTail
$ns simplex-link $phone $router {rrate} {rdelay} DropTail
$ns queue-limit $router $phone {qlim}
foreach {{a b}} [list $server $router $router $server $phone $router] {{
  $ns queue-limit $a $b 1000
}}
set packets [open {folder}/packets w]
foreach {{a b}} [list $server $router $router $server $router $phone] {{
  $ns trace-queue $a $b $packets
}}
if {{{lost} != ""}} {{
  set losses [new ErrorModel/List]
  $losses unit pkt
  $losses droplist {lost}
  $ns lossmodel $losses $router $phone
}}
set tcp [new Agent/{agent}]
set sink [new Agent/{sink}]
$ns attach-agent $server $tcp
$ns attach-agent $phone $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set variables [open {folder}/variables w]
$tcp attach $variables
$tcp tracevar cwnd_
$tcp tracevar ssthresh_
proc finish {{}} {{
  global ns packets variables
  $ns flush-trace
  close $packets
  close $variables
  exit 0
}}
Agent/TCP instproc done {{}} {{ global ns; $ns at-now finish }}
$ns at 0.0 "$tcp set ssthresh_ {ssthresh}"
$ns at 0.0 "$ftp send {bytes}"
$ns at 9000 finish
$ns run
"""


def defaults(era: str) -> dict[str, float]:
    """Returns the defaults on a date of those ns-2 variables whose default has changed."""
    values: dict[str, float] = {}
    for _, variable, since, before, after, _ in _core.era_switches():
        if era >= since or variable not in values:
            values[variable] = number(json.loads(after if era >= since else before))
    # nodeb's key says that the ACK of a SYN is delayed, whereas ns-2's variable says that it is
    # immediate.
    values["SYN_immediate_ack_"] = 1 - values["SYN_immediate_ack_"]
    return values


def number(value: Any) -> float:
    """A time such as "100 ms" is converted to seconds."""
    if not isinstance(value, str):
        return float(value)
    amount, unit = value.split()
    return float(amount) * {"min": 60, "s": 1, "ms": 1e-3}[unit]


def draw(rng: random.Random, era: str) -> dict[str, Any]:
    window = rng.choice([8, 15, 20, 30, 42])
    packets = rng.choice([80, 200, 400])
    kind = rng.choice(["random", "random", "burst", "queue", "outage", "start"])
    first = rng.randrange(1, packets)
    lost: set[int] = set()
    if kind == "random":
        share = rng.choice([0.01, 0.03, 0.08])
        lost = {n for n in range(1, 2 * packets) if rng.random() < share}
    elif kind == "burst":
        lost = {first + n for n in range(rng.randrange(2, 14)) if rng.random() < 0.8}
    elif kind == "outage":
        lost = set(range(first, first + rng.randrange(window // 2, window + 3)))
    elif kind == "start":
        lost = {rng.randrange(3), rng.randrange(8)}
    return {
        "era": era,
        "tick": defaults(era)["tcpTick_"],
        "variant": rng.choice(["newreno", "newreno", *AGENTS]),
        "delack": rng.randrange(2),
        "W": window,
        "ssthresh": rng.choice([window, 10]),
        "seg": rng.choice([536, 1000, 1460]),
        "npkt": packets,
        "acc_rate": "10Mb",
        "acc_delay": f"{rng.randrange(1000, 120_000) / 1000}ms",
        "rate": f"{rng.randrange(64_000, 2_000_000)}b",
        "delay": f"{rng.randrange(0, 80_000) / 1000}ms",
        "rrate": f"{rng.randrange(64_000, 2_000_000)}b",
        "rdelay": f"{rng.randrange(0, 80_000) / 1000}ms",
        "qlim": rng.randrange(5, 15) if kind == "queue" else 100,
        "drops": ";".join(map(str, sorted(lost))) or "none",
    }


def simulate(parameters: dict[str, Any]) -> str:
    """Simulates a connection with ns-2."""
    sink = "TCPSink/Sack1" if parameters["variant"] == "sack" else "TCPSink"
    drops = parameters["drops"]
    with tempfile.TemporaryDirectory() as folder:
        script = SCRIPT.format(
            **parameters,
            folder=folder,
            defaults="\n".join(
                f"{CLASSES.get(variable, 'Agent/TCP')} set {variable} {value:g}"
                for variable, value in defaults(parameters["era"]).items()
            ),
            lost="{" + ("" if drops == "none" else drops.replace(";", " ")) + "}",
            agent=AGENTS[parameters["variant"]],
            sink=sink + ("/DelAck" if parameters["delack"] else ""),
            bytes=parameters["npkt"] * parameters["seg"],
        )
        Path(folder, "script").write_text(script, encoding="utf-8")
        subprocess.run(["ns", f"{folder}/script"], check=True, timeout=300)
        packets = list(packet_rows(Path(folder, "packets").read_text().splitlines()))
        windows = window_rows(Path(folder, "variables").read_text().splitlines(), packets)
        # Simultaneous events are ordered as ACK, window, sent segment, loss.
        rows = sorted([*packets, *windows], key=lambda row: (row[0], row[1]))
    head = "# " + " ".join(f"{key}={value}" for key, value in parameters.items())
    body = [f"{t:.6f},{text}" for t, _, text in rows]
    return "\n".join([head, "t,ev,seq,rtx,cwnd,ssthresh", *body, ""])


def packet_rows(lines: list[str]) -> Iterator[tuple[float, int, str]]:
    """Yields a row for each segment sent, ACK received and packet lost."""
    highest = -1
    for line in lines:
        event, t, where, to, kind, *_, seq = line.split()[:11]
        if event == "+" and where == "0" and kind == "tcp":
            yield float(t), 2, f"s,{seq},{int(int(seq) <= highest)},,"
            highest = max(highest, int(seq))
        elif event == "r" and to == "0" and kind == "ack":
            yield float(t), 0, f"a,{seq},,,"
        elif event == "d":
            yield float(t), 3, f"d,{seq},,,"


def window_rows(
    lines: list[str], packets: list[tuple[float, int, str]]
) -> Iterator[tuple[float, int, str]]:
    last: dict[float, dict[str, str]] = {}
    state: dict[str, str] = {}
    for line in lines:
        when, *_, name, value = line.split()
        state = state | {name: value}
        last[float(when)] = state
    times = sorted(t for t, order, _ in packets if order != 3)
    before = None
    for t, values in last.items():
        at = bisect.bisect_left(times, t - STEP_S)
        exact = times[at] if at < len(times) and times[at] < t + STEP_S else t
        if values != before:
            yield exact, 1, f"w,,,{float(values['cwnd_']):.3f},{values['ssthresh_']}"
        before = values


def main() -> None:
    """Simulates random connections and writes their traces to a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--era")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for n in range(chosen.count):
        rng = random.Random(f"{chosen.seed}-{n}")
        parameters = draw(rng, chosen.era or ERAS[n % len(ERAS)])
        name = f"{n:04}_{parameters['variant']}_{parameters['era']}.csv"
        (chosen.out / name).write_text(simulate(parameters), encoding="utf-8")


if __name__ == "__main__":
    main()
