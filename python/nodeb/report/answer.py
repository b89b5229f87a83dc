"""An answer as HTML, for the head of a page and for notebooks."""

from __future__ import annotations

from nodeb.answer.answer import Answer
from nodeb.answer.words import sentence
from nodeb.report.render import Content, render


def fragment(answer: Answer) -> str:
    """Returns the answer as an HTML fragment for notebooks, with scoped styles and no script."""
    return render("notebook.html", {"answer": content(answer)})


def content(answer: Answer) -> Content:
    # A headline may begin with the name of a scenario, which must not be capitalized.
    is_sentence = answer.subject or answer.headline.startswith(("the ", "half "))
    headline = sentence(answer.headline) if is_sentence else answer.headline
    return {**vars(answer), "headline": headline}
