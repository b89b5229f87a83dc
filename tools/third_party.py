"""Writes the licences of all packages in a wheel: crates, and npm's in the playground.

python tools/third_party.py THIRD-PARTY.txt           writes the file
python tools/third_party.py --check THIRD-PARTY.txt   exits 1 if it names other packages

Both need cargo, and writing needs web/node_modules.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ("nodeb-py", "nodeb-web")
BUILD_ONLY = ("esbuild", "typescript")
"""Packages of npm that make the page, and are not in it."""
GRANTED = ("MIT", "BSD-2-Clause", "Zlib", "Apache-2.0")
"""Licences that allow distribution with nodeb, in the order in which one of several is chosen."""
TEXTS = ("LICEN", "COPYING", "NOTICE", "UNLICENSE")
OPENING = """\
A wheel of nodeb holds the packages below: crates in its compiled module and in the playground's
WebAssembly, packages of npm in the playground's script. Of licences to choose from, the one named
is that under which nodeb distributes them. Rust's standard library is distributed under the MIT
licence (https://github.com/rust-lang/rust, COPYRIGHT).
"""


@dataclass(frozen=True, order=True)
class Package:
    """A package that is distributed in a wheel."""

    name: str
    version: str
    licence: str
    folder: Path
    authors: str

    def title(self) -> str:
        return f"{self.name} {self.version} ({self.granted()})"

    def granted(self) -> str:
        """Returns the licence under which it is distributed.

        Raises:
            SystemExit: none of its licences is one of `GRANTED`.
        """
        offered = re.split(r"\s+OR\s+|\s*/\s*", self.licence.strip("()"))
        for licence in GRANTED:
            if licence in offered:
                return licence
        sys.exit(f"error: {self.name}: the licence {self.licence!r} is not one of {GRANTED}")

    def text(self) -> str:
        """Returns the text of its licence, and its notices."""
        files = [one for one in self.folder.iterdir() if one.name.upper().startswith(TEXTS)]
        mark = self.granted().partition("-")[0].upper()
        chosen = [one for one in files if mark in one.name.upper()] or [
            one for one in files if one.stem.upper() in ("LICENSE", "LICENCE")
        ]
        chosen += [one for one in files if one.name.upper().startswith("NOTICE")]
        if not chosen:
            return f"The package holds no text of its licence. Its authors: {self.authors}."
        texts = [one.read_text("utf-8") for one in sorted(chosen)]
        return "\n".join(line.rstrip() for line in "\n".join(texts).strip().splitlines())


def crates() -> Iterator[Package]:
    """Yields the crates in the compiled module or the playground, on any system."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    read = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    metadata = json.loads(read.stdout)
    packages: dict[str, dict[str, Any]] = {one["id"]: one for one in metadata["packages"]}
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    pending = [key for key, one in packages.items() if one["name"] in COMPILED]
    linked: set[str] = set()
    while pending:
        key = pending.pop()
        if key in linked or any("proc-macro" in one["kind"] for one in packages[key]["targets"]):
            continue
        linked.add(key)
        pending += [
            need["pkg"]
            for need in needs[key]
            if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]
    for key in linked - set(metadata["workspace_members"]):
        crate = packages[key]
        folder = Path(crate["manifest_path"]).parent
        authors = ", ".join(crate["authors"]) or crate["name"]
        yield Package(crate["name"], crate["version"], crate["license"], folder, authors)


def scripts() -> Iterator[Package]:
    """Yields the packages of npm that the playground's script is made of."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text("utf-8"))["packages"]
    pending = [name for name in lock[""]["devDependencies"] if name not in BUILD_ONLY]
    bundled: set[str] = set()
    while pending:
        name = pending.pop()
        if name in bundled:
            continue
        bundled.add(name)
        package = lock[f"node_modules/{name}"]
        pending += package.get("dependencies", {})
        folder = ROOT / "web/node_modules" / name
        yield Package(name, package["version"], package["license"], folder, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    packages = [*sorted(crates()), *sorted(scripts())]
    titles = [package.title() for package in packages]
    if arguments.check:
        text = arguments.file.read_text("utf-8")
        listed = re.findall(r"^={3,}\n(.+)\n={3,}$", text, re.MULTILINE)
        if differing := sorted(set(listed) ^ set(titles)):
            sys.exit(f"error: {arguments.file} is stale ({differing[0]}); run `make licences`")
        return
    line = "=" * 80
    parts = [f"{line}\n{one.title()}\n{line}\n\n{one.text()}\n" for one in packages]
    arguments.file.write_text("\n".join([OPENING, *parts]), "utf-8")


if __name__ == "__main__":
    main()
