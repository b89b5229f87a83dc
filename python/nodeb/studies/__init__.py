"""Published studies, each a program of `nodeb.study` with the module attribute `study`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from nodeb.base.functions import PASSED_ON, reason
from nodeb.errors import InputError, nearest

if TYPE_CHECKING:
    from nodeb.study import Study

__all__ = ["load", "located", "names"]

HERE = Path(__file__).parent


def names() -> list[str]:
    """Returns the names of the built-in studies, which can be reproduced."""
    # Modules with an underscore in the name are helpers of a study.
    return sorted(file.stem for file in HERE.glob("*.py") if "_" not in file.stem)


def load(name: str) -> Study:
    """Returns the study with a name, or the study that a file such as `my_study.py` defines.

    Raises:
        InputError: there is no such study, or the file fails or defines no study.
    """
    if name.endswith(".py"):
        return _of(_from_file(Path(name)), name)
    if name not in names():
        raise InputError(f"unknown study `{name}`{nearest(name, names())}")
    return _of(importlib.import_module(f"{__name__}.{name}"), name)


def _from_file(file: Path) -> ModuleType:
    """Imports the module of a file, with the file's folder on the import path as for a program."""
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    file = file.resolve()
    # A name that no import and no other file of the same name can have.
    name = f"study-{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} is no Python program")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    with located([file]):
        spec.loader.exec_module(module)
    return module


@contextmanager
def located(files: Iterable[Path]) -> Iterator[None]:
    """Turns an error of a study's program into one that begins with file and line."""
    try:
        yield
    except PASSED_ON:
        raise
    except (Exception, SystemExit) as error:  # A program may raise anything.
        if not (place := _place(error, set(map(str, files)))):
            raise
        raise InputError(f"{place}: {reason(error)}") from error


def _place(error: BaseException | None, files: set[str]) -> str:
    """The innermost line of one of the files in the tracebacks of an error and of its causes."""
    place = ""
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [(one.filename, one.lineno) for one in frames]
        if isinstance(error, SyntaxError):
            lines.append((error.filename or "", error.lineno))
        for file, line in lines:
            place = f"{file}, line {line}" if file in files else place
        error = error.__cause__
    return place


def _of(module: ModuleType, name: str) -> Study:
    from nodeb.study import Study

    study = getattr(module, "study", None)
    if not isinstance(study, Study):
        raise InputError(f"{name} makes no study; it needs `study = nodeb.study.Study(...)`")
    study.check()
    return study
