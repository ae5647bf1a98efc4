"""Transcripts: who types what, and what everybody then sees, played and compared. Pure."""

from thudmud.script.performance import HouseStage, Mismatch, Stage, StageError, perform
from thudmud.script.transcript import Transcript, TranscriptError

__all__ = [
    "HouseStage",
    "Mismatch",
    "Stage",
    "StageError",
    "Transcript",
    "TranscriptError",
    "perform",
]
