"""A folder with everything that a fit found."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.errors import OutputError, os_reason
from nodeb.files import write_bytes, write_parquet
from nodeb.fit.compare import Candidate, Comparison
from nodeb.fit.recorded import recorded_model
from nodeb.provenance import git_hash, utc_now
from nodeb.result import prepare_folder

__all__ = ["save"]


def save(comparison: Comparison, folder: Path, seed: int) -> Path:
    """Writes a comparison.

    Args:
        comparison: what was found.
        folder: made if need be.
        seed: of the fit, for the provenance.

    Returns:
        The folder: `comparison.parquet`, a model file `<unit>_<name>.json` for each candidate,
        `best.json` (the smallest BIC), `recorded.json` (the sequence itself) and the pictures
        `gaps.png`, `bursts.png` and `bic.png`.

    Raises:
        OutputError: the folder cannot be written.
    """
    from nodeb.plot import fit as pictures
    from nodeb.plot.source import save as save_picture

    path = prepare_folder(folder)
    about = _provenance(comparison, seed)
    for candidate in comparison.candidates:
        model = candidate.model
        _described(candidate, about).save(path / f"{model.unit}_{model.name}.json")
    _described(comparison.best, about).save(path / "best.json")
    recorded = recorded_model(comparison.errors, about)
    try:
        write_bytes(path / "recorded.json", f"{json.dumps(recorded)}\n".encode())
        write_parquet(
            path / "comparison.parquet", comparison.table, {"verdict": comparison.verdict}
        )
    except OSError as error:
        raise OutputError(f"cannot write results to {path}: {os_reason(error)}") from error
    for law in ("gap", "burst"):
        save_picture(pictures.tails(comparison, law), path / f"{law}s.png")
    save_picture(pictures.criterion(comparison), path / "bic.png")
    return path


def _provenance(comparison: Comparison, seed: int) -> dict[str, Any]:
    errors = comparison.errors
    return {
        "errors": errors.origin,
        "pdus": len(errors),
        "pdus_lost": int(errors.errors.sum()),
        "seed": seed,
        "version": _core.version(),
        "git": git_hash(),
        "fitted": utc_now(),
    }


def _described(candidate: Candidate, about: dict[str, Any]) -> Any:
    """The candidate's model with where it comes from."""
    likelihood = {"log_likelihood": candidate.log_likelihood, "bic": candidate.bic}
    return dataclasses.replace(candidate.model, provenance=about | likelihood)
