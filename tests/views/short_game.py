"""A short game that produces every kind of fact, for tests of the pages that document them."""

from __future__ import annotations

from collections import defaultdict

from thudmud.features.letters.commands import Letters
from thudmud.features.letters.model import Letter, LetterSent, LettersPage
from thudmud.features.notifications.commands import Notify
from thudmud.features.notifications.model import Contact, NotificationSettings, Quiet, Ways
from thudmud.features.playing.queries import Where
from thudmud.features.talk.messages import said_fact
from thudmud.game.asides import Spoke, Told
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.evaluation import Evaluation
from thudmud.game.hall import Hall
from thudmud.game.people import BotLevel
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import Game, Move, Piece, Side
from thudmud.views import Message
from thudmud.views.data import Fact
from thudmud.views.facts import as_json, machine_line
from thudmud.views.messages import answer_in_words
from thudmud.views.telling import delivery_facts
from thudmud.views.view import Screens, Terminal

BEGAN = 1_767_225_600.0
PAUSE = 10.0
"""Seconds between two lines."""

PACKAGES = {"Anna": frozenset({"thud"})}

LINES = [
    "Anna: join game as dwarf on oak board",
    "Bert: join game as troll on oak board",
    "Bert: set machine on",
    "Bert: start",
    "Anna: move from f1 to f6",
    "Bert: move from g7 to g6 capturing all",
    "Bert: undo",
    "Anna: undo",
    "Bert: move from g7 to f7 capturing f6",
    "Anna: hurl from a6 to b6",
    "Anna: move from a6 to e6",
    "Anna: say Your turn.",
    "Bert: emote smiles.",
    "Bert: tell Anna Wait and see.",
    "Anna: view possible from e6",
    "Anna: view possible",
    "Bert: view possible from f7",
    "Bert: view possible",
    "Bert: hint",
    "Bert: move from f7 to e7",
    "Anna: hint",
    "Anna: hurl from e6 to e7",
    "Bert: LOST",
    "Bert: BACK",
    "Anna: end game",
    "Bert: end game",
    "Anna: analyse 1",
    "Bert: analyse 1",
    "Anna: explore 1",
    "Bert: explore 1",
    "Anna: explore on elm table",
    "Anna: variation 1 4 dE6-F6",
    "Bert: variation 1 4 dE6-F6",
    "Anna: evaluate 1 4 dE6-F6",
    "Bert: evaluate 1 4 dE6-F6",
    "Bert: start game on oak board",
    "Anna: start",
    "Anna: adjourn",
    "Bert: no",
    "Anna: adjourn",
    "Bert: adjourn",
    "Anna: resume",
    "Bert: yes",
    "Bert: resign on it",
    "Bert: yes",
    *("Bert: leave game", "Bert: yes"),
    "Anna: leave game",
    "Anna: set rules koom valley",
    "Anna: join game as troll",
    "Anna: set rules koom valley",
    "Anna: look",
    "Anna: go to hall",
    "Anna: invite bert on elm table",
    "Bert: decline anna",
    "Bert: match anna classic 10+5 as troll",
    "Anna: decline bert",
    "Anna: join game as trol on elm table",
    "Bert: replay 9",
    "Anna: REGISTER",
    "Grog: BACK",
    "Grog: join game as dwarf on pine board",
    "Anna: join game as troll on pine board",
    "Anna: set clock 10+5",
    "Anna: start",
    "Grog: move from f1 to f2",
    "Anna: move from g7 to f7",
    "Grog: move from f2 to f1",
    "Anna: move from f7 to g7",
    "Grog: move from f1 to f2",
    "Anna: move from g7 to f7",
    "Anna: resign on it",
    "Anna: yes",
    "Anna: leave game",
    "Anna: yes",
    "Grog: leave game",
    "Anna: bots",
    "Bert: bots",
    "Anna: go to hall",
    "Anna: RENAME",
    "Bert: go to hall",
    "Anna: tutorial 2",
    "Anna: stop",
    "Bert: tutorial 2",
    "Bert: stop",
    "Anna: CLOSE",
    "Anna: comment 1 2 I should have seen that.",
    "Anna: observe pine board",
    "Bert: observe pine board",
    "Anna: quit",
    "Bert: quit",
    "Anna: MEMBER",
    "Bert: MEMBER",
    "Bert: set machine on",
    "Bert: plan The hall, on Sundays.",
    "Anna: join game as dwarf on pine board",
    "Bert: join game as troll on pine board",
    "Anna: start",
    "Anna: move from f1 to f2",
    "Bert: move from g7 to f7",
    "Anna: move from f2 to f1",
    "Bert: move from f7 to g7",
    "Anna: move from f1 to f2",
    "Bert: move from g7 to f7",
    "Anna: resign on it",
    "Anna: yes",
    "Anna: start game on pine board",
    "Bert: start",
    "Anna: adjourn",
    "Bert: adjourn",
    *(
        f"{player}: {question}"
        for question in (
            "who",
            "finger bert",
            "follow carl",
            "games",
            "history",
            "history all",
            "lessons",
            "standings",
            "score",
            "score grog",
            "record 1",
            "replay 1",
            "next",
        )
        for player in ("Anna", "Bert")
    ),
    *("Anna: tv", "Anna: tv off"),
    "Anna: go to pine board",
    "Carl: MEMBER",
    "Dora: MEMBER",
    "Carl: join game as dwarf on pine board",
    "Dora: join game as troll on pine board",
    "Carl: start",
    *("Bert: tv", "Bert: tv off"),
    *("Carl: move from f1 to f2", "Dora: move from g7 to f7"),
    *("Carl: leave game on pine board", "Carl: join as dwarf on pine board"),
    *("Carl: move from f2 to f1", "Dora: move from f7 to g7"),
    *("Carl: move from f1 to f2", "Dora: move from g7 to f7"),
    *("Carl: resign on it", "Carl: yes", "Dora: start game on pine board", "Carl: start"),
    *("Carl: resign on it", "Carl: yes"),
    "Anna: score carl",
    "Anna: finger carl",
    "Olga: BACK",
    "Olga: broadcast The tournament begins.",
    "Olga: shutdown in 10 minutes because of an update",
    "Olga: cancel shutdown",
    "Anna: record 3",
    "Anna: replay 3 5",
    *("Anna: go to hall", "Bert: go to hall", "Carl: leave game"),
    "Anna: options colour special thud dwarf bold bright red on #202020",
    'Anna: tournament new swiss 2 rounds 10+5 classic "Thursday" starts in 1 minute',
    *("Anna: enter 1", "Bert: enter 1", "Dora: enter 1", "Dora: tournament 1", "Dora: PASS"),
    *("Anna: resign on it", "Anna: yes", "Anna: tournament 1", "Bert: tournament 1"),
    *("Anna: tournaments", "Bert: tournaments", "Anna: cancel tournament 1", "Anna: tournament 1"),
    *("Anna: tournaments", "Anna: go to hall", "Bert: go to hall"),
    *("Carl: join game as troll on pine board", "Carl: start on pine board"),
    "Dora: start on pine board",
    *("Dora: move from f1 to f2 on pine", "Carl: move from g7 to f7 on pine"),
    *("Dora: move from f2 to f1 on pine", "Carl: move from f7 to g7 on pine"),
    *("Dora: move from f1 to f2 on pine", "Carl: move from g7 to f7 on pine"),
    *("Carl: resign on pine board", "Carl: yes", "Dora: start game on pine board"),
    "Carl: start on pine board",
    *("Carl: resign on pine board", "Carl: yes", "Anna: quit"),
]


AT_ONCE = (
    "analyse", "evaluate", "explore", "hint", "view possible", "observe", "finger", "follow",
    "plan", "tv", "variation", "yes", "leave game on pine board", "join as dwarf on pine board",
    "start game on", "REGISTER",
)  # fmt: skip
"""Prefixes of lines that take no time, so that they don't change the times of later lines."""

ADVISED = {Side.TROLL: "TF7-F6xE6", Side.DWARF: "dE6-E7xE7"}


BEST = {0: "dA6-B6", 3: ADVISED[Side.TROLL]}
WORTHS = (0, -100, -100, -100, 300, 300)
"""The better moves that were missed, and the score of the battle before each ply."""


class Kibitzer:
    """An adviser with fixed answers."""

    at_once = 1

    async def advise(self, _board: str, game: Game) -> tuple[Move, ...]:
        return game.push(ADVISED[game.turn]).moves[-1:]

    async def evaluate(self, game: Game, _report: object = None) -> Evaluation:
        ply = len(game.moves)
        best = game.push(BEST[ply]).moves[-1:] if ply in BEST else tuple(game.legal_moves()[:1])
        return Evaluation(100, (WORTHS[ply],) * 2, best)


def played() -> dict[str, list[Message]]:
    """Return Anna's messages, with all packages enabled, and Bert's, as text."""
    names = {"oak board": "discworld", "elm table": "koom valley", "pine board": "discworld"}
    boards = [BoardSpec(name, rules) for name, rules in names.items()]
    house = House(boards, adviser=Kibitzer(), opens_boards=True)
    house.hall.order = Order(operators=frozenset({"olga"}))
    house.hall.bots = {"Grog": BotLevel(4, "Granite", "Keeps together.")}
    house.hall.levels = tuple(filter(None, house.hall.bots.values()))
    told: defaultdict[str, list[Message]] = defaultdict(list)
    now = BEGAN
    for line in ["Anna: BACK", "Bert: BACK", *LINES]:
        player, _, words = line.partition(": ")
        for message in _done(house, player, words, now):
            for name in message.to:
                told[name].append(message)
        now += 0 if words.startswith(AT_ONCE) else PAUSE
    heard = said_fact(
        [Spoke("Bert", "oak board", "Hello!"), Told("Anna", "Bert", "Shall we play?")]
    )
    told["Anna"] += [Message(("Anna",), as_json(each.data), each.package) for each in _answer()]
    for fact in (heard, *_of_letters(), *_of_notifying()):  # a house keeps nothing of these
        told["Anna"].append(Message(("Anna",), as_json(fact.data), fact.package))
        told["Bert"].append(Message(("Bert",), machine_line(fact)))
    return told


def _answer() -> list[Fact]:
    """Return the answer in words to a program's question."""
    house, screens = House([BoardSpec("oak board")]), Screens()
    house.enter("Anna", BEGAN)
    screens.fit("Anna", Terminal())
    asked, table = Asked("Anna", Where(Piece.STONE), "oak board"), house.hall.tables["oak board"]
    return answer_in_words(house.hall, Delivery(asked, ("Anna",), table), screens)


def _of_letters() -> list[Fact]:
    """Return the facts of a letter from Anna to Bert."""
    hall = Hall([BoardSpec("oak board")])
    page = LettersPage((Letter(1, "Anna", BEGAN, "Shall we play on Sunday?"),), 1, 1)
    told = LetterSent("Anna", "Bert", ""), Asked("Bert", Letters(), answer=page)
    return [fact for aside in told for fact in delivery_facts(hall, Delivery(aside, ("Bert",)))]


def _of_notifying() -> list[Fact]:
    """Return the facts of Anna's notification settings."""
    hall = Hall([BoardSpec("oak board")])
    hall.part(NotificationSettings).ways = Ways(has_mail=True, page="https://example.org")
    hours = Quiet(22 * 60, 7 * 60, 2 * 60)
    contact = Contact("anna@example.org", browsers=1, quiet=hours, feed=True)
    asked = Asked("Anna", Notify(), answer=contact)
    return delivery_facts(hall, Delivery(asked, ("Anna",)))


def _done(house: House, player: str, words: str, now: float) -> list[Message]:
    if words == "LOST":
        return house.depart(player, now)
    if words == "PASS":
        return house.pass_time(now + 60)
    if words == "RENAME":
        return house.rename_board("oak board", "yew board", now)
    if words == "CLOSE":
        return house.close_board("elm table", now)
    if words == "REGISTER":
        house.hall.people[player].is_member = True
        return []
    if words in {"BACK", "MEMBER"}:
        terminal = Terminal(packages=PACKAGES.get(player, frozenset()))
        return house.enter(player, now, terminal, member=words == "MEMBER")
    return house.obey(player, words, now)
