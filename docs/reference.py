"""Make the reference of the library from its docstrings; `make docs` runs this.

    python docs/reference.py FOLDER PACKAGE...

pdoc looks for the names of a package without asking for them, and some of ours are loaded only when
they are asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pdoc


def loaded(package: str) -> ModuleType:
    """Return a package with all of its names in it."""
    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
    return module


def make(folder: Path, *packages: str) -> None:
    """Write the pages of some packages into a folder."""
    for package in packages:
        loaded(package)
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*packages, output_directory=folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), *sys.argv[2:])
