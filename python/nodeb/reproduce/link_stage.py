"""The radio link of a study: simulated chip by chip, fitted, and put into the study's scenarios.

A study with a table `link` (a link configuration) has its errors from there. Wherever one of its
choices sets an error model to `fitted:NAME`, the model file `NAME.json` of the fit takes its place:
`fitted:pdu_hmm2`, `fitted:best`, `fitted:recorded`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.errors import InputError
from nodeb.reproduce.measure import Estimate
from nodeb.reproduce.specs import Axis, nearest
from nodeb.reproduce.study import Study
from nodeb.storage.files import csv_text
from nodeb.storage.folders import MARK

if TYPE_CHECKING:
    from nodeb.fit import Comparison
    from nodeb.link.result import Point

FITTED = "fitted:"
FACT_COLUMNS = ("fact", "value", "low", "high")

Facts = dict[str, Estimate]
Progress = Callable[[float, str], None]


def prepare(
    study: Study, out: Path, *, quick: bool, jobs: int, seed: int, progress: Progress
) -> tuple[Study, Facts]:
    """Simulate and fit the link of a study; one without `link` comes back as it was.

    Writes what `nodeb link run` and `nodeb fit` write to the folders `link` and `fit` of `out`.

    Returns:
        The study with the fitted models in the place of their names, and what was found, by name.
    """
    if not study.link:
        return study, {}
    from nodeb import fit, link  # slow imports, and they need the extension
    from nodeb.fit import folder

    keys = {**study.link, "seed": seed, "stop": dict(study.link["stop"])}
    if quick:
        keys["stop"]["bits"] = study.quick["link_bits"]
    experiment = link.Experiment(**keys)
    found = experiment.run(jobs=jobs, progress=lambda _, text: progress(0.0, f"link: {text}"))
    found.save(out / "link", force=True)
    point = found[0]
    errors = fit.ErrorSequence(point.pdu_errors, point.pdus_per_block, experiment.name)
    comparison = fit.compare(
        errors, seed=seed, jobs=jobs, progress=lambda _, text: progress(0.0, f"fit: {text}")
    )
    models = folder.save(comparison, out / "fit", seed, force=True)
    return with_models(study, models), _facts(point, comparison)


def with_models(study: Study, models: Path) -> Study:
    """The study with the model files of a folder in the place of `fitted:NAME`."""
    axes = {name: _filled(axis, models) for name, axis in study.axes.items()}
    return replace(study, axes=axes)


def _filled(axis: Axis, models: Path) -> Axis:
    choices = {
        key: replace(
            choice, set={path: _model(value, models) for path, value in choice.set.items()}
        )
        for key, choice in axis.choices.items()
    }
    return replace(axis, choices=choices)


def _model(value: Any, models: Path) -> Any:
    if not (isinstance(value, str) and value.startswith(FITTED)):
        return value
    name = value.removeprefix(FITTED)
    file = models / f"{name}.json"
    if not file.is_file():
        known = (path.stem for path in models.glob("*.json") if path.name != MARK)
        raise InputError(f"no model `{name}` was fitted; {nearest(name, sorted(known))}")
    from nodeb.inputs import error_model  # needs the extension

    # By its name inside the results: where they lie makes no other scenario.
    return error_model.read(file) | {"file": f"{models.name}/{file.name}"}


def _facts(point: Point, comparison: Comparison) -> Facts:
    """Error rates with 95 % intervals, and what the fit says of the number of states."""
    rates = {"ber": point.ber, "per": point.per, "bler": point.bler}
    facts = {
        name: Estimate(rate.rate, rate.ci95_low, rate.ci95_high, rate.trials)
        for name, rate in rates.items()
    }
    for unit in comparison.units:
        best = comparison.best_of(unit)
        facts[f"{unit}_states"] = calculated(best.model.chain.states)
        two = [c for c in comparison.candidates if c.label == f"{unit} hmm2"]
        for candidate in two:
            facts[f"{unit}_hmm2_bic_over_best"] = calculated(candidate.bic - best.bic)
            for law, match in candidate.matches.items():
                facts[f"{unit}_hmm2_{law}_p"] = calculated(match.p_value)
    return facts


def calculated(value: float) -> Estimate:
    """A number without an interval."""
    return Estimate(float(value), float("nan"), float("nan"), 0)


def to_csv(facts: Mapping[str, Estimate]) -> str:
    """The text of `facts.csv`: name, value and 95 % interval, empty where there is none."""
    rows = (
        (name, found.value, *((found.low, found.high) if found.runs > 1 else ("", "")))
        for name, found in facts.items()
    )
    return csv_text(FACT_COLUMNS, rows)
