"""Pydantic building blocks of the configuration: sections and constrained fields.

The server and the features share them. Each field's description states what a valid value looks
like; error messages quote it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """Base class of configuration sections: strict, frozen, and without unknown keys.

    ``needs_restart``: whether changes of a feature's section only take effect after a restart.
    """

    needs_restart: ClassVar[bool] = False

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def whole(default: int, low: int, high: int) -> Any:
    """Return a field for an integer from ``low`` to ``high``."""
    words = f"a whole number from {low} to {high}"
    return Field(default=default, ge=low, le=high, description=words)


def duration(default: float, low: float, high: float) -> Any:
    """Return a field for a duration in seconds, from ``low`` to ``high``."""
    words = f"a number of seconds from {low} to {high}"
    return Field(default=float(default), ge=low, le=high, description=words)


def file_name(default: str) -> Any:
    """Return a field for a file name; "" means no file, and is valid only as the default."""
    words = "the name of a file" if default else 'the name of a file, or ""'
    # No file system allows NUL in a file name.
    return Field(
        default=default, pattern=r"^[^\x00]+$" if default else r"^[^\x00]*$", description=words
    )


def flag(*, default: bool) -> Any:
    """Return a field for a boolean."""
    return Field(default=default, description="true or false")


def section_of(name: str, default: Section) -> Any:
    """Return a field for a nested section, whose default is validated too."""
    words = f"a section [{name}]"
    return Field(default=default, validate_default=True, description=words)


def invalid_value_error(right: str) -> PydanticCustomError:
    """Return a validation error that describes the valid values.

    Args:
        right: a description of the valid values.
    """
    return PydanticCustomError("unfit", "{right}", {"right": right})


def conflict_error(reason: str) -> PydanticCustomError:
    """Return a validation error for a value that conflicts with another one."""
    return PydanticCustomError("clash", "{reason}", {"reason": reason})
