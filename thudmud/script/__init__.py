"""Transcripts: sessions of several players as text, which are played and compared.

A transcript lists the players' input, and the output that each of them should see.
"""

from thudmud.script.comparing import Mismatch, Missed, NothingCompared, UnexpectedOutput
from thudmud.script.reading import Transcript
from thudmud.script.stages import HouseStage, RealTimeStage, Seen, Stage, StageError, perform
from thudmud.script.transcript import TranscriptError

__all__ = [
    "HouseStage",
    "Mismatch",
    "Missed",
    "NothingCompared",
    "RealTimeStage",
    "Seen",
    "Stage",
    "StageError",
    "Transcript",
    "TranscriptError",
    "UnexpectedOutput",
    "perform",
]
