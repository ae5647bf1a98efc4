"""A transcript, read from text and written as text.

Owns what a whole transcript is. Must never play one, and never open a file: those that it includes
are fetched for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from thudmud.script.checking import check
from thudmud.script.parts import Part, TranscriptStep, steps_of, written
from thudmud.script.reading import Reader, Shelf


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript: its parts, and what stands behind the last.

    ``config`` is the file of its configuration, if it has one of its own. ``servers`` are those
    that it names, each with the file of its configuration, if any.
    """

    parts: tuple[Part, ...]
    config: str | None = None
    after: Sequence[str] = ()
    servers: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, text: str, shelf: Shelf | None = None, variables: Collection[str] = ()
    ) -> Transcript:
        """Read a transcript.

        Args:
            text: the transcript.
            shelf: where the files are that it includes; if None, it may include none.
            variables: the names of those that are given values from elsewhere.

        Raises:
            TranscriptError: a line means nothing.
        """
        reader = Reader(shelf)
        reader.read(text)
        check(reader.parts, tuple(reader.servers), variables)
        return cls(reader.parts, reader.config, tuple(reader.loose), reader.servers)

    @property
    def steps(self) -> tuple[TranscriptStep, ...]:
        """Its steps in order, with those of the files that it includes."""
        return tuple(steps_of(self.parts))

    def written(self) -> str:
        """Return the transcript as text; parsing it gives an equal one."""
        return written(self.parts, self.after)
