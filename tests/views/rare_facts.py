"""Facts with values that the short game doesn't produce, for the types in the reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.views.short_game import BEGAN, PAUSE
from thudmud.features.analysis.commands import Analyse
from thudmud.features.analysis.model import Analysing, Analysis, AnalysisCancelled
from thudmud.features.archive.commands import Games, History, ViewScore, ViewStandings
from thudmud.features.archive.messages import recorded
from thudmud.features.archive.model import CommentMade, Replayed
from thudmud.features.exercises.model import puzzles
from thudmud.features.explorer.commands import Explore
from thudmud.features.explorer.model import (
    ExploredPly,
    ExploredPosition,
    PlyStatistics,
    PositionStatistics,
)
from thudmud.features.hints.commands import Hint
from thudmud.features.letters.commands import Letters
from thudmud.features.letters.messages import letters_fact
from thudmud.features.letters.model import Letter, LettersPage
from thudmud.features.notifications.commands import Notify
from thudmud.features.notifications.model import Contact, NotificationSettings, Ways
from thudmud.features.people.commands import Finger
from thudmud.features.rooms.commands import ViewBots
from thudmud.features.tournaments.commands import Tournaments, ViewTournament
from thudmud.features.tournaments.model import PastTournament, PastTournaments, Tournament
from thudmud.features.tournaments.pairing import Entrant, MatchResult, Pairing
from thudmud.features.variations.commands import Evaluate, ViewVariation
from thudmud.features.variations.model import Evaluating, PositionEvaluation, VariationPosition
from thudmud.game.advice import Advice, Because, Merit
from thudmud.game.archive import (
    AdjournedMatch,
    Battle,
    Fingered,
    FoundBattle,
    HistoryPage,
    ListedBot,
    Performance,
    PlayerScore,
    Pool,
    RankedPlayer,
    Ranking,
    Rating,
    SeenMember,
    TournamentPlace,
)
from thudmud.game.asides import ResultTold
from thudmud.game.clocks import TimeControl
from thudmud.game.command import Asked, Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    BattleEnded,
    BattleId,
    SavedMatch,
    TournamentEnd,
    TournamentEnded,
    TournamentEntered,
    TournamentKind,
    TournamentMade,
    TournamentRound,
)
from thudmud.game.hall import Hall
from thudmud.game.people import BotLevel
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import CLASSIC, KOOM_VALLEY, Comment, Ending, Game, Outcome, Score, Side
from thudmud.values import replace
from thudmud.views.data import Fact
from thudmud.views.facts import as_json
from thudmud.views.telling import delivery_facts
from thudmud.views.view import Terminal

LINES = [
    "Anna: seek",
    "Anna: seek 3 days as troll",
    "Anna: seek by word copper",
    "Anna: invite grog level 4 on oak board",
    "Anna: join game as dwarf on oak board",
    "Bert: join game as troll on oak board",
    "Anna: set clock 10+5",
    "Anna: start",
    "Anna: who",
    "Anna: tv",
    "Anna: move f1 f6",
    "Anna: view possible from f7",
    "Bert: move g7 f7 capturing f6",
    "Anna: look",
    "Bert: LOST",
    "Anna: move a6 b6",
    "Bert: BACK",
    "Bert: move f7 f8",
    "Carl: leave game",
    "Anna: resign",
    "Anna: yes",
    "Anna: leave game",
    "Anna: yes",
    "Bert: leave game",
    "Anna: go to elm table",
    "Anna: setup dG2,TE6,RH2 turn dwarf",
    "Anna: practice",
    "Anna: move h2 h1",
    "Anna: view possible",
    "Anna: replay 2 1",
    "Anna: explore 2 1",
    "Anna: stop",
    "Anna: puzzle 1",
    f"Anna: {puzzles()[1].solution.attempt()}",
    "Anna: stop",
    "Anna: leave game",
    "Anna: options colour special thud dwarf bold",
    "Anna: go to hall",
    "Bert: join game as dwarf on pine board",
    "Carl: join game as troll on pine board",
    "Bert: start",
    "Bert: end game",
    "Carl: end game",
    "Carl: start",
    "Bert: start",
    "Bert: seek",
    "Dora: accept 1",
    "Bert: decline dora",
    "PASS",
    "Carl: move f1 f2",
    "Bert: leave game",
    "Bert: yes",
    "Anna: tournament new arena for 90 minutes 5+3 unrated starts in 1 minute",
    "Anna: enter 1",
    "Anna: finger anna",
]


def rare_facts() -> dict[str, list[Any]]:
    """Return facts by package, as they are in JSON."""
    found: dict[str, list[Any]] = {}
    for fact in (*_played(), *_archived(), *_of_people(), *_of_tournaments(), *_of_others()):
        found.setdefault(fact.package, []).append(json.loads(as_json(fact.data)))
    return found


def _played() -> Iterator[Fact]:
    names = {"oak board": "discworld", "elm table": "koom valley", "pine board": "discworld"}
    house = House([BoardSpec(name, rules) for name, rules in names.items()], opens_boards=True)
    house.hall.bots = {"Grog": BotLevel(4, "Granite", "Keeps together.")}
    house.hall.levels = tuple(filter(None, house.hall.bots.values()))
    terminal = Terminal(packages=frozenset({"thud"}))
    now = BEGAN
    for name in ("Grog", "Anna", "Bert", "Carl", "Dora"):
        house.enter(name, now, terminal)
    for line in LINES:
        player, _, words = line.partition(": ")
        if player == "PASS":
            now += 1000
            messages = house.pass_time(now)
        elif words == "LOST":
            messages = house.depart(player, now)
        elif words == "BACK":
            messages = house.enter(player, now, terminal)
        else:
            messages = house.obey(player, words, now)
        yield from (Fact(each.package, each.data) for each in messages if each.package)
        now += PAUSE


BATTLE = Battle(
    1,
    BattleId("oak board", 1),
    BEGAN,
    "discworld",
    "",
    "",
    BattleId("oak board", 1),
    plies=0,
    outcome=Outcome(Ending.AGREEMENT, None, Score(32, 32)),
    time=TimeControl(10, 5),
    tournament=TournamentRound(1, 2),
    title="Thursday",
    ratings=(1700, 1650),
)
"""A drawn battle of a tournament, by players whose accounts are gone."""
FORGOTTEN = BATTLE._replace(outcome=None, plies=None, ratings=(None, None))
RATING = Rating(1700, 60, 12)
POOL = Pool("discworld")


def _answer(question: Command, answer: object, hall: Hall | None = None) -> list[Fact]:
    """Return the facts of the answer to a question of Anna's."""
    known = hall or Hall([BoardSpec("oak board")])
    return delivery_facts(known, Delivery(Asked("Anna", question, answer=answer), ("Anna",)))


def _archived() -> Iterator[Fact]:
    """Yield facts of battles that were stored."""
    comment = Comment(0, "", "A bold move.")
    yield from recorded(FoundBattle(BATTLE, Game.start(CLASSIC), (comment,)), "Anna")
    yield from recorded(FoundBattle(FORGOTTEN, None), "Anna")
    yield from _answer(History("Anna"), HistoryPage((BATTLE, FORGOTTEN), 2))
    match = SavedMatch(
        BATTLE.id, 1, "classic", (0, 0), "Anna", "Bert", rated=False, moves=(), outcome=None
    )
    yield from _answer(Games(), (AdjournedMatch(FORGOTTEN, match),))
    game = Game.start(CLASSIC)
    line = game.legal_moves()[:1]
    battle = BATTLE._replace(plies=1)
    analysis = Analysis(100, (0, -30), (30,), (tuple(line),), (220,))
    yield from _answer(Analyse(1), (battle, game.play(line[0]), analysis))
    analysing = Analysing("Anna", battle, 0, 1)
    for aside in (analysing, AnalysisCancelled("Anna", analysing)):
        yield from delivery_facts(Hall([]), Delivery(aside, ("Anna",)))
    capture = game.push("dA6-E6").push("TG7-F7").legal_moves()
    statistics = PlyStatistics(1, 0, 0, 0, 0, 1)
    plies = tuple(
        ExploredPly(move, statistics, best)
        for move, best in zip((line[0], *capture[-1:]), (BATTLE, FORGOTTEN), strict=True)
    )
    found = PositionStatistics(plies, best=BATTLE)
    yield from _answer(Explore(1), ExploredPosition(game, 1, found))
    over = replace(game, outcome=Outcome(Ending.QUIET, Side.DWARF, Score(32, 30)))
    for position in (over, Game.start(KOOM_VALLEY), game.push("dA6-E6").push("TG7-F7")):
        yield from _answer(ViewVariation(1), VariationPosition(BATTLE, 0, position))
    evaluation = PositionEvaluation(0, 1, tuple(capture[-1:]))
    evaluated = VariationPosition(BATTLE, 0, game)
    yield from _answer(Evaluate(1), (evaluated, evaluation))
    yield from delivery_facts(
        Hall([]), Delivery(Evaluating("Anna", evaluated, evaluation), ("Anna",))
    )
    for made in (CommentMade("Anna", "Bert", 1, 2, ""), Replayed("Anna", BATTLE, game, 0)):
        yield from delivery_facts(Hall([]), Delivery(made, ("Anna",)))


def _of_people() -> Iterator[Fact]:
    """Yield facts of players' ratings and results."""
    rated = Performance(ratings={POOL: RATING})
    places = TournamentPlace(1, "", 1, 8), TournamentPlace(2, "Thursday", 3, 8)
    score = PlayerScore("Anna", rated, rated, {0: rated}, RATING, tournaments=places)
    yield from _answer(ViewScore(), score)
    ranking = Ranking(POOL, (RankedPlayer(1, "Anna", RATING),), 1)
    yield from _answer(ViewStandings(), ranking)
    yield from _answer(ViewBots(), (ListedBot("Flint", 0, Performance()),))
    member = SeenMember("Dora", BEGAN, "To win.")
    yield from _answer(Finger("Dora"), Fingered("Dora", member, score))


def _of_tournaments() -> Iterator[Fact]:
    """Yield the facts of a knock-out that is over, and of an earlier tournament."""
    knockout, time = TournamentKind.KNOCK_OUT, TimeControl(10, 5)
    made = TournamentMade(BEGAN, "Olga", 1, "Thursday", knockout, "classic", time, BEGAN)
    tournament = Tournament(
        made,
        (Entrant("Anna", 1700), Entrant("Bert", 1650)),
        {"Anna": TournamentEntered(BEGAN, "Anna", 1, 1700, is_member=True)},
        ((Pairing("Anna", "Bert", MatchResult(absent=("Bert",))),),),
        end=TournamentEnded(BEGAN, "", 1, TournamentEnd.OVER, ("Anna", "Bert"), (1, 2)),
    )
    yield from _answer(ViewTournament(1), tournament)
    past = PastTournament(1, "", knockout, "classic", "10+5", BEGAN, TournamentEnd.OVER, 2, "Anna")
    yield from _answer(Tournaments(), PastTournaments((past,), 1))


def _of_others() -> Iterator[Fact]:
    """Yield facts of a drawn match, of letters, and of notification settings."""
    draw = BattleEnded(
        BEGAN, "Anna", Outcome(Ending.AGREEMENT, None, Score(32, 32)), 40, "Anna", "Bert",
        rated=True, points=(60, 60),
    )  # fmt: skip
    hall = Hall([BoardSpec("oak board")])
    told = ResultTold("Anna", "oak board", 2, draw)
    yield from delivery_facts(hall, Delivery(told, ("Anna",)))
    house = House([BoardSpec("oak board")])
    house.enter("Anna", BEGAN)
    house.obey("Anna", "practice on oak board", BEGAN)
    table = house.hall.tables["oak board"]
    move = Game.start(CLASSIC).legal_moves()[0]
    advice = Advice(Side.DWARF, move, (Because(Merit.NEARS),), reply=move)
    asked = Asked("Anna", Hint(), answer=advice)
    yield from delivery_facts(hall, Delivery(asked, ("Anna",), table))
    yield from _answer(Letters(), LettersPage((Letter(1, "", BEGAN, "Ho!"),), 1, 1))
    yield letters_fact(LettersPage((), 1, 1), 0, "Anna")
    hall.part(NotificationSettings).ways = Ways(
        has_mail=True, push="BPk", page="https://example.org"
    )
    yield from _answer(Notify(), Contact(asked="anna@example.org", calendar="secret"), hall)
