"""What hatchling is told besides pyproject.toml: the README as the description of a package.

Where a description is shown there are no files beside it: its links lead to where the project is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\n)*)\]\((?!https?://|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Makes the links of the README absolute."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description."""
        home = metadata["urls"]["Source"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home)}


def absolute(text: str, home: str) -> str:
    """Return a text in Markdown whose links lead to the files of a project, and not beside it."""

    def link(found: re.Match[str]) -> str:
        image, words, path = found.groups()
        return f"{image}[{words}]({home}/{'raw' if image else 'blob'}/main/{path})"

    return _LINK.sub(link, text)
