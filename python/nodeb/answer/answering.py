"""Base class of results that display an answer: text when printed, HTML in notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from nodeb.answer.answer import Answer


class Answering:
    """Base class of results that display an answer: text when printed, HTML in notebooks."""

    @property
    def answer(self) -> Answer:
        return self.answers[0]

    @property
    def answers(self) -> Sequence[Answer]:
        return [self.answer]

    def __str__(self) -> str:
        from nodeb.answer.terminal import text

        return "\n\n".join(map(text, self.answers))

    def _repr_html_(self) -> str:
        from nodeb.report.render import fragment

        return "".join(map(fragment, self.answers))
