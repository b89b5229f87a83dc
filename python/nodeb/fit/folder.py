"""Writes the results of a fit to a folder: table, models, pictures and provenance."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from nodeb.fit.compare import Candidate, Comparison
from nodeb.fit.recorded import recorded_model
from nodeb.results.provenance import origin
from nodeb.storage.cells import name_of
from nodeb.storage.files import write_bytes, write_parquet
from nodeb.storage.folders import Owner, Place, claim

__all__ = ["put", "save"]


def save(comparison: Comparison, folder: Path, seed: int, *, force: bool = False) -> Path:
    """Writes a comparison to a folder atomically; see `nodeb.storage.folders`.

    Args:
        comparison: comparison to write.
        folder: created if missing; earlier results for the same sequence and seed are replaced.
        seed: seed of the fit, for the provenance.
        force: replace results of another fit or command too.

    Returns:
        The folder: `comparison.parquet`, a model file `<unit>_<name>.json` for each candidate,
        `best.json` (the smallest BIC), `recorded.json` (the sequence itself), `provenance.json`
        and the pictures `gaps.png`, `bursts.png` and `bic.png`.

    Raises:
        OutputError: the folder is not nodeb's, belongs to another fit or command, or cannot be
            written; its previous content is kept.
    """
    errors = comparison.errors
    settled = name_of({"errors": errors.digest(), "block": errors.pdus_per_block, "seed": seed})
    owner = Owner("fit", errors.origin, made_of=settled)
    with claim(folder, owner, force=force) as place:
        return put(comparison, place, seed)


def put(comparison: Comparison, place: Place, seed: int) -> Path:
    """Writes a comparison to a folder that was claimed; see `save`."""
    about = _provenance(comparison, seed)
    return place.put(lambda part: _write(comparison, part, about), about)


def _write(comparison: Comparison, part: Path, about: dict[str, Any]) -> None:
    from nodeb.fit import pictures
    from nodeb.plot.source import save as save_picture

    for candidate in comparison.candidates:
        model = candidate.model
        _described(candidate, about).save(part / f"{model.unit}_{model.name}.json")
    _described(comparison.best, about).save(part / "best.json")
    recorded = recorded_model(comparison.errors, about)
    write_bytes(part / "recorded.json", f"{json.dumps(recorded)}\n".encode())
    write_parquet(part / "comparison.parquet", comparison.table, {"verdict": comparison.verdict})
    for kind in ("gap", "burst"):
        save_picture(pictures.tails(comparison, kind), part / f"{kind}s.png")
    save_picture(pictures.criterion(comparison), part / "bic.png")


def _provenance(comparison: Comparison, seed: int) -> dict[str, Any]:
    errors = comparison.errors
    return {
        "errors": errors.origin,
        "pdus": len(errors),
        "pdus_lost": int(errors.errors.sum()),
        "seed": seed,
        **origin("fitted"),
    }


def _described(candidate: Candidate, about: dict[str, Any]) -> Any:
    """Returns the candidate's model with its provenance: `about`, log-likelihood and BIC.

    Infinite values become None, because JSON has no infinity.
    """
    known = {"log_likelihood": candidate.log_likelihood, "bic": candidate.bic}
    likelihood = {name: one if math.isfinite(one) else None for name, one in known.items()}
    return dataclasses.replace(candidate.model, provenance=about | likelihood)
