"""Measures timing accuracy and cost of emulations. Needs iperf3, and root for SCHED_FIFO.

    python benches/emulate.py            runs each measurement once, about two minutes
    python benches/emulate.py --csv      prints CSV for docs/emulate/measured-lateness.csv

For comparison, a bare forwarder between two TUN devices and a thread that only sleeps, for times
like those between packets, show the limits of the kernel and the machine.
"""

from __future__ import annotations

import csv
import json
import sys
import threading
import time
from pathlib import Path

import numpy as np

from nodeb import _core
from nodeb.answer.columns import aligned
from nodeb.answer.numbers import number
from nodeb.emulate.plan import SERVER, make, of_phone
from nodeb.emulate.session import Options, emulate, set_real_time_priority, start_endpoint
from nodeb.inputs.scenario import Scenario, load

SECONDS = 8
EXAMPLES = Path(__file__).parents[1] / "examples"

LINK = """
[wired]
delay = "5 ms"
rate = "10 Gbps"
[uplink]
rate = "1 Gbps"
delay = "5 ms"
[radio.link]
{rate}
delay = "0 ms"
queue.drop_tail.limit = 1000
[[users]]
name = "phone"
traffic = "external"
"""

OPEN = """
[wired]
rate = "1000 Gbps"
delay = "0 ms"
queue.drop_tail.limit = 10000
[uplink]
rate = "1000 Gbps"
delay = "0 ms"
[radio.link]
rate = "1000 Gbps"
delay = "0 ms"
queue.drop_tail.limit = 10000
[[users]]
name = "phone"
traffic = "external"
"""

IPERF = ("iperf3", "-c", SERVER.v4, "-R", "-J", "-t", str(SECONDS))


def run(name, scenario, command, user=None, server=("sh", "-c", "iperf3 -s -1 > /dev/null")):
    """Emulates a scenario while `command` runs at the phone.

    Returns a row of the table: bit rate, lateness of deliveries, losses, CPU time and scheduling
    class.
    """
    plan = make(scenario, [(user, command)])
    outcome = emulate(plan, Options(seed=1, server=server))
    report = outcome.report
    down, late = report["phones"][0]["down"], report["lateness"]
    span = max(down["span_s"], 1e-9)
    lost = sum(down[key] for key in down if key.startswith("lost_"))
    return [
        name,
        f"{8e-6 * down['arrived_bytes'] / span:.0f}",
        str(late["count"]),
        *(number(late[key], "s") for key in ("p50_s", "p99_s", "p999_s", "max_s")),
        f"{lost / max(down['offered_packets'], 1):.3%}",
        f"{report['cpu_s'] / report['lasted_s']:.2%}",
        "yes" if outcome.real_time else "no",
    ]


def quiet(command):
    return ("sh", "-c", " ".join(command) + " > /dev/null")


def forwarded():
    """Downloads through a forwarder that only copies packets between two TUN devices."""
    emulation = _core.Emulation()
    options = Options(seed=1)
    cpu, real_time = 0.0, False

    def forward():
        nonlocal cpu, real_time
        real_time = set_real_time_priority()
        emulation.forward(1500)
        cpu = time.thread_time()

    thread = threading.Thread(target=forward)
    with (
        start_endpoint(emulation.fileno(), options, 0, "server", SERVER) as server,
        start_endpoint(emulation.fileno(), options, 1, "phone", of_phone(0)) as phone,
    ):
        server.await_ready()
        phone.await_ready()
        thread.start()
        out = Path("/tmp") / f"nodeb-bench-{time.monotonic_ns()}.json"
        server.start(("sh", "-c", "iperf3 -s -1 > /dev/null"), {}, silent=True)
        server.ask(**{"await": 5.0})
        server.answer("listening", 6.0)
        begun = time.monotonic()
        phone.start(("sh", "-c", " ".join(IPERF) + f" > {out}"), {}, silent=True)
        while phone.exit is None:
            time.sleep(0.05)
            phone.poll()
        took = time.monotonic() - begun
        emulation.stop()
        thread.join()
    got = json.loads(out.read_text())["end"]["sum_received"]["bits_per_second"]
    out.unlink()
    first = "yes" if real_time else "no"
    return ["a forwarder alone", f"{got / 1e6:.0f}", *["-"] * 6, f"{cpu / took:.2%}", first]


def slept(spacing_us):
    """Returns a row of the table: the wake-up latency of a real-time thread that only sleeps."""
    late, first = [], []

    def sleep():
        first.append(set_real_time_priority())
        due = time.monotonic()
        end = due + SECONDS
        while due < end:
            due += spacing_us * 1e-6
            if (left := due - time.monotonic()) > 0:
                time.sleep(left)
                late.append(time.monotonic() - due)

    thread = threading.Thread(target=sleep)
    thread.start()
    thread.join()
    times = [*np.quantile(late, (0.5, 0.99, 0.999)), max(late)]
    cells = [number(float(time_s), "s") for time_s in times]
    name = f"a timer alone, every {spacing_us} us"
    return [name, "-", str(len(late)), *cells, "-", "-", "yes" if first[0] else "no"]


def rows():
    for spacing_us in (120, 60, 24):
        yield slept(spacing_us)
    for rate in (100, 200, 500, 1000):
        scenario = Scenario.from_toml(LINK.format(rate=f'rate = "{rate} Mbps"'), "link")
        yield run(f"link, {rate} Mb/s, TCP", scenario, quiet(IPERF))
    for rate in (200, 500):
        scenario = Scenario.from_toml(LINK.format(rate=f'rate = "{rate} Mbps"'), "link")
        paced = quiet((*IPERF, "-u", "-b", f"{rate * 9 // 10}M", "-l", "1400"))
        yield run(f"link, {rate} Mb/s, UDP at 90 %", scenario, paced)
    yield run("link, no rate, TCP", Scenario.from_toml(OPEN, "open"), quiet(IPERF))
    yield forwarded()
    scenario = Scenario.from_toml(LINK.format(rate='rate = "100 Mbps"'), "link")
    yield run("idle", scenario, ("sleep", "20"), server=())
    cell = load(EXAMPLES / "hsdpa-cell.toml")
    yield run("hsdpa, 1 real and 29 simulated", cell, quiet(IPERF), user="reference")


def main() -> None:
    head = ["", "Mb/s", "deliveries", "p50", "p99", "p99.9", "max", "lost", "CPU", "FIFO"]
    found = []
    for row in rows():
        found.append(row)
        print(*row, sep="  ", file=sys.stderr)
    if "--csv" in sys.argv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([head, *found])
    else:
        print("\n".join(aligned([head, *found], range(1, len(head)), min_width=0)))


if __name__ == "__main__":
    main()
