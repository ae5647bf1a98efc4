"""The one error of the command language.

Owns what is known about a line that could not be read. Must never decide how it is told.
"""

from __future__ import annotations


class ParseError(Exception):
    """A line that asks for nothing we know.

    Attributes:
        line: the line as cleaned.
        column: where in it the word that did not fit begins, from 0; its length if a word is
            missing at the end.
        word: the word that did not fit; "" if one is missing at the end.
        expected: what could have stood there, in plain phrases such as ``"on"`` (with its quotation
            marks) or ``a position such as A6``.
        suggestion: the word or words probably meant, if there is a near miss.
        detail: a sentence of its own for this mistake, to be told instead of what was expected.
    """

    def __init__(
        self,
        line: str,
        column: int,
        word: str = "",
        *,
        expected: tuple[str, ...] = (),
        suggestion: str | None = None,
        detail: str | None = None,
    ) -> None:
        super().__init__(line, column, word)
        self.line = line
        self.column = column
        self.word = word
        self.expected = expected
        self.suggestion = suggestion
        self.detail = detail

    def anew(self) -> ParseError:
        """Return the same error, as if it had never been raised."""
        return ParseError(
            self.line,
            self.column,
            self.word,
            expected=self.expected,
            suggestion=self.suggestion,
            detail=self.detail,
        )

    @property
    def understood(self) -> str:
        """The beginning of the line, as far as it made sense."""
        return self.line[: self.column].strip()

    def __str__(self) -> str:
        return f"{self.word!r} at column {self.column + 1} of {self.line!r} makes no command"
