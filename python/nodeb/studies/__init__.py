"""Published studies, each a program of `nodeb.study` with the module attribute `study`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from nodeb.base.functions import Mistake, line_of, reason
from nodeb.errors import InputError, OutputError, RunError, nearest

if TYPE_CHECKING:
    from nodeb.study import Study

__all__ = ["load", "names"]

HERE = Path(__file__).parent


def names() -> list[str]:
    """Returns the names of the built-in studies, which can be reproduced."""
    files = (
        one.stem for one in HERE.glob("*.py")
    )  # Modules with an underscore in the name are helpers of a study, not studies.
    return sorted(name for name in files if "_" not in name)


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
    name = _module_name(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} is no Python program")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Mistake, OutputError, RunError):
        raise
    except (Exception, SystemExit) as error:  # A user's program may raise anything.
        line = line_of(error, str(file)) or 1
        raise InputError(f"{file}, line {line}: {reason(error)}") from error
    return module


def _module_name(file: Path) -> str:
    """Returns a name for the module of a file that no import and no other file can have.

    A digest of the path distinguishes files of the same name in different folders.
    """
    return f"study-{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}"


def _of(module: ModuleType, name: str) -> Study:
    from nodeb.study import Study

    study = getattr(module, "study", None)
    if not isinstance(study, Study):
        raise InputError(f"{name} makes no study; it needs `study = nodeb.study.Study(...)`")
    study.check()
    return study
