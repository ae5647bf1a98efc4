"""Bundler of the page's modules and style sheets, which the server runs at its start.

A browser learns of a module's imports only when it has the module, and each level costs a round
trip; on one connection of HTTP/1.1, so does each file. A bundle has one file for all of them. Each
module becomes a function of its own, in topological order, so no names need to be changed. What it
exports becomes a constant of the bundle, which needs no imports then; so no two modules may export
the same name. The sources may only have named imports of other modules, at the beginning of a line,
and no dynamic or renamed ones. Comments and indentation are removed, so no string may span lines,
nor hold " // ".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_REST = r"(?:(?!\*/).)*+(?:\*/|\Z)"  # of a comment; without its end, everything
_COMMENT = re.compile(
    rf"^ *+(?:/\*{_REST}\n?|//[^\n]*+\n?)|/\*\* @{_REST} ?", re.MULTILINE | re.DOTALL
)
_TRAILING_COMMENT = re.compile(r"(?<=[^\s:]) // [^\n\"`]*+$", re.MULTILINE)
_JOINED = re.compile(  # not after ")", "]" and "}", where a statement may end without a semicolon
    r"^((?:(?! // )[^\n])*)\n(?:(?<=[,([{;:?=>&|]\n)|(?=[])}.?:&|]))", re.MULTILINE
)
_STRING = r'"(?:[^"\\\n]|\\.)*+"|`(?:[^`$\\\n]|\\.|\$(?!\{)|\$\{[^`{}\n]*+\})*+`'
_PLAIN = re.compile(  # no regular expression, and no template string within another
    rf"""^(?:[^\n/`'"]|{_STRING})++$""", re.MULTILINE
)
_SPACED = re.compile(rf"({_STRING})| ?([=!]==|=>|&&|\|\||\?\?|[]=?:,;{{}}()[]) ?")
_TRAILING_COMMA = re.compile(r",\n(?=[])}])")
_STYLE_COMMENT = re.compile(rf"/\*{_REST}", re.DOTALL)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_STYLE_SPACE = re.compile(r"(?<=[{};,>~])\s+| (?=[{>~])|(?<=:) |;\s*(?=})")


def bundle_modules(last: str, read: Callable[[str], str]) -> str:
    """Return a script that defines what a module, and all that it imports, export.

    Args:
        last: file name of the module that imports the others.
        read: returns the source of a module by its file name.

    Raises:
        ValueError: two modules export the same name.
    """
    modules: dict[str, str] = {}
    exports: dict[str, str] = {}
    _add(last, read, modules, exports)
    return "".join(modules.values())


def without_comments(script: str) -> str:
    """Return a script without comments and indentation, and with less else that nobody reads."""
    script = _INDENT.sub("", _TRAILING_COMMENT.sub("", _COMMENT.sub("", script)))
    script = _PLAIN.sub(lambda line: _SPACED.sub(r"\1\2", line[0]), script)
    return _JOINED.sub(r"\1", _TRAILING_COMMA.sub("\n", script)).strip()


def bundle_styles(sheets: Iterable[str]) -> str:
    """Return style sheets as one, without comments and indentation."""
    return "".join(_STYLE_SPACE.sub("", _STYLE_COMMENT.sub("", each)) for each in sheets)


def _add(
    name: str, read: Callable[[str], str], modules: dict[str, str], exports: dict[str, str]
) -> None:
    """Add a module after its imports (a topological sort, depth first).

    Args:
        name: file name of the module.
        read: returns the source of a module by its file name.
        modules: bundled modules by file name; extended.
        exports: file names of modules by exported name; extended.
    """
    if name in modules:
        return
    text = read(name)
    for needed in _IMPORT.findall(text):
        _add(needed, read, modules, exports)
    names = [exported for _, exported in _EXPORT.findall(text)]
    for each in names:
        if (other := exports.setdefault(each, name)) != name:
            raise ValueError(f"{other} and {name} both export {each}")
    text = without_comments(_EXPORT.sub(r"\1", _IMPORT.sub("", text)))
    exported = f"{{{','.join(names)}}}"
    modules[name] = (
        f"const{exported}=(()=>{{\n{text}\nreturn{exported};\n}})();\n"
        if names
        else f"(()=>{{\n{text}\n}})();\n"
    )
