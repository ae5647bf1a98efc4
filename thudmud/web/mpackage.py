"""Builder of the Mudlet package: a clickable board panel, from the scripts in `mudlet/`.

In the archive, ``config.lua`` holds the package's name and version. ``thudmud.xml`` holds the
scripts, in the order in which Mudlet runs them.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from html import escape
from pathlib import Path

from thudmud.version import VERSION

NAME = "thudmud.mpackage"

_FOLDER = Path(__file__).parent / "mudlet"
_SCRIPTS = ("facts", "mover", "panel", "start")

_CONFIG = f"""mpackage = "thudmud"
title = "Thud"
version = "{VERSION}"
description = "A board to click on, for servers that run thudmud."
"""
_SCRIPT = """    <Script isActive="yes" isFolder="no">
      <name>{name}</name>
      <packageName></packageName>
      <script>{code}</script>
      <eventHandlerList/>
    </Script>
"""
_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE MudletPackage>
<MudletPackage version="1.001">
  <ScriptPackage>
{scripts}  </ScriptPackage>
</MudletPackage>
"""


@cache
def mpackage() -> bytes:
    """Return the package as a ZIP archive; reproducible for each version of thudmud."""
    codes = {name: (_FOLDER / f"{name}.lua").read_text("utf-8") for name in _SCRIPTS}
    scripts = "".join(
        _SCRIPT.format(name=f"thudmud {name}", code=escape(code, quote=False))
        for name, code in codes.items()
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in {
            "config.lua": _CONFIG,
            "thudmud.xml": _XML.format(scripts=scripts),
        }.items():
            # Dated 1980 and stored, not deflated: zlib's output differs between builds.
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, text)
    return packed.getvalue()
