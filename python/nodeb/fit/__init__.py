"""Models of error sequences: hidden Markov chains that reproduce the PDU losses of a link.

    from nodeb import fit
    errors = fit.read_errors("out/vehicular-384k/errors_3dB.txt")
    comparison = fit.compare(errors, states=range(2, 9))
    comparison.table.to_pandas()   # log-likelihood, BIC, tests of gaps and bursts
    comparison.best.save("model.json")

The documentation describes the methods under "Fitting error models".
"""

from nodeb.fit.chain import (
    Chain,
    binary_symmetric,
    gilbert,
    gilbert_elliott,
    hidden_markov,
)
from nodeb.fit.compare import Comparison, compare
from nodeb.fit.model import ErrorModel, Within
from nodeb.fit.sequence import ErrorSequence, read_errors

__all__ = [
    "Chain",
    "Comparison",
    "ErrorModel",
    "ErrorSequence",
    "Within",
    "binary_symmetric",
    "compare",
    "gilbert",
    "gilbert_elliott",
    "hidden_markov",
    "read_errors",
]
