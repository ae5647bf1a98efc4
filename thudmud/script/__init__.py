"""Transcripts: who types what, and what everybody then sees, played and compared. Pure."""

from thudmud.script.comparing import Mismatch, Missed
from thudmud.script.parts import TranscriptError
from thudmud.script.performance import perform
from thudmud.script.stages import HouseStage, PatientStage, Seen, Stage, StageError
from thudmud.script.transcript import Transcript

__all__ = [
    "HouseStage",
    "Mismatch",
    "Missed",
    "PatientStage",
    "Seen",
    "Stage",
    "StageError",
    "Transcript",
    "TranscriptError",
    "perform",
]
