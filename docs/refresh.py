"""Runs the commands whose output the pages show, and stores what they give.

    python docs/refresh.py numbers [SET ...]     # numbers.toml -> numbers.json
    python docs/refresh.py gallery [NAME ...]    # gallery.toml -> gallery.json, images/gallery
    python docs/refresh.py consoles [PAGE ...]   # the outputs in blocks of the language `console`
    python docs/refresh.py front                 # images/front-light.png, front-dark.png

In a block of the language `console`, lines that begin with `$ ` are commands, followed by their
output at 80 columns. A last line `[...]` replaces the rest of an output. The blocks of a page share
a temporary folder with a link `examples` to the project's examples.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from PIL import Image

import nodeb
from nodeb.plot.source import save

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT / "tests" / "python" / "helpers")]
import generator  # noqa: E402

SESSION = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
REST = "[...]"
SHADES = 64
"""Number of colours of an image: enough for smooth text, at a third of the file size."""
TABLES = {"sweep": "sweep.parquet", "compare": "comparison.parquet"}
FRONT = "examples/dch-50k.toml"
MEDIAN = 5
"""Replication of `FRONT` whose download took the median time."""
MARGIN = 16
"""Pixels."""
PACKETS = {"x": 20, "y": 0, "width": 960, "height": 462}
"""Part of the page of lives: packets and critical path, in CSS pixels from the top of its stage."""
Entry = Mapping[str, Any]
Row = dict[str, Any]


def main(what: str, *names: str) -> None:
    if what == "consoles":
        for page in map(Path, names or [ROOT / "README.md", *DOCS.rglob("*.md")]):
            text = page.read_text("utf-8")
            with examples() as folder:
                page.write_text(SESSION.sub(lambda block: session(block[1], folder), text), "utf-8")
        return
    if what == "front":
        front()
        return
    plan = tomllib.loads((DOCS / f"{what}.toml").read_text("utf-8"))
    if unknown := set(names) - set(plan):
        sys.exit(f"error: no {', '.join(sorted(unknown))} in {what}.toml")
    stored = generator.data(f"{what}.json")
    for name in names or plan:
        print(f"{name}: {plan[name]['command']}", flush=True)
        with examples() as folder:
            stored[name] = {"numbers": measured, "gallery": drawn}[what](name, plan[name], folder)
    ordered = {name: stored[name] for name in plan if name in stored}
    (DOCS / f"{what}.json").write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


@contextlib.contextmanager
def examples() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        yield Path(folder)


def output(command: str, folder: Path) -> str:
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": f"{ROOT}/python"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"`{command}` failed with status {done.returncode}:\n{done.stderr}")
    return done.stdout


# --- Consoles ---


def session(text: str, folder: Path) -> str:
    """Runs the commands of a block, and returns the block with their current outputs."""
    lines: list[str] = []
    for part in re.split(r"^(?=\$ )", text, flags=re.M)[1:]:
        command, *before = part.splitlines()
        printed = output(command.removeprefix("$ "), folder).rstrip().splitlines()
        after = [line.rstrip() for line in printed]
        if before and before[-1] == REST:
            after = [*after[: len(before) - 1], REST]
        lines += [command, *after]
    return "\n".join(["```console", *lines, "```"])


# --- Figures of the gallery ---


def drawn(name: str, entry: Entry, folder: Path) -> Row:
    output(entry["command"], folder)
    (provenance,) = folder.glob("out/*/provenance.json")
    target = folder / "figure.png"
    if "plot" in entry:
        output(f"{entry['plot']} --out {target}", folder)
    else:
        names: Row = {"nodeb": nodeb}
        with contextlib.chdir(folder):
            exec(entry["python"], names)
        save(names["figure"], target)
    shrink(target, DOCS / generator.picture(name))
    text = (ROOT / generator.file_of(name)).read_bytes()
    return {
        "example_sha256": hashlib.sha256(text).hexdigest(),
        "seed": json.loads(provenance.read_text("utf-8"))["seed"],
        "nodeb": nodeb.__version__,
    }


def shrink(source: Path, target: Path) -> None:
    """Equal images give equal files."""
    data = io.BytesIO()
    with Image.open(source) as image:
        image.convert("RGB").quantize(SHADES).save(data, format="PNG", optimize=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.getvalue())


# --- Picture of the front page: packets of a download, above the causes of its duration ---


def front() -> None:
    from browsers import chromium

    sharp = {"device_scale_factor": 1.25}
    with examples() as folder, chromium() as browser, browser.new_page(**sharp) as page:
        output(f"nodeb explain {FRONT} --report why.html", folder)
        output(f'nodeb life {FRONT} --run {MEDIAN} --to "3 s" --out life', folder)
        page.set_viewport_size({"width": 1000, "height": 1200})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto((folder / "life" / "life.html").as_uri())
            top = page.locator("#stage").bounding_box()["y"]
            page.screenshot(path=folder / "life.png", clip=PACKETS | {"y": top})
            page.goto((folder / "why.html").as_uri())
            page.locator(".rank").screenshot(path=folder / "why.png")
            stack([folder / "life.png", folder / "why.png"], folder / "front.png")
            shrink(folder / "front.png", DOCS / "images" / f"front-{scheme}.png")


def stack(sources: Iterable[Path], target: Path) -> None:
    """Joins images, one above the other, with a margin around each."""
    images = [Image.open(source).convert("RGB") for source in sources]
    width = max(one.width for one in images) + 2 * MARGIN
    height = sum(one.height + MARGIN for one in images) + MARGIN
    whole = Image.new("RGB", (width, height), images[-1].getpixel((0, 0)))
    top = MARGIN
    for one in images:
        whole.paste(one, (MARGIN, top))
        top += one.height + MARGIN
    whole.save(target)


# --- Numbers ---


def measured(name: str, entry: Entry, folder: Path) -> Row:
    verb = entry["command"].split()[1]
    output(f"{entry['command']} --out out", folder)
    rows = pq.read_table(folder / "out" / TABLES[verb]).to_pylist()
    numbers = {key: number(rows, verb, wanted) for key, wanted in entry["numbers"].items()}
    (seed,) = {row["seed"] for row in rows}
    return {
        "command": entry["command"], "means": entry["means"], "seed": seed, "numbers": numbers
    }  # fmt: skip


def number(rows: Iterable[Row], verb: str, wanted: Entry) -> Row:
    where = dict(wanted["where"]) | ({"metric": wanted["metric"]} if verb == "compare" else {})
    fitting = [row for row in rows if all(row[key] == value for key, value in where.items())]
    if len(fitting) != 1:
        raise ValueError(f"{len(fitting)} rows have {where}")
    shown, scale = wanted.get("as", "mean"), float(wanted.get("scale", 1))
    ends = of_compare(fitting[0], shown) if verb == "compare" else of_sweep(fitting[0], wanted)
    value, low, high = (scale * end for end in ends)
    return {
        "value": value, "low": low, "high": high,
        "n": fitting[0]["pairs" if verb == "compare" else "runs"],
        "unit": wanted["unit"], "digits": wanted["digits"], "as": shown,
    }  # fmt: skip


def of_sweep(row: Row, wanted: Entry) -> tuple[float, float, float]:
    """Returns the mean or difference of a metric in a cell, with its 95 % interval."""
    name = wanted["metric"] + ("_diff" if wanted.get("as") == "difference" else "")
    return row[name], row[f"{name}_ci95_low"], row[f"{name}_ci95_high"]


def of_compare(row: Row, shown: str) -> tuple[float, float, float]:
    """Returns the difference from the baseline with its 95 % interval, absolute or in percent."""
    if row["confidence"] != 0.95:
        raise ValueError("several scenarios were compared: the intervals are wider than 95 %")
    if shown == "percent":
        return tuple(100 * (row[key] - 1) for key in ("ratio", "ratio_low", "ratio_high"))
    return row["difference"], row["difference_low"], row["difference_high"]


if __name__ == "__main__":
    main(*sys.argv[1:])
