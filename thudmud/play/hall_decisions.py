"""What a command brings about in the hall, or why it does not.

What each command means to the one who types it: at which board, with which words to whom; how
people come and go; and what is wanted of the battles that were played. What happens at a board is
left to `thudmud.play.table_decisions`. Nothing changes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from operator import attrgetter
from typing import assert_never

from thudmud.english import capitalised
from thudmud.errors import Refused
from thudmud.play import exercise_decisions, matchmaking, table_decisions
from thudmud.play.analysis import (
    GOES_ON,
    SHORTEST,
    AnalysedBattle,
    Analysis,
    AnalysisLookup,
    KeptAnalysisLookup,
    UnderWayLookup,
)
from thudmud.play.archive import (
    AdjournedLookup,
    BattleLookup,
    BotList,
    Found,
    FoundBattle,
    HistoryLookup,
    ListedBot,
    Performance,
    PlayerScore,
    ScoreLookup,
    StandingsLookup,
)
from thudmud.play.asides import (
    AnalysisCancelled,
    Aside,
    Asked,
    CameIn,
    CaughtUp,
    CommentMade,
    Emoted,
    Entered,
    Gone,
    IgnoreChosen,
    Invited,
    OptionChosen,
    Question,
    Replayed,
    Spoke,
    StyleChosen,
    Told,
    TurnedDown,
    WentOut,
)
from thudmud.play.commands import (
    Accept,
    Adjourn,
    Again,
    Analyse,
    ArchiveCommand,
    Around,
    Boards,
    CancelAnalysis,
    Captures,
    Challenge,
    Claim,
    Command,
    Decline,
    Emote,
    End,
    Games,
    Go,
    Help,
    Hint,
    History,
    Ignore,
    Invite,
    Join,
    LastMove,
    Leave,
    LeaveExercise,
    Lessons,
    Lines,
    Look,
    MakeComment,
    NewBoard,
    No,
    Password,
    Play,
    PlayNow,
    Practice,
    Quit,
    Register,
    Replay,
    Resign,
    Resume,
    Say,
    ScanColumn,
    ScanRow,
    Seek,
    Seeks,
    SetBoard,
    SetRules,
    SetUp,
    SetUpLess,
    SetUpMore,
    SetUpOpening,
    Start,
    Step,
    Style,
    Syntax,
    Tell,
    TryPuzzle,
    Tutorial,
    Undo,
    Unignore,
    ViewBots,
    ViewGame,
    ViewNews,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
    Where,
    Who,
    Withdraw,
)
from thudmud.play.events import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    MADE,
    Adjourned,
    BattleEnded,
    BattleStarted,
    BoardOpened,
    Commented,
    Declined,
    Moved,
    Offer,
    Parting,
    SavedMatch,
    SeekMade,
    TakenBack,
)
from thudmud.play.exercise_decisions import put_aside
from thudmud.play.hall import MOST_IGNORED, Decision, Hall, Person
from thudmud.play.hints import AdviceLookup, advice
from thudmud.play.meaning import (
    away_from,
    board_meant,
    fits_a_board,
    hall_board_meant,
    level_meant,
    player_meant,
)
from thudmud.play.options import (
    Options,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOrient,
    SetPrompt,
    SetReader,
    SetScheme,
    SetWidth,
    ShowOptions,
    ShowScheme,
    after,
)
from thudmud.play.refusals import Refusal
from thudmud.play.table import Table
from thudmud.play.table_decisions import (
    Context,
    Events,
    battle,
    come_back,
    invited,
    require_turn,
    seat,
    vanish,
)
from thudmud.rules import Comment, Game


def decide(
    hall: Hall, player: str, command: Command, now: float, found: Found | None = None
) -> list[Decision]:
    """Return what ``command`` would bring about, to be committed in this order.

    Args:
        hall: the hall as it stands.
        player: the name of somebody who is here.
        command: what they ask for.
        now: the time, in seconds since the epoch.
        found: what has been looked up for it.

    Raises:
        Refused: a table or the hall does not allow it.
        IllegalMove: the rules of the game do not allow it.
        Unread: something has to be looked up first.
    """
    if isinstance(command, Quit):
        return part(hall, player, Parting.QUIT, now)
    person, context = hall.people[player], Context(now, hall.members)
    found = found or Found()
    if (exercised := exercise_decisions.obey(hall, person, command, now, found)) is not None:
        return [exercised]
    decision = _decide(command, hall, person, context, found)
    return [exercise_decisions.followed(hall, command, decision, now, found)]


def _decide(
    command: Command, hall: Hall, person: Person, context: Context, found: Found
) -> Decision:
    """Return what any command but ``quit`` brings about. What is typed most comes first."""
    name = person.name
    match command:
        case No(on=None) if answer := matchmaking.declined(hall, person, context):
            return _decide(answer, hall, person, context, found)
        case (
            Play()
            | Start()
            | End()
            | Leave()
            | Undo()
            | No()
            | Resign()
            | Claim()
            | Adjourn()
            | SetRules()
            | SetUp()
            | SetUpMore()
            | SetUpLess()
            | SetUpOpening()
        ):
            if not isinstance(command, SetRules):
                _require_seat(hall, person, command.on)
            table = hall_board_meant(hall, person, command.on)
            return _at(table, person, table_decisions.decide(table, name, command, context))
        case (
            Seek()
            | Challenge()
            | Seeks()
            | Accept()
            | Decline()
            | Withdraw()
            | PlayNow()
            | NewBoard()
        ):
            if command == PlayNow() and person.replay:
                return _step(Step(Way.PLAY), hall, person, found)
            found_out = matchmaking.decide(command, hall, person, context, found)
            if isinstance(found_out, Decision):
                return found_out
            return _decide(found_out, hall, person, context, found)
        case Say(text):
            return Decision(name, asides=(Spoke(name, person.room, text),))
        case Emote(text):
            return Decision(name, asides=(Emoted(name, person.room, text),))
        case Tell(to, text):
            return _tell(hall, name, to, text)
        case Ignore(words):
            return _ignore(hall, person, words) if words else _answer(person, command)
        case Unignore(words):
            return _unignore(hall, person, words)
        case Look():
            return _look(command, hall, person)
        case Go():
            return _go(command, hall, person)
        case Join() | Practice():
            return _sit(command, hall, person, context)
        case Resume():
            table = hall_board_meant(hall, person, command.on)
            saved = _to_resume(command, hall, person, table, found)
            return _at(table, person, table_decisions.resume(table, name, saved, context))
        case Invite():
            return _invite(command, hall, person, context)
        case Step():
            return _step(command, hall, person, found)
        case MakeComment():
            return _comment(command, hall, person, context, found)
        case (
            Games()
            | History()
            | ViewRecord()
            | Replay()
            | ViewScore()
            | ViewStandings()
            | Analyse()
            | CancelAnalysis()
        ):
            shown = _looked_up(hall, person, command, found)
            left = put_aside(person) if isinstance(shown, Replayed) else ()
            return Decision(name, asides=(*left, shown))
        case Tutorial() | Lessons() | TryPuzzle() | LeaveExercise():
            return exercise_decisions.begin(hall, person, command, found)
        case (
            Where()
            | ScanRow()
            | ScanColumn()
            | Around()
            | Lines()
            | Captures()
            | LastMove()
            | ViewGame()
        ):
            return _answer(person, command, board_meant(hall, person, command.on).name)
        case ViewPossible():
            table = board_meant(hall, person, command.on)
            battle(table)
            return _answer(person, command, table.name)
        case Hint():
            return _hint(command, hall, person, found)
        case ViewBots():
            return Decision(name, asides=(Asked(name, command, answer=_bots(hall, found)),))
        case Boards() | Who() | ViewNews() | Help() | Syntax() | ShowOptions() | ShowScheme():
            return _answer(person, command)
        case SetBoard():
            board = board_meant(hall, person, command.on).name
            return Decision(name, board, asides=(StyleChosen(name, board, command.style),))
        case (
            SetCharset()
            | SetColour()
            | SetWidth()
            | SetOrient()
            | SetReader()
            | SetMachine()
            | SetPrompt()
            | SetScheme()
            | SetElement()
        ):
            chosen = OptionChosen(name, command, after(person.options, command))
            return Decision(name, asides=(chosen,))
        case Register() | Password():
            # Whoever keeps accounts sees to these before they come here.
            raise Refused(Refusal.NO_ACCOUNTS)
        case Again():
            # What was done last stands in its place, if there is anything.
            raise Refused(Refusal.NOTHING_TO_REPEAT)
        case Quit():
            raise ValueError("to quit is more than one decision")
        case _:
            assert_never(command)


_TOLD_TO_OTHERS = Spoke | Emoted | Told | Invited | TurnedDown | WentOut | CameIn | CommentMade


def _require_seat(hall: Hall, person: Person, on: str | None) -> None:
    """Refuse what is for players to one who plays nowhere, and names no board."""
    if on is None and person.room is None and hall.opens_boards and not hall.seats_of(person.name):
        raise Refused(Refusal.NOT_PLAYING)


def is_limited(hall: Hall, decision: Decision) -> bool:
    """Whether a player may do what was decided for them only so often in a time.

    That is all that others are told of or that is stored for ever, but for what nobody can do again
    and again by themselves: a ply waits for the opponent's, an answer for an offer, and what is
    over has to be begun anew. In practice nothing waits, and it counts if somebody else looks on.
    """
    if any(isinstance(event, SeekMade | BoardOpened) for event in decision.hall):
        return True
    if not decision.events:
        return any(isinstance(aside, _TOLD_TO_OTHERS) for aside in decision.asides)
    board = str(decision.board)
    match decision.events[-1]:
        case Moved() | Declined() | TakenBack() | Adjourned() | BattleEnded():
            others = set(hall.people_in(board)) - {decision.player}
            return bool(others) and hall.tables[board].is_practice
        case BattleStarted():
            return Offer.RESTART not in hall.tables[board].offers
        case _:
            return True


def _look(command: Look, hall: Hall, person: Person) -> Decision:
    match command.at and command.at.lower():
        case None | "here" | "round" | "around":
            return _answer(person, Look(), person.room)
        case "hall" | "the hall":
            return _answer(person, Look())
        case "me" | "myself":
            return _answer(person, Look(person.name))
        case words if words in hall.names and not fits_a_board(hall, words):
            return _answer(person, Look(hall.names[words]))
        case words if not fits_a_board(hall, words) and (away := away_from(hall, words)):
            raise Refused(Refusal.AWAY_FROM, player=away[0], boards=away[1])
    return _answer(person, command, board_meant(hall, person, command.at).name)


def _go(command: Go, hall: Hall, person: Person) -> Decision:
    to = None if command.to is None else hall_board_meant(hall, person, command.to).name
    if to == person.room:
        if to is None:
            raise Refused(Refusal.ALREADY_IN_HALL)
        raise Refused(Refusal.ALREADY_THERE, board=to)
    return Decision(person.name, to, asides=(*put_aside(person), *_walk(person, to)))


def _tell(hall: Hall, player: str, words: str, text: str) -> Decision:
    to = player_meant(hall, words)
    if to == player:
        raise Refused(Refusal.TELL_SELF)
    _require_listening(hall, to, player)
    return Decision(player, asides=(Told(player, to, text),))


def _require_listening(hall: Hall, to: str, player: str) -> None:
    """Raise Refused if somebody does not want to hear a player."""
    if hall.ignores(to, player):
        raise Refused(Refusal.NOT_LISTENING, player=to)


def _ignore(hall: Hall, person: Person, words: str) -> Decision:
    """Return that a player ignores another, who need not be here."""
    try:
        other, is_here = player_meant(hall, words), True
    except Refused as refusal:
        is_name = words.isalpha() and len(words) <= LONGEST_NAME
        if refusal.code is not Refusal.NO_SUCH_PLAYER or not is_name:
            raise
        other, is_here = capitalised(words), False
    if other == person.name:
        raise Refused(Refusal.IGNORE_SELF)
    if hall.ignores(person.name, other):
        raise Refused(Refusal.IGNORED_ALREADY, player=other)
    if len(person.ignored) >= MOST_IGNORED:
        raise Refused(Refusal.IGNORES_TOO_MANY, most=MOST_IGNORED)
    chosen = IgnoreChosen(person.name, other, (*person.ignored, other), is_here)
    return Decision(person.name, asides=(chosen,))


def _unignore(hall: Hall, person: Person, words: str) -> Decision:
    """Return that a player hears another again, whose name is these words or begins so."""
    beginning = words.lower()
    near = [name for name in person.ignored if name.lower().startswith(beginning)]
    exact = [name for name in near if name.lower() == beginning]
    match exact or near:
        case [other]:
            left = tuple(name for name in person.ignored if name != other)
            chosen = IgnoreChosen(person.name, other, left, other.lower() in hall.names)
            return Decision(person.name, asides=(chosen,))
        case []:
            raise Refused(Refusal.NOT_IGNORED, words=words)
        case several:
            raise Refused(Refusal.WHICH_PLAYER, words=words, players=tuple(several))


def _sit(command: Join | Practice, hall: Hall, person: Person, context: Context) -> Decision:
    # One who sits at several boards, and stands at none, has to say which.
    if command.on is None and person.room is None and len(hall.seats_of(person.name)) > 1:
        raise Refused(Refusal.SAY_WHICH, boards=tuple(hall.tables))
    table = hall_board_meant(hall, person, command.on)
    if table.key.startswith(MADE) and person.name not in {*hall.bots, *table.seats.values()}:
        matchmaking.require_boards(hall, person.name)
    asked = person.invitations.items()
    askers = frozenset(by for by, each in asked if each.board == table.name)
    context = replace(context, askers=askers)
    if isinstance(command, Join):
        usual = hall.usual_level(person.name)
        command = replace(command, level=usual and (command.level or usual))
    events = table_decisions.decide(table, person.name, command, context)
    walk = _walk(person, table.name, sits=True) if person.room != table.name else ()
    return _at(table, person, events, (*put_aside(person), *walk))


def _invite(command: Invite, hall: Hall, person: Person, context: Context) -> Decision:
    to, table = player_meant(hall, command.player), hall_board_meant(hall, person, command.on)
    level = None if command.level is None else level_meant(hall, to, command.level).number
    asked = invited(table, person.name, to, command.side, context, level=level)
    _require_listening(hall, to, person.name)
    return Decision(person.name, table.name, asides=(asked,))


def _hint(command: Hint, hall: Hall, person: Person, found: Found) -> Decision:
    """Return what somebody is advised to play, if it is their turn, and nobody is wronged by it."""
    table = board_meant(hall, person, command.on)
    side = seat(table, person.name)
    if rated := _rated_board(hall, person.name):
        raise Refused(Refusal.NO_HINTS_RATED, board=rated)
    game = battle(table)
    require_turn(table, side)
    line = found[AdviceLookup(table.key, game)]
    if line is None:
        raise Refused(Refusal.HINT_FAILED, board=table.name)
    asked = Asked(person.name, command, table.name, advice(game, line))
    return Decision(person.name, table.name, asides=(asked,))


def _rated_board(hall: Hall, player: str) -> str | None:
    """Return a board at which a player is in a battle that counts for ratings, if there is one.

    They are given no help at any other: who thinks of one board may have the other in mind.
    """
    for each in hall.seats_of(player):
        if each.running and each.match and each.match.between_members:
            return each.name
    return None


def _step(command: Step, hall: Hall, person: Person, found: Found) -> Decision:
    replay = person.replay
    at_end = replay is None or replay.ply == len(replay.game.moves)
    if command.way is Way.LAST and at_end and person.room:
        return _answer(person, LastMove(), person.room)  # that is "last" for "last move"
    return Decision(person.name, asides=(_looked_up(hall, person, command, found),))


def _at(table: Table, person: Person, events: Events, asides: tuple[Aside, ...] = ()) -> Decision:
    return Decision(person.name, table.name, table.version, events, asides)


def _walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[Aside, ...]:
    return (WentOut(person.name, person.room, to), CameIn(person.name, to, sits))


def _answer(person: Person, question: Question, board: str | None = None) -> Decision:
    return Decision(person.name, board, asides=(Asked(person.name, question, board),))


# Coming and going: seats are kept, or given up, or taken again.


def part(hall: Hall, player: str, parting: Parting, now: float) -> list[Decision]:
    """Return what happens when ``player`` quits or is lost: seats kept or given up, then gone."""
    left: list[Decision] = []
    for table in hall.seats_of(player):
        events = vanish(table, player, parting, now)
        left.append(Decision(player, table.name, table.version, events))
    room = hall.people[player].room
    gone = Gone(player, room, parting, told=room in {each.board for each in left if each.events})
    return [*left, Decision(player, asides=(gone,))]


def arrive(
    hall: Hall,
    player: str,
    now: float,
    *,
    member: bool,
    styles: Mapping[str, Style],
    options: Options | None = None,
    ignored: tuple[str, ...] | None = None,
    room: str | None = None,
    adjourned: bool = False,
) -> list[Decision]:
    """Return what happens when ``player`` comes in; ``adjourned`` if a match of theirs is put away.

    They come to the board ``room``, if it is given; else to where a seat was kept, or to the hall.
    """
    kept = sorted(hall.seats_of(player), key=lambda table: not _has_turn(table, player))
    seats = [table.name for table in kept]
    room = room or next(iter(seats), None)
    back = [
        Decision(player, table.name, table.version, come_back(table, player, now)) for table in kept
    ]
    entered = Entered(player, room, member, tuple(styles.items()), options, adjourned, ignored)
    news = [
        CaughtUp(player, table.name, tuple(hall.missed.get((table.name, side), ())))
        for table in kept
        if (side := table.side_of(player))
    ]
    if room and room not in seats:
        news.append(CaughtUp(player, room))
    return [Decision(player, asides=(entered,)), *back, Decision(player, room, asides=(*news,))]


def _has_turn(table: Table, player: str) -> bool:
    game = table.game
    return bool(game and table.running and game.position.turn is table.side_of(player))


# The battles that were played, and those that are put away.


def _looked_up(hall: Hall, person: Person, command: ArchiveCommand, found: Found) -> Aside:
    """Return what ``command`` shows to ``person``.

    Raises:
        Refused: there is no such battle, or none is being replayed or analysed; or they are not to
            have it analysed.
        Unread: it has to be looked up first.
    """
    me = person.name
    match command:
        case ViewRecord(number):
            return Asked(me, command, answer=_battle(number, found)[0])
        case Replay(number, ply):
            known, game = _battle(number, found)
            start, analysis = min(ply, len(game.moves)), None
            if known.battle.state not in GOES_ON and not _rated_board(hall, me):
                analysis = found[KeptAnalysisLookup(known.battle.id, len(game.moves))]
            comments = known.comments
            return Replayed(me, known.battle, game, start, comments=comments, analysis=analysis)
        case Step():
            seen = _stepped(person, command, found)
            return replace(seen, analysis=None) if _rated_board(hall, me) else seen
        case Analyse():
            analysed = _analysed(hall, person, command, found)
            return Asked(me, Analyse(analysed.battle.number), answer=analysed)
        case CancelAnalysis():
            under_way = found[UnderWayLookup(me)]
            if under_way is None:
                raise Refused(Refusal.NOTHING_ANALYSED)
            return AnalysisCancelled(me, under_way[0])
        case Games(everybodys=True):
            return Asked(me, command)
        case Games():
            return Asked(me, command, answer=found[AdjournedLookup(me)])
        case History(player, page):
            asked = replace(command, player=_named(player, me))
            return Asked(me, asked, answer=found[HistoryLookup(asked.player, page)])
        case ViewScore(player):
            asked_for = replace(command, player=_named(player, me))
            return Asked(me, asked_for, answer=found[ScoreLookup(asked_for.player or me)])
        case ViewStandings():
            return Asked(me, command, answer=found[StandingsLookup(me)])
        case _:
            assert_never(command)


def _bots(hall: Hall, found: Found) -> BotList:
    """Return the bots that are here, and how they have fared."""
    listed = []
    for name in hall.people:
        if (level := hall.usual_level(name)) is not None:
            score = found[ScoreLookup(name)] or PlayerScore(name)
            listed.append(ListedBot(name, level, score.levels.get(level, Performance())))
    return BotList(tuple(sorted(listed, key=lambda bot: bot.level or inf)))


def _named(player: str | None, me: str) -> str | None:
    return me if player and player.lower() in {"me", "myself"} else player


def _stepped(person: Person, step: Step, found: Found) -> Replayed:
    seen, way = person.replay, step.way
    if seen is None:
        raise Refused(Refusal.NOT_REPLAYING)
    number = seen.battle.number
    end = len(seen.game.moves)
    back = way in {Way.BACK, Way.FIRST}
    if seen.ply == (0 if back else end):
        reason = Refusal.REPLAY_AT_START if back else Refusal.REPLAY_AT_END
        if not back and _battle(number, found)[1] != seen.game:
            reason = Refusal.REPLAY_GONE_ON
        raise Refused(reason, number=number)
    on, back_to = min(seen.ply + step.plies, end), max(seen.ply - step.plies, 0)
    to = {Way.FIRST: 0, Way.LAST: end, Way.BACK: back_to}.get(way, on)
    then = seen.game.after(to, seen.then)
    return replace(seen, ply=to, playing=way is Way.PLAY and to < end, then=then)


def _analysed(hall: Hall, person: Person, command: Analyse, found: Found) -> AnalysedBattle:
    """Return the analysis of a battle: the one that is kept, or else a new one.

    Raises:
        Refused: there is no such battle, it cannot be analysed, or nobody is to help the player.
        Unread: it has to be looked up or found out first.
    """
    if rated := _rated_board(hall, person.name):
        raise Refused(Refusal.NO_ANALYSES_RATED, board=rated)
    number = command.number
    if number is None:
        if person.replay is None:
            raise Refused(Refusal.ANALYSE_WHICH)
        number = person.replay.battle.number
    known, game = _battle(number, found)
    battle = known.battle
    if battle.state in GOES_ON:
        raise Refused(Refusal.NOT_OVER, number=number)
    if len(game.moves) < SHORTEST:
        raise Refused(Refusal.TOO_SHORT, number=number)
    analysis: Analysis | None = found[KeptAnalysisLookup(battle.id, len(game.moves))]
    if analysis is None:
        analysis = found[AnalysisLookup(battle, game)]
    if analysis is None:
        raise Refused(Refusal.ANALYSIS_FAILED, number=number)
    return AnalysedBattle(battle, game, analysis)


MOST_COMMENTS = 100
"""On how many plies of a battle a player can comment."""


def _comment(
    command: MakeComment, hall: Hall, person: Person, context: Context, found: Found
) -> Decision:
    """Return that a player comments on a ply of a battle of theirs, or takes the comment away."""
    if hall.version is None:
        raise Refused(Refusal.NO_COMMENTS)
    number, ply, text, me = command.number, command.ply, command.text, person.name
    if number is None or ply is None:
        if person.replay is None:
            raise Refused(Refusal.NOT_REPLAYING)
        number, ply = person.replay.battle.number, person.replay.ply
    known, game = _battle(number, found)
    battle = known.battle
    if battle.imported or me not in known.players:
        raise Refused(Refusal.COMMENT_PLAYERS_ONLY, number=number)
    if battle.state in GOES_ON:
        raise Refused(Refusal.COMMENT_RUNNING, number=number)
    if ply > len(game.moves):
        raise Refused(Refusal.COMMENT_NO_SUCH_PLY, number=number, ply=ply, plies=len(game.moves))
    if len(text) > LONGEST_COMMENT:
        raise Refused(Refusal.COMMENT_TOO_LONG, most=LONGEST_COMMENT)
    mine = [each.ply for each in known.comments if each.player == me]
    if not text and ply not in mine:
        raise Refused(Refusal.COMMENT_NONE, number=number, ply=ply)
    if len(mine) >= MOST_COMMENTS and ply not in mine:
        raise Refused(Refusal.COMMENT_TOO_MANY, number=number, most=MOST_COMMENTS, ply=mine[0])
    others = tuple(each for each in known.comments if (each.ply, each.player) != (ply, me))
    comments = (*others, *((Comment(ply, me, text),) if text else ()))
    other = next((name for name in battle.players if name != me), "")
    made = CommentMade(me, other, number, ply, text, tuple(sorted(comments, key=attrgetter("ply"))))
    event = Commented(context.now, me, *battle.id, ply, text)
    return Decision(me, asides=(made,), hall=(event,), hall_version=hall.version)


def _to_resume(
    command: Resume, hall: Hall, person: Person, table: Table, found: Found
) -> SavedMatch:
    """Return the match that is meant: put away, and with both of its players at ``table``.

    Raises:
        Refused: there is none, or more than one, or somebody is not there.
        Unread: the player's matches have to be looked up first.
    """
    adjourned = {
        away.battle.number: away.match for away in found[AdjournedLookup(person.name)].matches
    }
    if not adjourned:
        going_on = tuple(each.name for each in hall.seats_of(person.name) if each.under_way)
        if going_on:
            raise Refused(Refusal.GOES_ON_ALREADY, boards=going_on)
        raise Refused(Refusal.NOTHING_ADJOURNED)
    if command.number is not None:
        if command.number not in adjourned:
            raise Refused(Refusal.NOT_YOURS_TO_RESUME, number=command.number)
        adjourned = {command.number: adjourned[command.number]}
    here = hall.people_in(table.name)
    if person.name not in here:
        raise Refused(Refusal.RESUME_THERE, board=table.name)
    ready = {
        number: saved
        for number, saved in adjourned.items()
        if saved.dwarf in here and saved.troll in here
    }
    match list(ready.items()):
        case [(_, saved)]:
            return saved
        case []:
            players = {name for saved in adjourned.values() for name in (saved.dwarf, saved.troll)}
            others = tuple(sorted(players - {person.name}))
            raise Refused(Refusal.OPPONENT_NOT_THERE, board=table.name, players=others)
    raise Refused(Refusal.WHICH_ADJOURNED, words=command.on, numbers=tuple(ready))


def _battle(number: int, found: Found) -> tuple[FoundBattle, Game]:
    known = found[BattleLookup(number)]
    if known is None:
        raise Refused(Refusal.NO_SUCH_BATTLE, number=number)
    if known.game is None:
        raise Refused(Refusal.NOT_KEPT, number=number)
    return known, known.game
