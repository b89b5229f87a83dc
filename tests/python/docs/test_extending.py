"""Tests: additions on the pages compile, and change only the files that the pages name."""

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
PAGES = sorted((REPOSITORY / "docs/extending").glob("*.md"))

#: For each page with a table of files, a component that was added to nodeb as the page describes.
ADDITIONS = {
    "scheduler": "tcp_aware",
    "queue": "fq_codel",
    "switching-policy": "longest_queue",
    "congestion-control": "scalable",
}
#: Paths in which the names of components are searched: code, generated types, and snapshots of
#: lists of names.
PLACES = ["crates/*/src", "python/nodeb/scenario_types.py", "crates/sim/tests/snapshots"]


def touched(page: str) -> list[str]:
    """Returns the files that the page's table lists as changed by an addition."""
    text = (REPOSITORY / f"docs/extending/{page}.md").read_text()
    _, _, table = text.partition("| File | What |")
    rows = table.split("\n\n")[0].splitlines()[2:]
    return [file for row in rows for file in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_named_on_page_exist(page: Path) -> None:
    named = r"(?:`|\")((?:crates|examples|python|docs|tests)/[\w./-]+)"
    for file in re.findall(named, page.read_text()):
        assert (REPOSITORY / file).exists(), file


@pytest.mark.parametrize("page", ADDITIONS)
def test_addition_touches_files_of_table_and_no_others(page: str) -> None:
    name, listed = ADDITIONS[page], touched(page)
    forms = {name, "".join(word.title() for word in name.split("_"))}
    wanted = [option for form in forms for option in ("-e", form)]
    search = ["git", "grep", "--untracked", "-lw", *wanted, "--", *PLACES]
    done = subprocess.run(search, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    tests = re.compile(r"crates/\w+/src/.*/tests/")
    found = {file for file in done.stdout.split() if not tests.match(file)}
    assert found <= set(listed)
    in_words = re.compile("|".join({*forms, name.replace("_", "[- ]")}), re.IGNORECASE)
    for file in (file for file in listed if "/" in file):
        assert in_words.search((REPOSITORY / file).read_text()), file


@pytest.mark.parametrize("page", [*ADDITIONS, "error-model"])
def test_page_shows_component_that_is_built_and_registered(page: str) -> None:
    text = (REPOSITORY / f"docs/extending/{page}.md").read_text()
    (module,) = re.findall(r'--8<-- "examples/plugins/src/(\w+)\.rs"', text)
    registered = (REPOSITORY / "examples/plugins/src/lib.rs").read_text()
    assert f"pub mod {module};" in registered
    assert f'"{module}"' in registered
    assert (REPOSITORY / f"examples/plugins/scenarios/{module}.toml").exists()
    assert re.search(r"^make .*\bplugins\b", (REPOSITORY / ".ci/run").read_text(), re.MULTILINE)
