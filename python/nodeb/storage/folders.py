"""Folders of results: whose they are, and how they are put in place.

One rule for all. A folder belongs to what made it: a kind (`run`, `sweep`, ...), what it was made
of, and the settings of that. Its mark, `provenance.json`, says so and lists what nodeb put there.
Results are replaced by the same thing only, with at least as many replications, or by force; others
are refused, or go beside (`out/name-2`) where nobody has named the folder. nodeb writes to
folders that are not there, are empty, or have its own mark; a folder is claimed by putting one with
a mark in place, which succeeds for one process only. Results that come at once are written aside,
the mark last, and swapped in as a whole; the old folder goes afterwards. Sweeps, comparisons
and reproductions, which go on from what is there, write whole files into the folder they claimed.
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
from nodeb.storage.store import CELLS, strangers

__all__ = ["MARK", "Owner", "Place", "RefusedError", "claim", "note"]

MADE_OF = "made_of"
"""In the mark: `Owner.made_of`."""
OLDER = (MARK, "sweep.json", "comparison.parquet", "claims.csv")
"""Files by which a folder of an earlier version is known."""
ANOTHER = "give another folder with --out"
FILLED = (errno.ENOTEMPTY, errno.EEXIST)
"""What the system says of a folder that others were faster to put something into."""
SHOWN = 3
"""So many files that stand in the way are told."""

fcntl: Any = import_module("fcntl") if os.name == "posix" else None


@dataclass(frozen=True)
class Owner:
    """What a folder of results belongs to."""

    kind: str
    """What makes it: `run`, `sweep`, `comparison`, `reproduction`, `link`, `fit`."""
    of: str
    """What it is made of, as a person calls it: a file, a scenario, a study."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What else the mark tells from the beginning."""
    made_of: str = ""
    """Hash of all that the results depend on but the number of replications."""
    runs: int | None = None
    """Replications to come, 0 of what was interrupted; None if not known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", printable(self.of))

    def refuses(self, mark: Mark) -> str | None:
        """What the folder holds that is not to be replaced, to go on a sentence with, or None."""
        held = f"holds a {mark['kind']} of {mark['of']}"
        if (mark["kind"], mark["of"]) != (self.kind, self.of):
            return held
        if mark.get(MADE_OF, "") != self.made_of:
            return f"{held} with other settings"
        there = mark.get("runs", 0) if mark["complete"] else 0
        if self.runs is not None and there > self.runs:
            told = counted(there, "replication")
            return f"{held} with {told}, not {self.runs}" if self.runs else held
        return None


class RefusedError(OutputError):
    """A folder holds results that are not to be replaced.

    Attributes:
        why: what it holds, as a sentence.
        kept: where the results are instead, if they had been made already.
    """

    def __init__(self, why: str, kept: Path | None = None) -> None:
        instead = "" if kept is None else f"; the results are in {kept} instead"
        super().__init__(f"{why}; {ANOTHER}, or replace that with --force{instead}")
        self.why, self.kept = why, kept


@dataclass
class Place:
    """A folder that was claimed. Leaving its block gives back a new one that nothing was put into.

    Attributes:
        path: the folder, without symbolic links.
        shown: the folder as it was asked for.
        owner: whose it is.
        replaces: what of another owner is replaced; None if nothing.
        beside: what stands where the results were to go, as a sentence; None if nothing.
        before: the mark that was found; None in a new folder.
        force: whether a folder of another owner may be taken.
        is_put: whether results have been put there as a whole.
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
            _give_back(self.path)
        self._unlock()

    def put(
        self,
        write: Callable[[Path], None],
        about: Mapping[str, Any],
        *,
        stoppable: bool = False,
    ) -> Path:
        """Replaces the folder as a whole.

        Args:
            write: writes the results to the folder that it is given.
            about: what the mark tells of them.
            stoppable: whether a signal ends the writing, and the old folder stays. Else signals
                wait until the results are in place: of what took long nothing is lost.

        Returns:
            The folder as it was asked for.

        Raises:
            OutputError: it cannot be written; what was there before stays. Where it turned into
                another's in the meantime the results are kept under the name that the error tells.
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
        """Writes the mark of a folder that is filled file by file.

        Args:
            names: what nodeb puts there, whether it is there already or not.
            about: what it tells besides.
            complete: whether everything is there; what is not, is not listed then, and the rest has
                checksums.

        Raises:
            OutputError: it cannot be written; the old one stays.
        """
        with writing(f"write results to {self.shown}"):
            there = _read_mark(self.path, self.shown) or {"files": []}
            listed = {*names, *there["files"]}
            if complete:
                listed &= set(os.listdir(self.path))
            self._write_mark(self.path, listed, about, complete=complete)

    def refuse_unlisted(self, names: Iterable[str]) -> None:
        """Complains about what stands where results go, and is somebody else's.

        Raises:
            OutputError: the mark does not list one of these.
        """
        mark = _read_mark(self.path, self.shown) or {"files": []}
        if odd := [name for name in names if name not in mark["files"]]:
            raise OutputError(_stranger(self.shown, odd))

    def start_over(self) -> None:
        """Replaces another's folder by an empty one with a mark.

        Raises:
            OutputError: it cannot be written; what was there stays.
        """
        self.put(lambda _: None, {"complete": False})
        self.lock()

    def lock(self) -> None:
        """Has the folder for oneself until the block is left, or the process ends.

        Raises:
            OutputError: another process has it.
            FileNotFoundError: it is gone.
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
        except OSError:  # a file system without locks
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
        whole = (name for name in listed if name != CELLS)  # which have checksums of their own
        sums = {marks.SUMS: marks.sums(folder, whole)} if complete else {}
        _write_mark(folder, self.owner, {"complete": complete, "files": listed, **about, **sums})

    def _swap(self, part: Path) -> None:
        """Puts a finished folder in place of what belongs to the same owner still."""
        try:
            mark = _read_mark(self.path, self.shown)
            if mark is not None:
                _refuse_others(self, mark)
            with contextlib.suppress(FileNotFoundError):  # given back since
                _refuse_strangers(self.path, self.shown)
        except RefusedError as error:
            raise RefusedError(error.why, self._kept(part)) from None
        except OutputError as error:
            raise OutputError(f"{error}; the results are in {self._kept(part)} instead") from None
        files.names_to_disk(part)
        files.swap(part, self.path)
        files.names_to_disk(self.path.parent)

    def _kept(self, part: Path) -> Path:
        """Puts results beside where they should have gone; the folder as a person calls it."""
        return self.shown.with_name(_kept(part, self.path).name)


def claim(
    folder: str | os.PathLike[str],
    owner: Owner,
    *,
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
    resumes: bool = False,
    beside: bool = False,
) -> Place:
    """Makes a folder one's own, before a simulation spends time on what goes there.

    Of several processes that claim a folder at the same time the first gets it, and those of the
    same owner with it.

    Args:
        folder: where results are to go; made if need be.
        owner: whose they are.
        force: take a folder of another owner too, if nodeb made it; what is there stays until the
            results are put.
        inputs: files that are read, which a folder with results cannot hold.
        resumes: one's own folder is gone on with, not replaced, so that others' files may be in it;
            it is locked until the block of the place is left.
        beside: take the first of `folder`, `folder-2`, `folder-3` ... that may be had.

    Raises:
        RefusedError: it has results that are not to be replaced; nothing is changed.
        OutputError: the folder cannot be written, or holds what nodeb did not put there; nothing
            is changed.
    """
    first, inputs, why = Path(folder), tuple(inputs), None
    for number in itertools.count(1):
        shown = first if number == 1 else _numbered(first, number)
        try:
            place = _claimed(shown, owner, force, inputs, resumes)
        except RefusedError as error:
            if not beside:
                raise
            why = why or error.why
        else:
            place.beside = why
            return place
    raise AssertionError  # there are enough numbers


def _numbered(folder: Path, number: int) -> Path:
    """The folder for what does not go into another: `out/name-2`."""
    return folder.with_name(f"{folder.name}-{number}")


def _claimed(
    shown: Path,
    owner: Owner,
    force: bool,
    inputs: Iterable[str | os.PathLike[str]],
    resumes: bool,
) -> Place:
    """Claims this folder and no other."""
    with writing(f"write results to {shown}"):
        path = _plain(shown)
        if path.is_dir():
            _refuse_use(path, shown, inputs)
            _refuse_mount(path, shown)
        if not path.exists():
            _rescue(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if path.is_file():  # else it was given back that very moment
                raise
        files.remove_leftovers(path.parent, path.name)
        place = Place(path, shown, owner, force=force)
        for _ in range(files.TRIES):
            with contextlib.suppress(FileNotFoundError):  # given back since it was looked at
                if _taken(place, resumes=resumes):
                    return place
    raise OutputError(f"{shown} is claimed and given back by others all the time; {ANOTHER}")


def note(file: Path) -> None:
    """Lists a picture in the mark of the folder that it was put into, if it has one."""
    with contextlib.suppress(OSError):
        mark = _read_mark(file.parent, file.parent)
        if mark is None:
            return
        noted = {**mark, "files": sorted({*mark["files"], file.name})}
        if marks.SUMS in mark:
            noted[marks.SUMS] = {**mark[marks.SUMS], **marks.sums(file.parent, [file.name])}
        if noted != mark:
            files.write_bytes(file.parent / MARK, marks.text(noted))


def _rescue(path: Path) -> None:
    """Puts back results whose process was killed in a swap, where names cannot be exchanged."""
    for part in files.leftovers(path.parent, path.name):
        with contextlib.suppress(OSError, OutputError):
            mark = _read_mark(part, part)
            if mark is not None and mark["complete"]:
                part.rename(path)
                return


def _taken(place: Place, *, resumes: bool) -> bool:
    """Takes a folder if it may be; whether nobody was faster.

    Raises:
        OutputError: it is another's, or somebody is at work in it.
        FileNotFoundError: it is gone.
    """
    place.before = mark = _read_mark(place.path, place.shown)
    place.replaces = None
    if mark is None:
        if not _made(place.path, place.owner):
            return False
    else:
        _refuse_others(place, mark)
        if place.owner.refuses(mark) is not None:
            place.replaces = _described(mark)
        if place.replaces or not resumes:
            _refuse_strangers(place.path, place.shown)
    if place.replaces or resumes:
        place.lock()  # nobody may be at work in it
    return True


def _made(path: Path, owner: Owner) -> bool:
    """Puts a folder with a mark where there is none or an empty one; whether nobody was faster."""
    part = files.aside(path)
    try:
        part.mkdir()
        _write_mark(part, owner, {"complete": False, "files": []})
        if os.name != "posix":  # a folder cannot be put over an empty one
            path.rmdir()
        part.rename(path)
    except OSError as error:
        if error.errno not in {*FILLED, errno.ENOENT}:
            raise
        return False
    finally:
        files.remove(part)
    return True


def _give_back(path: Path) -> None:
    """Removes a folder that has nothing but the mark of a claim.

    It is taken away first, and looked at again: others may have put results in its place.
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
            _kept(part, path)


def _is_bare(path: Path) -> bool:
    """Whether a folder has nothing but the mark of a claim."""
    mark = _read_mark(path, path)
    return mark is not None and not mark["complete"] and os.listdir(path) == [MARK]


def _read_mark(path: Path, shown: Path) -> Mark | None:
    """What the mark of a folder says; None if the folder is empty or not there.

    Raises:
        OutputError: the folder is not one of nodeb's, or of a version without marks.
    """
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return None
    if names and MARK not in names:
        raise OutputError(_older(shown) if set(names) & set(OLDER) else _stranger(shown, names))
    try:
        found = marks.parse((path / MARK).read_bytes())
    except FileNotFoundError:  # the folder is empty, or is one no more
        return None
    except ValueError as error:
        raise OutputError(
            f"{shown / MARK} {error}, so whose folder it is is not known; {ANOTHER}"
        ) from None
    if "kind" not in found and "version" in found:
        raise OutputError(_older(shown))
    if not {"kind", "of", "files", "complete"} <= set(found):
        raise OutputError(
            f"{shown / MARK} cannot be understood, so whose folder it is is not known; {ANOTHER}"
        )
    return found


def _plain(shown: Path) -> Path:
    """A folder without symbolic links and dots."""
    try:
        return Path(os.path.realpath(shown))
    except ValueError as error:  # a name that no folder can have
        raise OutputError(f"cannot write results to {str(shown)!r}: {error}") from None


def _older(shown: Path) -> str:
    return (
        f"{shown} seems to be from an earlier version of nodeb, which did not note what is its "
        f"own; move it away, or {ANOTHER}"
    )


def _stranger(shown: Path, names: list[str]) -> str:
    told = ", ".join(f"`{name}`" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{shown} holds {told}{more}, which nodeb did not put there; {ANOTHER}"


def _refuse_others(place: Place, mark: Mark) -> None:
    """Complains about a folder of another owner, unless it may be taken."""
    why = place.owner.refuses(mark)
    if why is not None and not place.force:
        raise RefusedError(f"{place.shown} {why}")


def _refuse_strangers(path: Path, shown: Path) -> None:
    """Complains about what somebody else put beside results."""
    while (mark := _read_mark(path, shown)) is not None:
        names = _unlisted(path, mark)
        if not names:
            return
        if mark == _read_mark(path, shown):  # else the folder was replaced between the two looks
            raise OutputError(_stranger(shown, names))


def _unlisted(path: Path, mark: Mark) -> list[str]:
    """What a folder has that its mark does not list."""
    known = {MARK, *mark["files"]}
    names = [n for n in sorted(os.listdir(path)) if n not in known and not files.is_leftover(n)]
    return names + [f"{CELLS}/{name}" for name in strangers(path / CELLS) if CELLS in known]


def _refuse_use(path: Path, shown: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Complains about a folder that is in use: results are put in place as a whole."""
    if Path.cwd().is_relative_to(path):
        raise OutputError(f"{shown} is the folder you are in or above it; {ANOTHER}")
    for file in inputs:
        if Path(file).resolve().is_relative_to(path):
            raise OutputError(f"{shown} holds {file}, which is read here; {ANOTHER}")


def _refuse_mount(path: Path, shown: Path) -> None:
    """Complains about what no folder can be put in place of."""
    if os.path.ismount(path):
        raise OutputError(
            f"{shown} is where a disk is mounted, and results are put in place as a whole folder; "
            f"give a folder in it, such as {shown / 'results'}"
        )


def _described(mark: Mark) -> str:
    told = [f"{name} {mark[name]}" for name in ("seed", "started") if name in mark]
    more = f" ({', '.join(told)})" if told else ""
    return f"a {mark['kind']} of {mark['of']}{more}"


def _kept(part: Path, path: Path) -> Path:
    """Puts results under a name that is free, beside where they should have gone."""
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
