"""Metadata hook for hatchling: the project's addresses, and the README as its description.

Package indexes show the description without the repository's files. So its links become absolute,
or plain text while the project has no address.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\n)*)\]\((?!https?://|#)([^)\s]+)\)")


class AddressHook(MetadataHookInterface):
    """Adds the addresses, and the README with absolute links, to the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the addresses and the description."""
        home = self.config["home"]
        metadata["urls"] = addresses(home)
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home)}


def addresses(home: str) -> dict[str, str]:
    """Return the project's addresses, derived from that of its repository; none without one."""
    if not home:
        return {}
    pages = f"{home}/blob/main"
    return {
        "Source": home,
        "Documentation": f"{pages}/docs/README.md",
        "Changelog": f"{pages}/CHANGELOG.md",
    }


def absolute(text: str, home: str) -> str:
    """Point the relative links of a Markdown text to the repository's files.

    Without a repository, links become their words, and pictures are left out.
    """

    def link(found: re.Match[str]) -> str:
        image, words, path = found.groups()
        if not home:
            return "" if image else words
        return f"{image}[{words}]({home}/{'raw' if image else 'blob'}/main/{path})"

    return _LINK.sub(link, text)
