"""Transcripts: who types what, and what everybody then sees; played, and compared."""

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
