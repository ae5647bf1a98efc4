"""Make the reference of the library from its docstrings; `make docs` runs this.

    python docs/reference.py FOLDER PACKAGE...

pdoc lists the names in a package's `__dict__`, which lacks names that the package loads lazily.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pdoc


def loaded(package: str) -> ModuleType:
    """Import a package with all of its lazily loaded names."""
    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
    return module


def make(folder: Path, *packages: str) -> None:
    """Write the pages of the given packages into a folder."""
    for package in packages:
        loaded(package)
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*packages, output_directory=folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), *sys.argv[2:])
