"""Folders of results: ownership, and atomic replacement.

A folder belongs to an owner: a kind of command (`run`, `sweep`, ...), the file or scenario it was
made from, and its settings. The folder's mark, `provenance.json`, states the owner and lists the
files that nodeb wrote. Results are replaced only by results of the same owner with at least as many
replications, or with `force`. Other results are refused or, if the folder was not named explicitly,
written to a folder next to it (`out/name-2`). nodeb writes to folders that are missing, are empty,
or have its own mark; a folder is claimed by moving a new folder with a mark into its place, which
succeeds for one process only. Complete results are written to a temporary folder, the mark last,
and swapped in; then the old folder is removed. Sweeps, comparisons and reproductions, which
continue from earlier results, write files atomically into the folder they claimed.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nodeb.answer.words import counted
from nodeb.base.signals import undisturbed
from nodeb.base.streams import printable
from nodeb.errors import OutputError, writing
from nodeb.storage import files, marks
from nodeb.storage.marks import MARK, Mark
from nodeb.storage.store import CELLS, other_files

__all__ = ["MARK", "Owner", "Place", "RefusedError", "claim", "note"]

MADE_OF = "made_of"
"""Key of `Owner.made_of` in `provenance.json`."""
OLDER = (MARK, "sweep.json", "comparison.parquet", "claims.csv")
"""Files of earlier versions of nodeb that identify a folder without `provenance.json` as theirs."""
ANOTHER = "give another folder (--out)"
FILLED = (errno.ENOTEMPTY, errno.EEXIST)
"""Error codes if another process has put something into a folder in the meantime."""
SHOWN = 3
"""Maximum number of conflicting files listed in a message."""

fcntl: Any = import_module("fcntl") if os.name == "posix" else None


@dataclass(frozen=True)
class Owner:
    """Owner of a folder of results: the command, the source and the settings that made it."""

    kind: str
    """Kind of the results.

    It is `run`, `sweep`, `comparison`, `reproduction`, `fit`, `link`, `life` or `emulation`.
    """
    of: str
    """Name of the source for readers: a file, a scenario, a study."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Additional content of the folder's `provenance.json`, from the claim of the folder on."""
    made_of: str = ""
    """Hash of the inputs of the results, such as scenario and seed; "" for none.

    The number of replications does not change it.
    """
    runs: int | None = None
    """Number of replications to be written, 0 for an incomplete link result; None if unknown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", printable(self.of))

    def refuses(self, mark: Mark) -> str | None:
        """Returns the reason if a folder with this mark must not be replaced, otherwise `None`.

        The mark is the content of the folder's `provenance.json`. The reason continues a sentence
        that begins with the folder, as in `holds a run of a.toml`.
        """
        held = f"holds a {mark['kind']} of {mark['of']}"
        if (mark["kind"], mark["of"]) != (self.kind, self.of):
            return held
        if mark.get(MADE_OF, "") != self.made_of:
            return f"{held} with other settings"
        there = mark.get("runs", 0) if mark["complete"] else 0
        if self.runs is not None and there > self.runs:
            count = counted(there, "replication")
            return f"{held} with {count}, not {self.runs}" if self.runs else held
        return None


class RefusedError(OutputError):
    """Error: a folder holds results that must not be replaced.

    Attributes:
        why: description of the results, as a sentence.
        kept: folder to which finished results were written instead, if any.
    """

    def __init__(self, why: str, kept: Path | None = None) -> None:
        instead = "" if kept is None else f"; the results are in {kept} instead"
        super().__init__(f"{why}; {ANOTHER}, or replace that with --force{instead}")
        self.why, self.kept = why, kept


@dataclass
class Place:
    """Claimed folder; at the end of its `with` block a new folder without results is removed.

    Attributes:
        path: the folder, without symbolic links.
        shown: the folder as the caller named it.
        owner: owner of the folder.
        replaces: description of another owner's results to be replaced; None if there are none.
        beside: description of what occupies the folder named by the caller; None if that was free.
        before: content of `provenance.json` when the folder was claimed; None in a new folder.
        force: whether another owner's results may be replaced.
        is_put: whether `put` has replaced the folder's content.
    """

    path: Path
    shown: Path
    owner: Owner
    replaces: str | None = None
    beside: str | None = None
    before: Mark | None = None
    force: bool = False
    is_put: bool = False
    _lock: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.before is None:
            _release(self.path)
        self._unlock()

    def put(
        self,
        write: Callable[[Path], None],
        about: Mapping[str, Any],
        *,
        stoppable: bool = False,
    ) -> Path:
        """Writes complete results and replaces the folder with them atomically.

        Args:
            write: function that writes the results to a given folder.
            about: additional content of `provenance.json`.
            stoppable: whether a signal ends the writing, and the old folder stays. Otherwise,
                signals wait until the results are in place, so that results of a long simulation
                are not lost.

        Returns:
            The folder as the caller named it.

        Raises:
            OutputError: the folder cannot be written; its previous content is kept. If it was taken
                by another owner in the meantime, the results are kept under the name that the error
                states.
        """
        part = files.aside(self.path)
        note = f"ends when the results are in {self.shown}"
        undivided = nullcontext() if stoppable else undisturbed(note)
        with writing(f"write results to {self.shown}"), undivided:
            try:
                part.mkdir()
                write(part)
                self._write_mark(part, os.listdir(part), about, complete=True)
                self.owner = replace(self.owner, runs=about.get("runs", self.owner.runs))
                with undisturbed():
                    self._swap(part)
                    self.is_put = True
            finally:
                with undisturbed():
                    files.remove(part)
        return self.shown

    def mark(self, names: Iterable[str], about: Mapping[str, Any], *, complete: bool) -> None:
        """Writes the mark, `provenance.json`, of a folder that is filled file by file.

        Args:
            names: files that nodeb writes there, whether they exist already or not.
            about: additional content of `provenance.json`.
            complete: whether the results are complete; then missing files are not listed, and the
                others have checksums.

        Raises:
            OutputError: the mark cannot be written; the old one stays.
        """
        with writing(f"write results to {self.shown}"):
            there = _read_mark(self.path, self.shown) or {"files": []}
            listed = {*names, *there["files"]}
            if complete:
                listed &= set(os.listdir(self.path))
            self._write_mark(self.path, listed, about, complete=complete)

    def refuse_unlisted(self, names: Iterable[str]) -> None:
        """Checks that the folder's `provenance.json` lists the files that are to be replaced.

        Raises:
            OutputError: a file is not listed, so nodeb did not write it.
        """
        mark = _read_mark(self.path, self.shown) or {"files": []}
        if odd := [name for name in names if name not in mark["files"]]:
            raise OutputError(_unlisted_message(self.shown, odd))

    def start_over(self) -> None:
        """Replaces another owner's folder by one that has only `provenance.json`.

        Raises:
            OutputError: the folder cannot be written; its previous content is kept.
        """
        self.put(lambda _: None, {"complete": False})
        self.lock()

    def lock(self) -> None:
        """Locks the folder until its `with` block ends, or the process ends.

        Raises:
            OutputError: another process has locked it.
            FileNotFoundError: the folder was removed.
        """
        if fcntl is None:
            return
        self._unlock()
        self._lock = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._unlock()
            raise OutputError(
                f"another nodeb is at work in {self.shown}; wait for it, or {ANOTHER}"
            ) from None
        except OSError:  # The file system has no locks, so the folder is used without one.
            self._unlock()
            return
        if not os.path.samestat(os.fstat(self._lock), os.stat(self.path)):
            self._unlock()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write_mark(
        self, folder: Path, names: Iterable[str], about: Mapping[str, Any], *, complete: bool
    ) -> None:
        listed = sorted(names)
        # The folder of cells is left out, because each cell has a checksum in its own file.
        whole = (name for name in listed if name != CELLS)
        sums = {marks.SUMS: marks.sums(folder, whole)} if complete else {}
        _write_mark(folder, self.owner, {"complete": complete, "files": listed, **about, **sums})

    def _swap(self, part: Path) -> None:
        """Swaps a finished folder with the claimed one, if that may still be replaced."""
        try:
            mark = _read_mark(self.path, self.shown)
            if mark is not None:
                _refuse_others(self, mark)
            # Another process may remove the folder at this moment, which needs no check then.
            with contextlib.suppress(FileNotFoundError):
                _refuse_strangers(self.path, self.shown)
        except RefusedError as error:
            raise RefusedError(error.why, self._kept(part)) from None
        except OutputError as error:
            raise OutputError(f"{error}; the results are in {self._kept(part)} instead") from None
        files.names_to_disk(part)
        files.swap(part, self.path)
        files.names_to_disk(self.path.parent)

    def _kept(self, part: Path) -> Path:
        """Moves results to a free folder next to the claimed one. Returns the new folder."""
        return self.shown.with_name(_move_beside(part, self.path).name)


def claim(
    folder: str | os.PathLike[str],
    owner: Owner,
    *,
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
    resumes: bool = False,
    beside: bool = False,
    alone: bool = False,
) -> Place:
    """Claims a folder, before a simulation spends time on results for it.

    If several processes claim a folder at the same time, the first one gets it, along with others
    of the same owner.

    Args:
        folder: folder for the results; created if missing.
        owner: owner of the results.
        force: claim a folder of another owner too, if nodeb wrote it; its content stays until new
            results are put.
        inputs: input files of the command, which must not be in the folder.
        resumes: whether an own folder is continued, not replaced, so that it may contain other
            files; the folder is locked until the `with` block of the result ends.
        beside: whether to claim the first free folder of `folder`, `folder-2`, `folder-3` ...
        alone: whether the folder is locked although it is not continued, so that another process
            of the same owner does not get it before the `with` block ends.

    Raises:
        RefusedError: the folder has results that must not be replaced; nothing is changed.
        OutputError: the folder cannot be written, or has files that nodeb did not write; nothing is
            changed.
    """
    first, inputs, why = Path(folder), tuple(inputs), None
    for number in itertools.count(1):
        shown = first if number == 1 else _numbered(first, number)
        try:
            place = _claimed(shown, owner, force, inputs, resumes, alone)
        except RefusedError as error:
            if not beside:
                raise
            why = why or error.why
        else:
            place.beside = why
            return place
    raise AssertionError  # This is never reached, because there is always a next number.


def _numbered(folder: Path, number: int) -> Path:
    """Returns the alternative folder with a number: `out/name-2`."""
    return folder.with_name(f"{folder.name}-{number}")


def _claimed(
    shown: Path,
    owner: Owner,
    force: bool,
    inputs: Iterable[str | os.PathLike[str]],
    resumes: bool,
    alone: bool,
) -> Place:
    """Claims the folder `shown`, without trying others; see `claim`."""
    with writing(f"write results to {shown}"):
        path = _real_path(shown)
        if path.is_dir():
            _refuse_use(path, shown, inputs)
            _refuse_mount(path, shown)
        if not path.exists():
            _restore_interrupted(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            # If there is no file, another process removed a folder at this moment, and the loop
            # below tries again.
            if path.is_file():
                raise
        files.remove_leftovers(path.parent, path.name)
        place = Place(path, shown, owner, force=force)
        for _ in range(files.TRIES):
            # If another process removes the folder at this moment, the loop tries again.
            with contextlib.suppress(FileNotFoundError):
                if _try_to_take(place, resumes=resumes, alone=alone):
                    return place
    raise OutputError(f"{shown} is claimed and released by other processes repeatedly; {ANOTHER}")


def note(file: Path) -> None:
    """Adds a picture or page to the list of files in its folder's `provenance.json`, if any."""
    with contextlib.suppress(OSError):
        mark = _read_mark(file.parent, file.parent)
        if mark is None:
            return
        noted = {**mark, "files": sorted({*mark["files"], file.name})}
        if marks.SUMS in mark:
            noted[marks.SUMS] = {**mark[marks.SUMS], **marks.sums(file.parent, [file.name])}
        if noted != mark:
            files.write_bytes(file.parent / MARK, marks.text(noted))


def _restore_interrupted(path: Path) -> None:
    """Moves results to `path` if a process was killed while it swapped them with newer ones."""
    for part in files.leftovers(path.parent, path.name):
        with contextlib.suppress(OSError, OutputError):
            mark = _read_mark(part, part)
            if mark is not None and mark["complete"]:
                part.rename(path)
                return


def _try_to_take(place: Place, *, resumes: bool, alone: bool) -> bool:
    """Takes a folder for its owner. Returns false if another process was faster.

    Raises:
        OutputError: the folder's results must not be replaced, or another process has locked it.
        FileNotFoundError: the folder was removed.
    """
    place.before = mark = _read_mark(place.path, place.shown)
    place.replaces = None
    if mark is None:
        if not _create_marked(place.path, place.owner):
            return False
    else:
        _refuse_others(place, mark)
        if place.owner.refuses(mark) is not None:
            place.replaces = _describe(mark)
        if place.replaces or not resumes:
            _refuse_strangers(place.path, place.shown)
    if place.replaces or resumes or alone:
        place.lock()  # An error is raised if another process uses the folder.
    # A changed mark means that another process put results there before the folder was locked.
    return not alone or mark is None or mark == _read_mark(place.path, place.shown)


def _create_marked(path: Path, owner: Owner) -> bool:
    """Moves a new folder with `provenance.json` to a path without a folder, or with an empty one.

    Returns false if another process was faster.
    """
    part = files.aside(path)
    try:
        part.mkdir()
        _write_mark(part, owner, {"complete": False, "files": []})
        if os.name != "posix":  # On Windows, a rename does not replace an empty folder.
            path.rmdir()
        part.rename(path)
    except OSError as error:
        if error.errno not in {*FILLED, errno.ENOENT}:
            raise
        return False
    finally:
        files.remove(part)
    return True


def _release(path: Path) -> None:
    """Removes a folder if it has only the `provenance.json` of a claim, and no results.

    The folder is renamed and examined again before it is removed: another process may have put
    results there after the first look.
    """
    part = files.aside(path)
    with contextlib.suppress(OSError, OutputError):
        if not _is_bare(path):
            return
        path.rename(part)
        if not _is_bare(part):
            files.swap(part, path)
        if _is_bare(part):
            files.remove(part)
        elif part.exists():
            _move_beside(part, path)


def _is_bare(path: Path) -> bool:
    """Returns true if a folder has only the `provenance.json` of a claim, and no results."""
    mark = _read_mark(path, path)
    return mark is not None and not mark["complete"] and os.listdir(path) == [MARK]


def _read_mark(path: Path, shown: Path) -> Mark | None:
    """Returns a folder's mark, `provenance.json`; `None` if the folder is empty or missing.

    Raises:
        OutputError: the folder was not written by nodeb, or by a version without marks, or its
            mark is damaged.
    """
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return None
    if names and MARK not in names:
        raise OutputError(
            _earlier_version_message(shown)
            if set(names) & set(OLDER)
            else _unlisted_message(shown, names)
        )
    try:
        found = marks.parse((path / MARK).read_bytes())
    except FileNotFoundError:  # The folder has no mark because it is empty, or it was removed.
        return None
    except ValueError as error:
        raise OutputError(
            f"{shown / MARK} {error}, so the folder's owner is unknown; {ANOTHER}"
        ) from None
    if "kind" not in found and "version" in found:
        raise OutputError(_earlier_version_message(shown))
    if not {"kind", "of", "files", "complete"} <= set(found):
        raise OutputError(
            f"{shown / MARK} cannot be understood, so the folder's owner is unknown; {ANOTHER}"
        )
    return found


def _real_path(shown: Path) -> Path:
    """Returns the path of a folder without symbolic links, `.` and `..`."""
    try:
        return Path(os.path.realpath(shown))
    except ValueError as error:  # The text is no valid name of a folder.
        raise OutputError(f"cannot write results to {str(shown)!r}: {error}") from None


def _earlier_version_message(shown: Path) -> str:
    return (
        f"{shown} seems to be from an earlier version of nodeb, which did not list its "
        f"own files; move it away, or {ANOTHER}"
    )


def _unlisted_message(shown: Path, names: list[str]) -> str:
    shown_names = ", ".join(f"`{name}`" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{shown} holds {shown_names}{more}, which nodeb did not put there; {ANOTHER}"


def _refuse_others(place: Place, mark: Mark) -> None:
    """Raises an error if a folder's results must not be replaced and `force` is not set."""
    why = place.owner.refuses(mark)
    if why is not None and not place.force:
        raise RefusedError(f"{place.shown} {why}")


def _refuse_strangers(path: Path, shown: Path) -> None:
    """Checks that a folder has only files that its `provenance.json` lists."""
    while (mark := _read_mark(path, shown)) is not None:
        names = _unlisted(path, mark)
        if not names:
            return
        # If the mark has changed, another process put results there, which the loop examines next.
        if mark == _read_mark(path, shown):
            raise OutputError(_unlisted_message(shown, names))


def _unlisted(path: Path, mark: Mark) -> list[str]:
    """Returns the files of a folder that its `provenance.json` does not list.

    Temporary files of nodeb are left out. Files in the folder of cells that are no cells count too.
    """
    known = {MARK, *mark["files"]}
    names = [n for n in sorted(os.listdir(path)) if n not in known and not files.is_leftover(n)]
    return names + [f"{CELLS}/{name}" for name in other_files(path / CELLS) if CELLS in known]


def _refuse_use(path: Path, shown: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Checks that a folder to be replaced contains neither the working directory nor an input."""
    if Path.cwd().is_relative_to(path):
        raise OutputError(f"{shown} is the folder you are in or above it; {ANOTHER}")
    for file in inputs:
        if Path(file).resolve().is_relative_to(path):
            raise OutputError(f"{shown} holds {file}, which is read here; {ANOTHER}")


def _refuse_mount(path: Path, shown: Path) -> None:
    """Checks that a folder can be replaced: it must not be a mount point."""
    if os.path.ismount(path):
        raise OutputError(
            f"{shown} is a mount point, which cannot be replaced as a whole; "
            f"give a folder in it, such as {shown / 'results'}"
        )


def _describe(mark: Mark) -> str:
    facts = [f"{name} {mark[name]}" for name in ("seed", "started") if name in mark]
    more = f" ({', '.join(facts)})" if facts else ""
    return f"a {mark['kind']} of {mark['of']}{more}"


def _move_beside(part: Path, path: Path) -> Path:
    """Moves results to the first free name next to their intended folder."""
    for number in itertools.count(2):
        free = _numbered(path, number)
        try:
            if not free.exists():
                part.rename(free)
                break
        except OSError as error:
            if error.errno not in FILLED:
                raise
    return free


def _write_mark(folder: Path, owner: Owner, about: Mapping[str, Any]) -> None:
    made_of = {MADE_OF: owner.made_of} if owner.made_of else {}
    found = {"kind": owner.kind, "of": owner.of, **made_of, **owner.about, **about}
    files.write_bytes(folder / MARK, marks.text(found))
