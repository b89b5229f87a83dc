"""Draws the figures of the gallery: docs/gallery.toml to docs/images/gallery and gallery.json.

python docs/draw_gallery.py            # all
python docs/draw_gallery.py dch-50k    # one example
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

import nodeb
from nodeb.plot.source import save

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import gallery  # noqa: E402

SHADES = 64
"""Number of colours of an image: enough for smooth text, at a third of the file size."""


def main(names: Iterable[str]) -> None:
    plan = gallery.plan()
    chosen = list(names) or list(plan)
    if unknown := set(chosen) - set(plan):
        sys.exit(f"error: no example {', '.join(sorted(unknown))} (there is: {', '.join(plan)})")
    of = gallery.drawn() if gallery.DRAWN.exists() else {}
    for name in chosen:
        print(f"{name}: {plan[name]['command']}", flush=True)
        with folder_of_examples() as folder:
            of[name] = draw(name, plan[name], folder)
    kept = {name: of[name] for name in plan if name in of}
    gallery.DRAWN.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


@contextlib.contextmanager
def folder_of_examples() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        yield Path(folder)


def draw(name: str, entry: Mapping[str, str], folder: Path) -> dict[str, Any]:
    command(entry["command"])
    (provenance,) = folder.glob("out/*/provenance.json")
    about = json.loads(provenance.read_text(encoding="utf-8"))
    target = folder / gallery.picture(name).name
    if "plot" in entry:
        command(f"{entry['plot']} --out {target}")
    else:
        save(figure(entry["python"]), target)
    shrink(target, gallery.DOCS / gallery.picture(name))
    text = (ROOT / "examples" / f"{name}.toml").read_bytes()
    return {
        "example_sha256": hashlib.sha256(text).hexdigest(),
        "seed": about["seed"],
        "nodeb": nodeb.__version__,
    }


def command(line: str) -> None:
    """Runs a command line of nodeb, without printing its output."""
    program, *rest = shlex.split(line)
    if program != "nodeb":
        raise ValueError(f"`{program}` is not `nodeb`")
    path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environ = os.environ | {"PYTHONPATH": path}
    subprocess.run(
        [sys.executable, "-m", "nodeb", *rest], env=environ, check=True, stdout=subprocess.DEVNULL
    )


def figure(code: str) -> Any:
    names: dict[str, Any] = {"nodeb": nodeb}
    exec(code, names)
    return names["figure"]


def shrink(source: Path, target: Path) -> None:
    """Equal images give equal files."""
    data = io.BytesIO()
    with Image.open(source) as image:
        image.convert("RGB").quantize(SHADES).save(data, format="PNG", optimize=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.getvalue())


if __name__ == "__main__":
    main(sys.argv[1:])
