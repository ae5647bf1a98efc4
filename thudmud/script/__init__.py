"""Transcripts: sessions of several players as text, which are played and compared.

A transcript lists the players' input, and the output that each of them should see.
"""

from thudmud.script.comparing import Mismatch, Missed, NothingCompared, Unstated
from thudmud.script.reading import Transcript
from thudmud.script.stages import HouseStage, PatientStage, Seen, Stage, StageError, perform
from thudmud.script.transcript import TranscriptError

__all__ = [
    "HouseStage",
    "Mismatch",
    "Missed",
    "NothingCompared",
    "PatientStage",
    "Seen",
    "Stage",
    "StageError",
    "Transcript",
    "TranscriptError",
    "Unstated",
    "perform",
]
