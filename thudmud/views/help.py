"""Help pages, including the syntax of commands.

The texts are in ``help/*.txt``, here and in the packages of features. A file is named after its
topic, with hyphens for blanks. The first line is the title. Next come ``Part:`` (one of ``PARTS``),
and optionally ``Also:`` (other names of the topic) and ``Needs:`` (a verb without which the page is
omitted). Empty lines separate blocks:

- ``Syntax:``, and indented patterns: ``[optional]``, ``{one|other}``, ``<yours to fill in>``;
- ``Examples:``, and indented lines that can be typed;
- lines indented by four blanks or more: a diagram, which isn't wrapped;
- lines that begin with "- ", with continuation lines indented: a list;
- anything else: prose, which is wrapped.

``{rules}`` in a pattern is replaced by the names of the rulesets, and ``{rulesets}`` by a list of
them with the titles of their pages.

``{d}``, ``{T}``, ``{X}`` and ``{R}`` are replaced by the pieces as drawn on the reader's boards.
Rows of boards contain plain letters, which are replaced, too.

A block or example with ``{bot}`` is shown only if there is a bot. ``{Bot}`` is replaced by its
name, ``{bot}`` by the name as typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from typing import cast

from thudmud.english import join_words, shortened
from thudmud.errors import InvalidValueError
from thudmud.features import NAMES, NEEDED
from thudmud.game.hall import Hall
from thudmud.game.more import Help, Syntax
from thudmud.language import VERBS
from thudmud.language.slips import near_miss
from thudmud.language.vocabulary import HostCommand
from thudmud.rules import RULESETS
from thudmud.values import Value, replace
from thudmud.views.boards import signs
from thudmud.views.diagrams import describe_boards
from thudmud.views.registry import RenderContext, words
from thudmud.views.view import Display, View
from thudmud.views.words import GLUE, sentences_without, wrap, wrap_each

OF_OPERATORS, OF_OPERATORS_TOPIC = "Keeping order", "operators"
"""The part for operators, which only they see in the contents, and its page."""

PARTS = (
    "The game",
    "Playing",
    "Seeing the board",
    "Past battles",
    "People and places",
    "More",
    OF_OPERATORS,
)
"""The headings of the contents."""

WIDEST = 78
"""The maximum width of a page, in columns."""

_INDENT = "    "
_HANGING = _INDENT * 2
_BULLET = "- "
_SYNTAX, _EXAMPLES = "Syntax:", "Examples:"
_OPTION = re.compile(r"\[[^][]*\]")
_BOT = re.compile(r"\{[Bb]ot\}")
_SIGN = re.compile(r"\{([dTXR])\}")
_RANK = re.compile(r" +[0-9]+ ")
_SEE_ALSO = "See also: "
_START = {"", "me"}
_ALL = {"contents", "topics", "commands", "index", "all"}
_START_LINES = {
    "Playing": "move hurl shove undo hint resign match seek accept join start practice",
    "Seeing": "view moves captures lines where last clock options",
    "People": "who look go say tell follow observe register",
    "Tournaments": "tournaments standings",
    "Past battles": "history replay record score",
}
"""The first page of help: the most useful commands, by heading."""
_FOR_HOSTS = "People"
"""The heading on the first page for a host's own verbs."""
_NEW_HERE = {
    "play": '"play" finds you an opponent',
    "tutorial": '"tutorial" teaches you the game',
    "thud": '"help thud" explains it',
}

Block = tuple[str, ...]
"""Consecutive lines without an empty one."""


class Page(Value):
    """A help page.

    Attributes:
        topic: the topic as players type it.
        title: the topic in a few words.
        part: its heading in the contents.
        also: other names of the topic.
        blocks: the page below its title.
        needs: the verb without which the page is omitted; "" for none.
    """

    topic: str
    title: str
    part: str
    also: tuple[str, ...]
    blocks: tuple[Block, ...]
    needs: str = ""

    @classmethod
    def parse(cls, topic: str, text: str) -> Page:
        """Parse a help file; raises InvalidValueError if the format is wrong."""
        (title, *fields), *blocks = [
            tuple(block.strip("\n").split("\n")) for block in text.split("\n\n")
        ]
        known = dict(field.split(": ", 1) for field in fields)
        also = tuple(name for name in known.pop("Also", "").split(", ") if name)
        part, needs = known.pop("Part", None), known.pop("Needs", "")
        if part not in PARTS or known:
            raise InvalidValueError(
                f"help page {topic!r}: expected the fields Part, Also and Needs, got {fields}"
            )
        return cls(topic, title, part, also, tuple(blocks), needs)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of the command; empty for other topics."""
        return self._under(_SYNTAX)

    @property
    def examples(self) -> tuple[str, ...]:
        """The example lines."""
        return self._under(_EXAMPLES)

    @property
    def is_command(self) -> bool:
        """Whether the topic can be typed, as opposed to one that only has a page."""
        words = (pattern.split()[0].strip("{}").split("|") for pattern in self.patterns)
        return any(self.topic in each for each in words)

    def with_bot(self, bot: str | None) -> Page:
        """Return the page for a hall with that bot, or without bots if None."""
        blocks = (_with_bot(block, bot) for block in self.blocks)
        return replace(self, blocks=tuple(block for block in blocks if block))

    def without(self, words: Collection[str]) -> Page:
        """Return the page without sentences and examples that use these verbs."""
        gone = frozenset(words) - {*self.also}
        blocks = (_without(block, gone) for block in self.blocks)
        return replace(self, blocks=tuple(block for block in blocks if block))

    def rows(
        self, width: int, bot: str | None = None, *, utf8: bool = False, is_for_reader: bool = False
    ) -> Iterator[str]:
        """Yield the page in rows of fewer than `width` columns, except for diagrams.

        For a screen reader, drawn boards are described.
        """
        drawn = signs(Display(uses_utf8=utf8))
        ranks = {ord(letter): sign for letter, sign in drawn.items()}
        yield from wrap(f"{self.topic}: {self.title}", width)
        for block in self.with_bot(bot).blocks:
            yield ""
            if is_for_reader and _is_diagram(block) and (described := describe_boards(block)):
                yield from wrap_each(described, width)
                continue
            named = (_SIGN.sub(lambda sign: drawn[sign[1]], line) for line in block)
            for row in _set(tuple(named), width):
                yield row.translate(ranks) if _RANK.match(row) else row

    def _under(self, heading: str) -> tuple[str, ...]:
        return tuple(
            line.strip() for first, *lines in self.blocks if first == heading for line in lines
        )


def _pages_in(package: str) -> Iterable[Traversable]:
    """Return the help files of a package; empty if it has no such folder."""
    module, *folders = package.split(".")
    folder = resources.files(module).joinpath(*folders, "help")  # doesn't import the feature
    return folder.iterdir() if folder.is_dir() else ()


def _read() -> dict[str, Page]:
    packages = ["thudmud.views", *(f"thudmud.features.{name}" for name in (*NEEDED, *NAMES))]
    texts = {
        file.name.removesuffix(".txt").replace("-", " "): file.read_text(encoding="utf-8")
        for file in chain.from_iterable(map(_pages_in, packages))
        if file.name.endswith(".txt")
    }
    titles = {name: texts[name].partition("\n")[0] for name in RULESETS if name in texts}
    told = "\n".join(f"- {name}: {title[0].lower()}{title[1:]}." for name, title in titles.items())
    choice = "{" + "|".join(RULESETS) + "}"
    return {
        topic: Page.parse(
            topic, texts[topic].replace("{rules}", choice).replace("{rulesets}", told)
        )
        for topic in sorted(texts)
    }


def _whole(pages: Mapping[str, Page]) -> Mapping[str, Page]:
    """Remove references to missing pages."""
    missing = _missing(pages)
    return {topic: each.without(missing) for topic, each in pages.items()} if missing else pages


def _by_name(pages: Mapping[str, Page]) -> dict[str, Page]:
    return {name: page for page in pages.values() for name in (page.topic, *page.also)}


def _without(block: Block, words: frozenset[str]) -> Block:
    """Return the block without the sentences and examples that use the given verbs."""
    first, *lines = block
    if first == _SYNTAX or first.startswith(_INDENT):
        return block
    if first == _EXAMPLES:
        left = [line for line in lines if line.split()[0] not in words]
        return (first, *left) if left else ()
    if first.startswith(_SEE_ALSO):
        topics = " ".join(block).removeprefix(_SEE_ALSO).rstrip(".").split(", ")
        return (f"{_SEE_ALSO}{', '.join(each for each in topics if each not in words)}.",)
    items = []
    for item in _items(block):
        told = " ".join(sentences_without(item, words))
        if told and (told.startswith(_BULLET) or not item.startswith(_BULLET)):
            items.append(told)
    return tuple(items)


def _items(block: Block) -> list[str]:
    """Return the items of a list, or a single paragraph, each joined to one line."""
    items: list[str] = []
    for line in block:
        if items and not line.startswith(_BULLET):
            items[-1] += f" {line.strip()}"
        else:
            items.append(line.strip())
    return items


def _missing(pages: Mapping[str, Page]) -> frozenset[str]:
    """Return topics under "See also" without a page, because their feature is missing."""
    pointed = {
        topic
        for each in pages.values()
        for block in each.blocks
        if block[0].startswith(_SEE_ALSO)
        for topic in " ".join(block).removeprefix(_SEE_ALSO).rstrip(".").split(", ")
    }
    return frozenset(pointed - _by_name(pages).keys())


PAGES: Mapping[str, Page] = _whole(_read())
"""All pages by topic, in alphabetical order."""


_BY_NAME = _by_name(PAGES)


def page(
    topic: str | None,
    width: int,
    bot: str | None = None,
    *,
    keeps_order: bool = False,
    pages: Mapping[str, Page] = PAGES,
    utf8: bool = False,
    is_for_reader: bool = False,
) -> list[str]:
    """Return the page on a topic, in rows of fewer than `width` columns (20 or more).

    None returns the first page, and words such as "all" or "topics" the list of all topics. An
    unknown topic returns a sentence, with a suggestion if possible.

    Args:
        topic: the topic as typed.
        width: the width of the reader's screen.
        bot: the name of a bot that can be invited, if any.
        keeps_order: whether the reader is an operator.
        pages: the pages by topic; by default all of them.
        utf8: whether the reader's boards are drawn in UTF-8.
        is_for_reader: whether boards are described for a screen reader.
    """
    width = min(width, WIDEST + 1)
    name = _plain(topic)
    if name in _START:
        return start(width, keeps_order=keeps_order, pages=pages)
    if name in _ALL:
        return contents(width, keeps_order=keeps_order, pages=pages)
    found = _find(name, pages)
    return (
        list(found.rows(width, bot, utf8=utf8, is_for_reader=is_for_reader))
        if found
        else _unknown("help on", name, '"help all" lists the topics.', width, pages)
    )


@words.register
def _help(asked: Help, context: RenderContext, view: View) -> list[str]:
    hall = context.hall
    bot = next(iter(hall.bots_here()), None)
    keeps_order = hall.is_operator(context.player)
    is_for_reader = view.display.is_for_reader
    return page(
        asked.topic,
        view.width,
        bot,
        keeps_order=keeps_order,
        pages=pages_of(hall),
        utf8=view.display.uses_utf8 and not is_for_reader,
        is_for_reader=is_for_reader,
    )


@words.register
def _syntax(asked: Syntax, context: RenderContext, view: View) -> list[str]:
    keeps_order = context.hall.is_operator(context.player)
    pages = pages_of(context.hall)
    return syntax(asked.topic, view.width, keeps_order=keeps_order, pages=pages)


def pages_of(hall: Hall) -> Mapping[str, Page]:
    """Return the pages for a hall by topic, including those of a host's own verbs."""
    if not hall.own_verbs:
        return pages_without(hall.left_out)
    pages = {**pages_without(hall.left_out)}
    for word, kind in hall.own_verbs.items():
        own = cast("type[HostCommand]", kind)
        title, _, more = own.page.partition("\n")
        blocks = [
            f"{title.rstrip('.')}\nPart: People and places",
            f"{_SYNTAX}\n{_INDENT}{own.syntax}",
        ]
        pages[word] = Page.parse(word, "\n\n".join([*blocks, *filter(None, [more.strip()])]))
    return pages


@lru_cache
def pages_without(left_out: frozenset[str]) -> Mapping[str, Page]:
    """Return the pages for a server without some verbs. No page suggests typing these."""
    if not left_out:
        return PAGES
    gone = {topic for topic, each in PAGES.items() if {topic, each.needs} & left_out}
    return {
        topic: each.without(gone | left_out) for topic, each in PAGES.items() if topic not in gone
    }


def contents(
    width: int, *, keeps_order: bool = False, pages: Mapping[str, Page] = PAGES
) -> list[str]:
    """Return the commands by part, and then the other topics; operators' only for operators."""
    width = min(width, WIDEST + 1)
    shown = [page for page in pages.values() if keeps_order or page.part != OF_OPERATORS]
    lists = {
        part: [page.topic for page in shown if page.is_command and page.part == part]
        for part in PARTS
    }
    lists["Other topics"] = [page.topic for page in shown if not page.is_command]
    rows = list[str]()
    for heading, topics in lists.items():
        if topics:
            rows += [*wrap(f"{heading}:", width), *wrap(f"  {', '.join(topics)}", width, "  "), ""]
    return rows + wrap('Type "help" and one of these words.', width)


def start(width: int, *, keeps_order: bool = False, pages: Mapping[str, Page] = PAGES) -> list[str]:
    """Return the first page of help: how to begin, and the most useful commands."""
    width = min(width, WIDEST + 1)
    begin = [hint for topic, hint in _NEW_HERE.items() if topic in pages]
    lines = {"New here": f"{join_words(begin)}."} if begin else {}
    for heading, topics in _START_LINES.items():
        known = [topic for topic in topics.split() if topic in pages]
        if heading == _FOR_HOSTS:
            known += [topic for topic in pages if topic not in PAGES]
        if known:
            lines[heading] = f"{', '.join(known)}."
    if keeps_order and OF_OPERATORS_TOPIC in pages:
        lines[OF_OPERATORS] = f"{OF_OPERATORS_TOPIC}."
    lines["Everything"] = '"help all" lists all commands and topics.'
    rows = [row for line in lines.items() for row in wrap(": ".join(line), width, "  ")]
    return [*rows, "", *wrap('Type "help" and one of these words to read about it.', width)]


def syntax(
    verb: str | None,
    width: int,
    *,
    keeps_order: bool = False,
    pages: Mapping[str, Page] = PAGES,
) -> list[str]:
    """Return the patterns of a command, or of all commands if `verb` is None.

    Operators' commands are included only for operators.
    """
    width = min(width, WIDEST + 1)
    name = _plain(verb)
    if name in _START | _ALL:
        own = [word for word in pages if word not in PAGES]
        commands = [pages[word] for word in (*VERBS, *own) if word in pages]
        if not keeps_order:
            commands = [each for each in commands if each.part != OF_OPERATORS]
        return [row for each in commands for row in _indented(each.patterns, width)]
    found = _find(name, pages)
    if found is None:
        return _unknown("command", name, '"syntax" lists the commands.', width, pages)
    if not found.patterns:
        sentence = f'"{found.topic}" is a topic, not a command: type "help {found.topic}".'
        return wrap(sentence, width)
    return _indented(found.patterns, width)


def _plain(topic: str | None) -> str:
    return "" if topic is None else " ".join(topic.lower().split())


def _find(name: str, pages: Mapping[str, Page]) -> Page | None:
    """Return the page of a name, or of its longest prefix in whole words; None if there is none."""
    by_name = _BY_NAME if pages is PAGES else _by_name(pages)
    while name and name not in by_name:
        name = name.rpartition(" ")[0]
    return by_name.get(name)


def _unknown(kind: str, name: str, where: str, width: int, pages: Mapping[str, Page]) -> list[str]:
    meant = near_miss(name, {*_by_name(pages), *_START, *_ALL} - {""})
    hint = f'Did you mean "{meant}"?' if meant else where
    return wrap(f'There is no {kind} "{shortened(name)}". {hint}', width)


def _with_bot(block: Block, bot: str | None) -> Block:
    """Return a block for a hall with a bot, or without bots if None."""
    if not any(map(_BOT.search, block)):
        return block
    if bot:
        return tuple(line.replace("{Bot}", bot).replace("{bot}", bot.lower()) for line in block)
    without = tuple(line for line in block if not _BOT.search(line))
    return without if block[0] == _EXAMPLES else ()


def _is_diagram(block: Block) -> bool:
    return all(line.startswith(_INDENT) for line in block)


def _set(block: Block, width: int) -> list[str]:
    """Return a block as rows, wrapped unless it is a diagram."""
    first, *lines = block
    if first in {_SYNTAX, _EXAMPLES}:
        return [first, *_indented(lines, width)]
    if _is_diagram(block):
        return list(block)
    indent = " " * len(_BULLET) if first.startswith(_BULLET) else ""
    return wrap_each(_items(block), width, indent)


def _indented(lines: list[str] | tuple[str, ...], width: int) -> list[str]:
    """Return patterns or examples as rows, with each ``[option]`` on a single row if possible."""

    def glue(option: re.Match[str]) -> str:
        fits = len(_HANGING + option[0]) < width
        return option[0].replace(" ", GLUE) if fits else option[0]

    glued = (_INDENT + _OPTION.sub(glue, line.strip()) for line in lines)
    return wrap_each(glued, width, _HANGING)
