"""Transcripts: who types what, and what everybody then sees, played and compared. Pure."""

from thudmud.script.performance import HouseStage, Mismatch, Seen, Stage, StageError, perform
from thudmud.script.transcript import Transcript, TranscriptError

__all__ = [
    "HouseStage",
    "Mismatch",
    "Seen",
    "Stage",
    "StageError",
    "Transcript",
    "TranscriptError",
    "perform",
]
