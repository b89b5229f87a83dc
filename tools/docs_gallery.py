"""Draws the pictures of the gallery: docs/gallery.toml to docs/images/gallery and gallery.json.

python tools/docs_gallery.py            # all
python tools/docs_gallery.py dch-50k    # one example
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
"""Colours of a picture: enough for smooth edges of letters, and a third of the bytes."""


def main(names: Iterable[str]) -> None:
    """Draws some pictures, or all."""
    plan = gallery.plan()
    chosen = list(names) or list(plan)
    if unknown := set(chosen) - set(plan):
        sys.exit(f"error: no example {', '.join(sorted(unknown))} (there is: {', '.join(plan)})")
    of = gallery.drawn() if gallery.DRAWN.exists() else {}
    for name in chosen:
        print(f"{name}: {plan[name]['command']}", flush=True)
        with where_examples_are() as folder:
            of[name] = draw(name, plan[name], folder)
    kept = {name: of[name] for name in plan if name in of}
    gallery.DRAWN.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


@contextlib.contextmanager
def where_examples_are() -> Iterator[Path]:
    """A folder with nothing but the examples, in which a reader's commands are given."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        yield Path(folder)


def draw(name: str, entry: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Runs an example, draws its picture, and tells what it was drawn from."""
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
    """Gives one of nodeb's commands.

    Raises:
        ValueError: it is another program's.
    """
    program, *rest = shlex.split(line)
    if program != "nodeb":
        raise ValueError(f"`{program}` is none of nodeb's commands")
    path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environ = os.environ | {"PYTHONPATH": path}
    subprocess.run(
        [sys.executable, "-m", "nodeb", *rest], env=environ, check=True, stdout=subprocess.DEVNULL
    )


def figure(code: str) -> Any:
    """What lines of Python draw."""
    names: dict[str, Any] = {"nodeb": nodeb}
    exec(code, names)
    return names["figure"]


def shrink(source: Path, target: Path) -> None:
    """Writes a picture with few colours; the same picture is the same file."""
    data = io.BytesIO()
    with Image.open(source) as image:
        image.convert("RGB").quantize(SHADES).save(data, format="PNG", optimize=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.getvalue())


if __name__ == "__main__":
    main(sys.argv[1:])
