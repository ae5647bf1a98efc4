"""What each rule of the grammar builds: the words that it matched -> a command.

Owns the builders of the commands about games, battles and rooms; those of options and queries are
in `thudmud.commands.building_options`. Must never read a line.
"""

from __future__ import annotations

from lark import Token, Transformer, v_args

from thudmud.commands.archive import (
    Games,
    History,
    Record,
    Replay,
    Standings,
    Step,
    ViewScore,
    Way,
)
from thudmud.commands.building_options import OptionBuilder, QueryBuilder, spoken, square
from thudmud.commands.model import (
    Adjourn,
    Boards,
    Claim,
    Command,
    Emote,
    End,
    Go,
    Help,
    Invite,
    Join,
    Leave,
    Look,
    No,
    Password,
    Play,
    Quit,
    Register,
    Resign,
    Resume,
    Say,
    SetBoard,
    SetRules,
    Start,
    Style,
    Syntax,
    Tell,
    Undo,
    ViewGame,
    ViewPossible,
    Who,
)
from thudmud.rules import EVERY, Attempt, Every, Side, Square, Verb

_Captures = tuple[Square, ...] | Every


@v_args(inline=True)
class _GameBuilder(Transformer[Token, Command]):
    """Builds the commands about games, battles and rooms."""

    def join(self, side: Token, on: str | None) -> Join:
        return Join(Side[side.type], on)

    def leave(self, on: str | None) -> Leave:
        return Leave(on)

    def end(self, on: str | None) -> End:
        return End(on)

    def begin(self, on: str | None) -> Start:
        return Start(on)

    def resign(self, on: str | None) -> Resign:
        return Resign(on)

    def undo(self, on: str | None) -> Undo:
        return Undo(on)

    def no(self, on: str | None) -> No:
        return No(on)

    def claim(self, on: str | None) -> Claim:
        return Claim(on)

    def adjourn(self, on: str | None) -> Adjourn:
        return Adjourn(on)

    def resume(self, number: Token | None, on: str | None) -> Resume:
        return Resume(None if number is None else int(number), on)

    def set_board(self, style: Token, on: str | None) -> SetBoard:
        return SetBoard(Style[style.type], on)

    def set_rules(self, rules: Token, on: str | None) -> SetRules:
        return SetRules(spoken(rules.type), on)

    def view_game(self, on: str | None) -> ViewGame:
        return ViewGame(on)

    def view_possible(self, origin: Token | None, on: str | None) -> ViewPossible:
        return ViewPossible(None if origin is None else square(origin), on)

    def play(
        self, verb: Token, origin: Token, target: Token, on: str | None, captures: _Captures | None
    ) -> Play:
        return Play(Attempt(Verb[verb.type], square(origin), square(target), captures), on)

    def play_turned(
        self, verb: Token, origin: Token, target: Token, captures: _Captures, on: str
    ) -> Play:
        return self.play(verb, origin, target, on, captures)

    def on(self, words: Token) -> str:
        return str(words)

    def capturing(self, *positions: Token) -> _Captures:
        return tuple(map(square, positions))

    def capturing_all(self) -> _Captures:
        return EVERY

    def capturing_none(self) -> _Captures:
        return ()

    def games(self) -> Games:
        return Games()

    def history(self, player: Token | None, page: Token | None) -> History:
        return History(_text(player), 1 if page is None else int(page))

    def replay(self, number: Token) -> Replay:
        return Replay(int(number))

    def step(self, way: Token) -> Step:
        return Step(Way[way.type])

    def record(self, number: Token) -> Record:
        return Record(int(number))

    def score(self, player: Token | None) -> ViewScore:
        return ViewScore(_text(player))

    def standings(self) -> Standings:
        return Standings()

    def look(self, words: Token | None) -> Look:
        return Look(_text(words))

    def go(self, words: Token) -> Go:
        return Go(str(words))

    def go_hall(self) -> Go:
        return Go()

    def boards(self) -> Boards:
        return Boards()

    def who(self) -> Who:
        return Who()

    def say(self, speech: Token) -> Say:
        return Say(str(speech))

    def emote(self, deed: Token) -> Emote:
        return Emote(str(deed))

    def tell(self, player: Token, speech: Token) -> Tell:
        return Tell(str(player), str(speech))

    def invite(self, player: Token, side: Token | None, on: str | None) -> Invite:
        return Invite(str(player), None if side is None else Side[side.type], on)

    def help(self, topic: Token | None) -> Help:
        return Help(_text(topic))

    def syntax(self, topic: Token | None) -> Syntax:
        return Syntax(_text(topic))

    def register(self) -> Register:
        return Register()

    def password(self) -> Password:
        return Password()

    def quit(self) -> Quit:
        return Quit()


def _text(token: Token | None) -> str | None:
    return None if token is None else str(token)


class Builder(_GameBuilder, QueryBuilder, OptionBuilder):
    """Builds the commands while the line is read; each method is named for a rule."""
