"""Tests: console sessions on the pages show what their commands print."""

import consoles
import pytest


@pytest.mark.parametrize("page", consoles.pages(), ids=lambda page: page.stem)
def test_console_blocks_of_pages_are_current(page):
    text = page.read_text("utf-8")
    assert consoles.refreshed(text) == text, f"run `python tools/consoles.py --write {page.name}`"


def test_output_is_replaced_up_to_the_ellipsis(tmp_path):
    text = "$ printf 'one\\ntwo\\nthree\\n'\nold\n[...]\n$ echo 4\n"
    assert consoles.session(text, tmp_path) == (
        "$ printf 'one\\ntwo\\nthree\\n'\none\n[...]\n$ echo 4\n4\n"
    )


def test_failing_command_is_reported(tmp_path):
    with pytest.raises(SystemExit, match="status 3"):
        consoles.session("$ exit 3\n", tmp_path)
