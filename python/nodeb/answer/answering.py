"""Base of results that are shown by their answer: printed as text, in notebooks as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from nodeb.answer.answer import Answer

__all__ = ["Answering"]


class Answering:
    """Result that is shown by its answer; notebooks show it as HTML.

    A class defines `answer`, or `answers` if it has several.
    """

    @property
    def answer(self) -> Answer:
        """First answer."""
        return self.answers[0]

    @property
    def answers(self) -> Sequence[Answer]:
        """All answers."""
        return [self.answer]

    def __str__(self) -> str:
        from nodeb.answer.terminal import text

        return "\n\n".join(map(text, self.answers))

    def _repr_html_(self) -> str:
        from nodeb.report.answer import fragment

        return "".join(map(fragment, self.answers))
