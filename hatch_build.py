"""Metadata hook for hatchling: the README as the package's description.

Package indexes show the description without the repository's files, so its links become absolute.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\n)*)\]\((?!https?://|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Adds the README with absolute links to the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        home = metadata["urls"]["Source"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home)}


def absolute(text: str, home: str) -> str:
    """Point the relative links of a Markdown text to the repository's files."""

    def link(found: re.Match[str]) -> str:
        image, words, path = found.groups()
        return f"{image}[{words}]({home}/{'raw' if image else 'blob'}/main/{path})"

    return _LINK.sub(link, text)
