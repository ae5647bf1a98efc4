"""Sections of the settings, and kinds of fields, for the server and for features.

A description says what would be right in place of a wrong value.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A section of the settings; ``needs_restart`` is for those of features."""

    needs_restart: ClassVar[bool] = False

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def whole(default: int, low: int, high: int) -> Any:
    """Return a field for a whole number."""
    words = f"a whole number from {low} to {high}"
    return Field(default=default, ge=low, le=high, description=words)


def duration(default: float, low: float, high: float) -> Any:
    """Return a field for a number of seconds."""
    words = f"a number of seconds from {low} to {high}"
    return Field(default=float(default), ge=low, le=high, description=words)


def file_name(default: str) -> Any:
    """Return a field for the name of a file; "" is none, if that is the default."""
    words = "the name of a file" if default else 'the name of a file, or ""'
    # No file system allows that character in a name.
    return Field(
        default=default, pattern=r"^[^\x00]+$" if default else r"^[^\x00]*$", description=words
    )


def flag(*, default: bool) -> Any:
    """Return a field for true or false."""
    return Field(default=default, description="true or false")


def section_of(name: str, default: Section) -> Any:
    """Return a field for a section."""
    words = f"a section that begins with [{name}]"
    return Field(default=default, validate_default=True, description=words)


def unfit(right: str) -> PydanticCustomError:
    """Return an error that says what would be ``right`` in place of a value."""
    return PydanticCustomError("unfit", "{right}", {"right": right})


def clash(reason: str) -> PydanticCustomError:
    """Return an error of a value that conflicts with another one."""
    return PydanticCustomError("clash", "{reason}", {"reason": reason})
