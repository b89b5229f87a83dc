"""Folders of results: `provenance.json` says what made one; whole results are renamed into place.

While a command works on `out/a`, it holds a lock on the hidden folder `out/.a.tmp`. Whole results
are written there and renamed to `out/a`. Sweeps, comparisons and studies continue in the folder
itself: their files are written one by one, and `provenance.json` says last that they are complete.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from nodeb.errors import OutputError, writing
from nodeb.storage.cells import FILES
from nodeb.storage.files import write_json

MARK = "provenance.json"
ANOTHER = "give another folder (--out)"
Mark = dict[str, Any]
fcntl: Any = import_module("fcntl") if os.name == "posix" else None


@dataclass(frozen=True)
class Owner:
    """What a folder of results was made by and of."""

    kind: str
    """Command: `run`, `sweep`, `comparison`, `reproduction`, `fit`, `link`, `life`, `emulation`."""
    of: str
    """Name of the source: a file, a scenario, a study."""
    about: Mapping[str, Any] = field(default_factory=dict)
    made_of: str = ""
    """Hash of the inputs, without the number of replications; "" for none."""
    runs: int | None = None
    """Replications to be written, 0 for an incomplete link result; None if unknown."""

    def refuses(self, mark: Mark) -> str | None:
        """Why a folder with this mark must not be replaced: the end of `FOLDER ...`."""
        held = f"holds a {mark['kind']} of {mark['of']}"
        if (mark["kind"], mark["of"]) != (self.kind, self.of):
            return held
        if mark.get("made_of", "") != self.made_of:
            return f"{held} with other settings"
        there = mark.get("runs", 0) if mark["complete"] else 0
        if self.runs is not None and there > self.runs:
            return f"{held} with {there} replications, not {self.runs}" if self.runs else held
        return None


class RefusedError(OutputError):
    """A folder holds results that must not be replaced."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; {ANOTHER}, or replace that with --force")
        self.why = why


class Place:
    """A folder claimed for results until the end of the `with` block."""

    def __init__(self, shown: Path, owner: Owner, *, force: bool, resumes: bool) -> None:
        self.shown, self.owner = shown, owner
        self.path = Path(os.path.realpath(shown))
        self.replaces: str | None = None
        """Another owner's results that will be replaced."""
        self.beside: str | None = None
        """Why this is not the folder that was asked for."""
        self.is_put = False
        if not self.path.name:
            raise OutputError(f"{shown} is the root folder; {ANOTHER}")
        self._part = self.path.with_name(f".{self.path.name}.tmp")
        self._old = self.path.with_name(f".{self.path.name}.old")
        self._lock = _locked(self._part, shown)
        try:
            self.before = self._examined(force, resumes)
        except BaseException:
            self.close()
            raise

    def _examined(self, force: bool, resumes: bool) -> Mark | None:
        self._end_exchange()
        _remove_parts(self.path, [MARK])
        mark = read_mark(self.path, self.shown)
        if mark is not None:
            why = self.owner.refuses(mark)
            if why is not None and not force:
                raise RefusedError(f"{self.shown} {why}")
            if why is not None:
                self.replaces = f"a {mark['kind']} of {mark['of']}"
            _remove_parts(self.path, mark["files"])
        if self.replaces or not resumes:
            if os.path.ismount(self.path):
                raise OutputError(f"{self.shown} is a mount point; give a folder in it")
            if Path.cwd().is_relative_to(self.path):
                raise OutputError(f"{self.shown} is the folder you are in or above it; {ANOTHER}")
            self.refuse_unlisted(mark)
        if resumes:
            if self.replaces:
                self.path.rename(self._old)
                mark = None
            self.path.mkdir(exist_ok=True)
            self._end_exchange()
        return mark

    def _end_exchange(self) -> None:
        """Removes the old folder, or restores it if a killed process had no new one yet."""
        if self._old.exists() and not self.path.exists():
            self._old.rename(self.path)
        shutil.rmtree(self._old, ignore_errors=True)

    def refuse_unlisted(self, mark: Mark | None, names: Iterable[str] | None = None) -> None:
        """Refuses a folder with files (those of `names`, None for any) that its mark lacks."""
        there = set(os.listdir(self.path)) if mark is not None else set()
        odd = there - {MARK, *FILES, *(mark or {}).get("files", ())}
        odd &= odd if names is None else set(names)
        if odd:
            raise OutputError(
                f"{self.shown} holds `{min(odd)}`, which nodeb did not put there; {ANOTHER}"
            )

    def put(self, write: Callable[[Path], None], about: Mapping[str, Any]) -> Path:
        """Writes whole results by `write(temporary folder)` and renames them into place."""
        with writing(f"write results to {self.shown}"):
            write(self._part)
            self._mark(self._part, os.listdir(self._part), about, complete=True)
            if self.path.exists():
                self.path.rename(self._old)
            self._part.rename(self.path)
            self.is_put = True
            self._end_exchange()
        return self.shown

    def has_more(self, runs: int) -> bool:
        """Whether the folder has complete results of more replications."""
        return self.before is not None and bool(replace(self.owner, runs=runs).refuses(self.before))

    def mark(self, names: Iterable[str], about: Mapping[str, Any], *, complete: bool) -> None:
        """Writes `provenance.json` of a folder that is filled file by file."""
        with writing(f"write results to {self.shown}"):
            self._mark(self.path, names, about, complete=complete)

    def _mark(
        self, folder: Path, names: Iterable[str], about: Mapping[str, Any], *, complete: bool
    ) -> None:
        owner = self.owner
        of = {"kind": owner.kind, "of": owner.of, "made_of": owner.made_of, **owner.about}
        mark = {**of, "complete": complete, "files": sorted(names), **about}
        write_json(folder / MARK, mark)

    def close(self) -> None:
        """Removes what was not put, and lets other processes use the folder."""
        if self._lock is not None:
            if not self.is_put:
                shutil.rmtree(self._part, ignore_errors=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def claim(
    folder: str | os.PathLike[str],
    owner: Owner,
    *,
    force: bool = False,
    resumes: bool = False,
    beside: bool = False,
) -> Place:
    """Claims a folder before a simulation spends time on results for it.

    Args:
        folder: folder for the results; created when they are written.
        owner: what makes the results.
        force: replace results of another owner.
        resumes: continue in an own folder instead of replacing it.
        beside: take the first free one of `folder`, `folder-2`, `folder-3` ...

    Raises:
        RefusedError: the folder has results that must not be replaced.
        OutputError: it cannot be written, has other files, or another process works on it.
    """
    first, why = Path(folder), None
    for number in itertools.count(1):
        shown = first if number == 1 else first.with_name(f"{first.name}-{number}")
        try:
            with writing(f"write results to {shown}"):
                place = Place(shown, owner, force=force, resumes=resumes)
        except RefusedError as error:
            if not beside:
                raise
            why = why or error.why
        except ValueError as error:  # A name with a null byte.
            raise OutputError(f"cannot write results to {shown}: {error}") from None
        else:
            place.beside = why
            return place
    raise AssertionError


def read_mark(path: Path, shown: Path) -> Mark | None:
    """A folder's provenance; `None` if it is missing or empty.

    Raises:
        OutputError: nodeb did not make the folder.
    """
    if not path.is_dir() or not os.listdir(path):
        if path.exists() and not path.is_dir():
            raise OutputError(f"{shown} is a file; {ANOTHER}")
        return None
    try:
        mark: Mark = json.loads((path / MARK).read_bytes())
        return mark if {"kind", "of", "files", "complete"} <= set(mark) else mark["files"]
    except FileNotFoundError:
        odd = min(os.listdir(path))
        raise OutputError(
            f"{shown} holds `{odd}`, which nodeb did not put there; {ANOTHER}"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise OutputError(f"{shown}: its {MARK} is not nodeb's; {ANOTHER}") from None


def _remove_parts(folder: Path, names: Iterable[str]) -> None:
    """Removes what a killed process had not renamed to one of these files yet."""
    for name in names:
        for part in folder.glob(f".{escape(name)}.*.tmp"):
            part.unlink()


def note(file: Path) -> None:
    """Adds a picture or page to the files that its folder's provenance lists, if any."""
    try:
        mark = read_mark(file.parent, file.parent)
    except OutputError:
        return
    if mark is not None:
        mark["files"] = sorted({*mark["files"], file.name})
        write_json(file.parent / MARK, mark)


def _locked(part: Path, shown: Path) -> int | None:
    """Creates an empty folder and locks it until its handle is closed or the process ends."""
    while True:
        part.mkdir(parents=True, exist_ok=True)
        lock = os.open(part, os.O_RDONLY)
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise OutputError(f"another nodeb is at work in {shown}; wait, or {ANOTHER}") from None
        except OSError:  # A file system without locks.
            pass
        try:
            if os.path.samestat(os.fstat(lock), os.stat(part)):
                break
        except FileNotFoundError:  # The last owner removed or renamed it meanwhile.
            pass
        os.close(lock)
    for left in part.iterdir():  # Of a process that was killed.
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return lock
