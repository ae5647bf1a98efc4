"""The current state of a board, in full for one reader, or as an entry in a list."""

from __future__ import annotations

from thudmud.english import pluralize, rules_title
from thudmud.game.events import Offered
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.table import Table
from thudmud.rules import Game, Side
from thudmud.views import boards, reader, sentences
from thudmud.views.sentences import UNKNOWN
from thudmud.views.view import Display, View
from thudmud.views.words import without_commands, wrap, wrap_each


def at_table(facts: list[str], table: Table, view: View) -> list[str]:
    """Return facts as lines, with the table's name for readers who are elsewhere.

    A screen reader gets each fact on its own line, others get one paragraph.
    """
    if view.display.is_drawn_by_client:
        facts = without_typing(facts)
    if view.display.is_for_reader:
        return wrap_each(
            [f"At the {table.name}:", *facts] if view.is_elsewhere else facts, view.width
        )
    paragraph = " ".join(facts)
    return wrap(
        f"[{table.name}] {paragraph}" if view.is_elsewhere else paragraph, view.display.width
    )


def without_typing(facts: list[str]) -> list[str]:
    """Return facts without the commands for which a client that draws boards has buttons."""
    return [kept for each in facts if (kept := without_commands(each))]


def wrap_clickable(text: str, view: View) -> list[str]:
    """Wrap a text, without the commands for which the reader's client has buttons."""
    text = without_commands(text) if view.display.is_drawn_by_client else text
    return wrap(text, view.width)


def full_board_lines(table: Table, view: View) -> list[str]:
    """Return a board in full, regardless of the reader's style.

    Readers whose clients draw the board get only the status line.
    """
    if view.display.is_drawn_by_client:
        return board_lines(table, view)
    if view.display.is_for_reader:
        return wrap_each(reader.whole_board(table, view.me), view.width)
    return boards.draw(table, view.display)


def board_lines(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style."""
    if view.display.is_for_reader:
        return wrap_each(reader.board_on_arrival(table, view.me, view.style), view.width)
    if view.style is Style.FULL:
        return boards.draw(table, view.display)
    return wrap(boards.status_line(table), view.width)


def status_lines(table: Table, view: View) -> list[str]:
    """Return the side to move, or the options without a battle, and the open offers."""
    facts = standing_facts(table, view)
    if view.display.is_drawn_by_client:
        facts = without_typing(facts)
    return wrap_each(facts, view.width)


def standing_facts(table: Table, view: View) -> list[str]:
    """Return the same as one text for each fact."""
    if not table.is_running:
        is_over = table.match and table.match.is_single_battle
        facts = [
            "The battle is over." if is_over else sentences.idle_board_sentences(table, view.me)
        ]
    elif view.display.is_for_reader:
        facts = reader.turn_sentences(table, view.me)
    else:
        facts = [sentences.turn_sentence(table, view.me)]
        if view.is_elsewhere and table.clock:  # the time isn't in a drawn board here
            facts.append(sentences.has_left(table, table.clock, table.clock.turn, view.me))
    for offer, side in table.offers.items():
        offered = Offered(0, table.seats[side], offer, table.undo_moves)
        told = sentences.event_sentences(offered, table, view.me)
        facts += told if view.display.is_for_reader else [" ".join(told)]
    return facts


def board_and_status_lines(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style, the side to move and the open offers."""
    return board_lines(table, view) + status_lines(table, view)


# Lists of boards.


def battles(hall: Hall, width: int) -> list[str]:
    """List the boards where a match is under way."""
    entries = [
        f"{board_line(hall, table)}" for table in hall.tables.values() if table.has_match_under_way
    ]
    if not entries:
        how = ' "play" begins one.' if hall.opens_boards else ""
        return wrap(f"No match is being played.{how}", width)
    lines = wrap_each((f"  {each}" for each in entries), width, "    ")
    how = 'To watch one, type "observe" or "go to" and the name of its board.'
    return lines + wrap(how, width)


def board_line(hall: Hall, table: Table) -> str:
    """Return the entry of a board in the list of boards."""
    taken = [
        f"{seat.player} ({seat.side.plural}{', away' if seat.side in table.away else ''})"
        for seat in table.seating
        if seat.player is not None
    ]
    if table.is_practice:
        taken = [f"{table.seats[Side.DWARF]} (both sides{', away' if table.away else ''})"]
    facts = [" and ".join(taken) or "both seats free"]
    if taken:
        if table.match or table.is_full:
            facts.append(_progress(table))
        facts += [
            f"{seat.side.value} seat {'empty' if seat.reserved_for else 'free'}"
            for seat in table.seating
            if seat.player is None
        ]
    watching = len([name for name in hall.people_in(table.name) if not table.side_of(name)])
    if watching:
        facts.append(f"{watching} watching")
    time = f", {table.time}" if table.time else ""
    rated = sentences.rated_suffix(table) if table.has_match_under_way else ""
    return f"{table.name} ({table.ruleset.name} rules{time}{rated}): {'; '.join(facts)}"


def _progress(table: Table) -> str:
    match = table.match
    if match is None:
        return "no battle begun"
    if match.is_over:
        return "battle over" if match.is_practice else "match over"
    if not match.is_running:
        return "between the battles of a match"
    moves = pluralize(len(match.game.moves), "move")
    which = "practice" if match.is_practice else f"battle {match.battle}"
    return f"{which}, {moves} played, {match.game.position.turn.plural} to move"


def summary(game: Game) -> list[str]:
    """Return the board of a battle with its score, and its ending or side to move."""
    last = game.moves[-1] if game.moves else None
    lead, outcome = game.score.dwarf - game.score.troll, game.outcome
    ahead = "even"
    if lead:
        side = Side.DWARF if lead > 0 else Side.TROLL
        ahead = f"the {side.plural} {'win' if outcome else 'lead'} by {abs(lead)}"
    state = f"It is the {game.position.turn.plural}' turn."
    if outcome:
        loser = f"the {outcome.winner.other.plural}" if outcome.winner else UNKNOWN
        ending = sentences.past_ending(outcome, game.ruleset, loser)
        state = f"The battle is over: {ending}."
    grid = boards.grid(game.position, last, Display(), boards.GridLayout.SPACED)
    return [
        *map(str.rstrip, grid),
        f"{rules_title(game.ruleset.name)} rules, {pluralize(len(game.moves), 'move')}",
        f"{sentences.score_phrase(game.score)}; {ahead}.",
        state,
    ]
