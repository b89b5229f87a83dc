"""What a cluster costs: memory over many cells, the scheduler's and the writer's limit, overhead.

    python benches/cluster.py memory [--cells N]     # of a sweep of tiny cells; cells/s
    python benches/cluster.py scheduler [--tasks N]  # empty tasks/s, and bundles that carry bytes
    python benches/cluster.py writer [--cells N]     # cells/s of the client alone
    python benches/cluster.py client [--cells N]     # its memory where cells cost nothing
    python benches/cluster.py overhead [--rounds N]  # against --jobs 2, in turns

Everything is on this machine, a scheduler and two workers as processes of their own. `nodeb` is
the one on PYTHONPATH or installed. What the numbers mean is on the page docs/cluster/cost.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python/helpers"))

from clusters import Processes  # noqa: E402

SWEEP = """
name = "tiny"
runs = 1
[wired]
rate = "10 Mbps"
[[users]]
traffic.ftp.size = "{size}"
[sweep]
radio.dch.bler = {{ from = 0.0, to = 0.4, steps = {steps} }}
wired.delay = {{ from = "1 ms", to = "200 ms", steps = {others} }}
"""
TINY = "2 kB"
LOOK_S = 2.0
SHOWN = 10
"""Every so many looks a line is written."""
WORKERS = 2


def scenario(folder: Path, cells: int, size: str, runs: int = 1) -> Path:
    """A sweep of so many cells, made of two axes."""
    steps = max(n for n in range(2, int(cells**0.5) + 1) if cells % n == 0)
    text = SWEEP.format(size=size, steps=steps, others=cells // steps)
    file = folder / "tiny.toml"
    file.write_text(text.replace("runs = 1", f"runs = {runs}"))
    return file


def nodeb(file: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    """A sweep as a process."""
    command = [sys.executable, "-m", "nodeb", "sweep", str(file), "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def memory(options: argparse.Namespace) -> None:
    """Memory of client, scheduler and workers while a sweep of tiny cells runs."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = scenario(Path(folder), options.cells, TINY), Path(folder) / "out"
        cluster = Processes(Path(folder), WORKERS)
        begin = time.monotonic()
        client = nodeb(file, out, "--cluster", cluster.address)
        names = ["client", "scheduler", *(f"worker {n + 1}" for n in range(WORKERS))]
        processes = [client, cluster.scheduler, *cluster.workers]
        seen: list[tuple[float, int, list[float]]] = []
        print(f"{options.cells} cells of one replication, {WORKERS} workers; MiB")
        print("time_s   cells   " + "  ".join(f"{name:>9}" for name in names), flush=True)
        while client.poll() is None:
            time.sleep(LOOK_S)
            sizes = [_resident_mib(one) for one in processes]
            seen.append((time.monotonic() - begin, _files(out / "cells"), sizes))
            if len(seen) % SHOWN == 0:
                _print_line(*seen[-1])
        cluster.close()
    if client.returncode:
        sys.exit(client.stderr.read().decode() if client.stderr else "failed")
    peaks = [max(one[2][n] for one in seen) for n in range(len(names))]
    print("most             " + "  ".join(f"{one:9.0f}" for one in peaks))
    first = next(one for one in seen if one[1] > 0)
    last = next(one for one in seen if one[1] == max(each[1] for each in seen))
    print(
        f"reading {first[0]:.0f} s, "
        f"simulating {(last[1] - first[1]) / (last[0] - first[0]):.0f} cells/s, "
        f"table {seen[-1][0] - last[0]:.0f} s"
    )


def scheduler(options: argparse.Namespace) -> None:
    """How many tasks a scheduler hands out, and how much a bundle may carry."""
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        cluster = Processes(Path(folder), WORKERS)
        with Client(cluster.address, set_as_default=False) as client:
            for called, size in (("empty", 0), ("100 kB out, 1 MB back", 1)):
                tasks = options.tasks if not size else max(options.tasks // 20, 20)
                spent = _cpu_s(cluster.scheduler)
                begin = time.monotonic()
                done = 0
                for future in _few(tasks, lambda n, size=size: _task(client, n, size)):
                    future.result()
                    done += 1
                wall_s = time.monotonic() - begin
                spent = _cpu_s(cluster.scheduler) - spent
                print(
                    f"{called}: {done / wall_s:.0f} tasks/s, "
                    f"{1e6 * spent / done:.0f} us of the scheduler for each "
                    f"(at most {done / spent:.0f} tasks/s)"
                )
        cluster.close()


def _task(client, number: int, size: int):  # type: ignore[no-untyped-def]
    return client.submit(_carry, bytes(size * 100_000), size * 1_000_000, number, pure=False)


def _carry(data: bytes, back: int, number: int) -> bytes:
    """Does nothing, with something to carry there and back."""
    del data, number
    return bytes(back)


def _few(tasks: int, submit: Callable[[int], object]) -> Iterator[object]:
    """What comes of tasks, of which few are under way, as nodeb sends them."""
    waiting = []
    for number in range(tasks):
        waiting.append(submit(number))
        if len(waiting) == 50 * WORKERS:
            yield waiting.pop(0)
    yield from waiting


def writer(options: argparse.Namespace) -> None:
    """What a cell costs the client: reading, sending, receiving, writing, and the table."""
    import pickle

    from nodeb import _core
    from nodeb.replication.cells import Filler, _Replicating, source
    from nodeb.replication.cluster.packing import Packer, unpacked
    from nodeb.replication.work import Task
    from nodeb.storage.store import Store
    from nodeb.sweep import Sweep

    with tempfile.TemporaryDirectory() as folder:
        file = scenario(Path(folder), options.cells, TINY)
        found: dict[str, float] = {}
        with _Timed(found, "read and check the sweep"):
            plan = Sweep.load(file)
            plan.warnings()
        some = plan.cells[: min(2000, options.cells)]
        with _Timed(found, "pack a task"):
            data, arrays = Packer().pack(
                [Task(_Replicating(source(one)), 1, range(1)) for one in some]
            )
        tasks = unpacked(data, arrays)
        with _Timed(found, "(worker) simulate"):
            results = [task(_core.Control()) for task in tasks]
        with _Timed(found, "(worker) pickle the result"):
            back = pickle.dumps(results, protocol=pickle.HIGHEST_PROTOCOL)
        with _Timed(found, "unpickle the result"):
            results = pickle.loads(back)
        sizes = len(data) / len(some), len(back) / len(some)

        place = Path(folder) / "cells"
        store = Store(place)
        store.open()
        with _Timed(found, "engine and writing"):
            Filler(plan.cells, 1, 1, store, Free(results)).run()
        with _Timed(found, "table"):
            plan.run(Path(folder) / "out", jobs=Free(results))
        found["table"] -= found["engine and writing"]
    per = dict.fromkeys(found, options.cells) | {
        name: len(some)
        for name in (
            "pack a task",
            "(worker) simulate",
            "(worker) pickle the result",
            "unpickle the result",
        )
    }
    print(f"CPU time for each of {options.cells} cells, us")
    for name, spent in found.items():
        print(f"{name:28} {1e6 * spent / per[name]:8.0f}")
    client = sum(1e6 * spent / per[name] for name, spent in found.items() if name[0] != "(")
    busy = sum(
        1e6 * found[n] / per[n]
        for n in ("pack a task", "unpickle the result", "engine and writing")
    )
    print(f"a task is {sizes[0]:.0f} B, its result {sizes[1]:.0f} B")
    print(
        f"the client alone: {1e6 / busy:.0f} cells/s while it writes, "
        f"{1e6 / client:.0f} cells/s in all"
    )


def client(options: argparse.Namespace) -> None:
    """Memory of the client with many cells, where simulating and writing cost nothing."""
    from nodeb import _core
    from nodeb.replication.cells import Filler, _Replicating, source
    from nodeb.replication.work import Task
    from nodeb.storage.store import Store
    from nodeb.sweep import Sweep

    class Nowhere(Store):
        """Keeps nothing."""

        def save(self, *_: object) -> None:
            pass

    class Watched(Filler):
        """Tells of its memory now and then."""

        def report(self) -> None:
            if self.completed >= self._next_told:
                self._next_told += options.cells // SHOWN
                _print_own(f"{self.completed} cells done")

        _next_told = 0

    with tempfile.TemporaryDirectory() as folder:
        _print_own("nothing read")
        plan = Sweep.load(scenario(Path(folder), options.cells, TINY))
        _print_own(f"{len(plan.cells)} cells read")
        store = Nowhere(Path(folder) / "cells")
        store.open()
        result = Task(_Replicating(source(plan.cells[0])), 1, range(1))(_core.Control())
        Watched(plan.cells, 1, 1, store, Free([result])).run()
        _print_own("all done")


def _print_own(when: str) -> None:
    status = Path("/proc/self/status").read_text().splitlines()
    size = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    print(f"{when:24} {size:6.0f} MiB, {time.process_time():6.0f} s of CPU", flush=True)


class Free:
    """A pool whose work is done at once.

    Args:
        results: what comes of it, over and over.
    """

    width, batch_s = 2, 1.0

    def __init__(self, results: Sequence[object]) -> None:
        self._results = results
        self._done: dict[object, object] = {}

    def __len__(self) -> int:
        return len(self._done)

    @property
    def full(self) -> bool:
        """Whether there is a bundle."""
        return len(self._done) >= 2000

    def submit(self, key: object, work: object) -> None:
        """Does it."""
        del work
        self._done[key] = self._results[len(self._done) % len(self._results)]

    def ended(self) -> dict[object, object]:
        """All that was submitted."""
        done, self._done = self._done, {}
        return done

    def cancel(self, unwanted: object) -> None:
        """Nothing is under way."""

    def progress(self, weight: object) -> float:
        """Nothing is under way."""
        del weight
        return 0.0

    def close(self) -> None:
        """Nothing is open."""

    def pool(self) -> Free:
        """Itself."""
        return self


class _Timed:
    """Notes the CPU time of a block."""

    def __init__(self, found: dict[str, float], name: str) -> None:
        self._found, self._name = found, name

    def __enter__(self) -> None:
        self._begin = time.process_time()

    def __exit__(self, *error: object) -> None:
        self._found[self._name] = time.process_time() - self._begin


def overhead(options: argparse.Namespace) -> None:
    """A sweep on two workers and on two threads, in turns: wall clock, and CPU time of all."""
    with tempfile.TemporaryDirectory() as folder:
        file = scenario(Path(folder), options.cells, options.size, 3)
        cluster = Processes(Path(folder), WORKERS)
        everybody = [cluster.scheduler, *cluster.workers]
        walls, cpus = [], []
        print("--jobs: wall, CPU; --cluster: wall, CPU; s")
        for n in range(options.rounds):
            order = [("--cluster", cluster.address), ("--jobs", str(WORKERS))]
            took = {
                one[0]: _spent(file, Path(folder) / f"{n}{one[0]}", one, everybody)
                for one in (order if n % 2 else order[::-1])
            }
            here, there = took["--jobs"], took["--cluster"]
            walls.append(there[0] / here[0])
            cpus.append(there[1] / here[1])
            print("  ".join(f"{one:.1f}" for one in (*here, *there)), flush=True)
        cluster.close()
    for name, ratios in (("wall", walls), ("CPU", cpus)):
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        median = statistics.median(ratios)
        print(f"--cluster / --jobs {WORKERS}, {name}: median {median:.3f}, {spread}")


def _spent(
    file: Path,
    out: Path,
    options: tuple[str, str],
    others: Sequence[subprocess.Popen[bytes]],
) -> tuple[float, float]:
    """Wall clock of a sweep, and the CPU time that it and the others took, s."""

    def spent() -> float:
        return sum(os.times()[2:4]) + sum(map(_cpu_s, others))

    begin, before = time.monotonic(), spent()
    process = nodeb(file, out, *options)
    _, err = process.communicate()
    if process.returncode:
        sys.exit(err.decode())
    return time.monotonic() - begin, spent() - before


def _resident_mib(process: subprocess.Popen[bytes]) -> float:
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    parts = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _files(folder: Path) -> int:
    try:
        with os.scandir(folder) as found:
            return sum(1 for _ in found)
    except OSError:
        return 0


def _print_line(time_s: float, cells: int, sizes: list[float]) -> None:
    print(f"{time_s:6.0f} {cells:7}   " + "  ".join(f"{one:9.0f}" for one in sizes), flush=True)


def main() -> None:
    """Measures what the command line says."""
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    what = line.add_subparsers(required=True, dest="what")
    for measure, numbers in (
        (memory, {"cells": 100_000}),
        (scheduler, {"tasks": 5_000}),
        (writer, {"cells": 5_000}),
        (client, {"cells": 1_000_000}),
        (overhead, {"cells": 300, "rounds": 6}),
    ):
        one = what.add_parser(measure.__name__, help=(measure.__doc__ or "").strip())
        for name, value in numbers.items():
            one.add_argument(f"--{name}", type=int, default=value)
        one.set_defaults(run=measure)
    what.choices["overhead"].add_argument("--size", default="2 MB")
    options = line.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
