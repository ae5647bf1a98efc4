"""Pages of a long text."""

from __future__ import annotations

from thudmud.telnet.pager import Pager


def pages(text: str, rows: int, width: int = 80) -> list[str]:
    pager, read = Pager(text), list[str]()
    while not pager.is_done:
        read.append(pager.next_page(rows, width))
    return read


def test_page_leaves_a_row_for_the_prompt() -> None:
    text = "\n".join("abcdefgh")
    assert pages(text, 5) == ["a\nb\nc\nd", "e\nf\ng\nh"]
    assert pages(text, 9) == [text]
    assert pages(text, 8) == ["a\nb\nc\nd\ne\nf\ng", "h"]


def test_zero_rows_hold_the_whole_text() -> None:
    text = "\n".join(["line"] * 1000)
    assert pages(text, 0) == [text]


def test_empty_lines_take_a_row() -> None:
    assert pages("a\n\n\n\nb", 5) == ["a\n\n\n", "b"]


def test_line_wider_than_the_screen_takes_several_rows() -> None:
    assert pages(f"{'x' * 80}\na\n{'x' * 81}\nb", 5) == [f"{'x' * 80}\na\n{'x' * 81}", "b"]


def test_wide_characters_take_two_columns() -> None:
    wide = "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 20  # 40 columns
    assert pages(f"{wide}\na\nb", 4, 20) == [f"{wide}\na", "b"]


def test_colours_take_no_columns() -> None:
    coloured = "\x1b[1;31mx\x1b[0m" * 20
    assert pages(f"{coloured}\na\nb", 4, 20) == [f"{coloured}\na\nb"]


def test_line_taller_than_the_screen_is_shown_alone() -> None:
    tall = "x" * 1000
    assert pages(f"a\n{tall}\nb", 5, 20) == ["a", tall, "b"]
