"""What a command brings about in the hall, or why it does not.

What each command means to the one who types it: at which board, with which words to whom; how
people come and go; and what is wanted of the battles that were played. What happens at a board is
left to `thudmud.verbs.tables`. Nothing changes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import assert_never

from thudmud.errors import Refused
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
    Found,
    FoundBattle,
    HistoryLookup,
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
    ObserveChosen,
    OptionChosen,
    PlayersDeaf,
    Replayed,
    ReplayLeft,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.play.command import Command
from thudmud.play.commands import (
    Accept,
    Adjourn,
    Again,
    Analyse,
    ArchiveCommand,
    Around,
    Ban,
    Bans,
    Boards,
    Broadcast,
    CancelAnalysis,
    CancelShutdown,
    Captures,
    Challenge,
    Claim,
    CloseReport,
    Decline,
    Emote,
    End,
    FileReport,
    ForgetLetters,
    Games,
    Go,
    Help,
    Hint,
    History,
    Invite,
    Join,
    Kibitz,
    Kick,
    LastMove,
    Leave,
    Lessons,
    Letters,
    Lines,
    Look,
    MakeComment,
    Mute,
    Mutes,
    NewBoard,
    No,
    Observe,
    Password,
    Play,
    PlayNow,
    Practice,
    Quit,
    Register,
    Replay,
    Reports,
    Resign,
    Resume,
    Say,
    ScanColumn,
    ScanRow,
    Seek,
    Seeks,
    SendLetter,
    SetBoard,
    SetClock,
    SetRules,
    SetUp,
    SetUpCommand,
    SetUpLess,
    SetUpMore,
    SetUpOpening,
    Shout,
    Start,
    Step,
    Stop,
    StopServer,
    Style,
    Syntax,
    Tell,
    TryPuzzle,
    Tutorial,
    Unban,
    Undo,
    Unmute,
    Unobserve,
    ViewBots,
    ViewClock,
    ViewGame,
    ViewNews,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
    Where,
    Whisper,
    Withdraw,
)
from thudmud.play.events import (
    LONGEST_COMMENT,
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
    Resumed,
    SavedMatch,
    SeekMade,
    TakenBack,
)
from thudmud.play.hall import (
    MOST_OBSERVED,
    Decision,
    Hall,
    Person,
)
from thudmud.play.hints import AdviceLookup, advice
from thudmud.play.letters import NO_LETTERS, LetterCount
from thudmud.play.meaning import (
    board_meant,
    hall_board_meant,
    level_meant,
    observed_meant,
    player_meant,
    split_board,
    watched_meant,
)
from thudmud.play.options import (
    Options,
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
    ShowOptions,
    ShowScheme,
    Toggle,
    after,
)
from thudmud.play.refusals import Refusal
from thudmud.play.scene import Scene
from thudmud.play.table import Table
from thudmud.rules import Comment, Game, IllegalMove
from thudmud.verbs import exercises, letters, matchmaking, order, tables
from thudmud.verbs.exercises import put_aside
from thudmud.verbs.people import Finger, fingered, known_name, refuse_absent
from thudmud.verbs.tables import (
    Context,
    Events,
    TableCommand,
    battle,
    come_back,
    invited,
    require_turn,
    seat,
    vanish,
)


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
    if command.speaks:
        order.require_heard(hall, player, now)
    scene = Scene(hall, hall.people[player], now, found or Found(), player)
    if (exercised := exercises.obey(hall, scene.person, command, now, scene.found)) is not None:
        return [exercised]
    return [exercises.followed(hall, command, _decide(command, scene), now, scene.found)]


def _decide(command: Command, scene: Scene) -> Decision:
    """Return what any command but ``quit`` brings about. What is typed most comes first."""
    hall, person, now, found, name = scene
    context = Context(now, hall.members)
    match command:
        case No(on=None) if answer := matchmaking.declined(hall, person, context):
            return _decide(answer, scene)
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
            | SetClock()
            | SetUp()
            | SetUpMore()
            | SetUpLess()
            | SetUpOpening()
        ):
            table = _table_meant(hall, person, command, context)
            return _at(table, person, tables.decide(table, name, command, context))
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
            return _decide(found_out, scene)
        case Say() | Emote() | Kibitz() | Whisper() | Shout():
            return _speak(command, hall, person)
        case Observe() | Unobserve():
            return _observe(command, hall, person)
        case Tell():
            return _tell(command, scene)
        case SendLetter() | Letters() | ForgetLetters() | FileReport():
            return letters.decide(command, hall, person, found)
        case Look():
            return _look(command, scene)
        case Go():
            return _go(command, hall, person)
        case Join() | Practice():
            return _sit(command, hall, person, context)
        case Resume():
            return _resume(command, hall, person, context, found)
        case Invite():
            return _invite(command, scene, context)
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
        case Stop() if person.replay:
            return Decision(name, asides=(ReplayLeft(name, person.replay),))
        case Tutorial() | Lessons() | TryPuzzle() | Stop():
            return exercises.begin(hall, person, command, found)
        case (
            Where()
            | ScanRow()
            | ScanColumn()
            | Around()
            | Lines()
            | Captures()
            | LastMove()
            | ViewClock()
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
            bots = matchmaking.bots_here(hall, found)
            return Decision(name, asides=(Asked(name, command, answer=bots),))
        case Boards() | ViewNews() | Help() | Syntax() | ShowOptions() | ShowScheme():
            return _answer(person, command)
        case (
            Broadcast()
            | Mute()
            | Unmute()
            | Mutes()
            | Kick()
            | Ban()
            | Unban()
            | Bans()
            | Reports()
            | CloseReport()
            | StopServer()
            | CancelShutdown()
        ):
            return order.decide(command, hall, person, context.now, found)
        case SetBoard():
            board = board_meant(hall, person, command.on).name
            return Decision(name, board, asides=(StyleChosen(name, board, command.style),))
        case (
            SetCharset()
            | SetColour()
            | SetWidth()
            | SetOrient()
            | SetSize()
            | SetReader()
            | SetToggle()
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
    return command.decide(scene)


def _table_meant(hall: Hall, person: Person, command: TableCommand, context: Context) -> Table:
    """Return the table at which somebody wants to do something.

    Raises:
        Refused: they play nowhere, and name no board; or no board or more than one fits.
    """
    if not isinstance(command, SetRules | SetUpCommand | SetClock):
        _require_playing(hall, person, command.on)
        if command.on is None:
            _require_meant_here(hall, person, command, context)
    return hall_board_meant(hall, person, command.on)


def _require_playing(hall: Hall, person: Person, on: str | None) -> None:
    """Refuse what is for players to one who plays nowhere, and names no board."""
    if on is None and person.room is None and hall.opens_boards and not hall.seats_of(person.name):
        raise Refused(Refusal.NOT_PLAYING)


def _require_meant_here(
    hall: Hall, person: Person, command: TableCommand, context: Context
) -> None:
    """Refuse what may have been typed before its player was fetched to a match, and names no board.

    That is so if it could be done at either board.
    """
    boards = [board for board in (person.room, person.fetched_from) if board in hall.tables]
    if len(boards) < 2:
        return
    for board in boards:
        try:
            tables.decide(hall.tables[board], person.name, command, context)
        except (Refused, IllegalMove):
            return
    raise Refused(Refusal.SAY_WHICH, boards=tuple(boards))


def is_limited(hall: Hall, decision: Decision) -> bool:
    """Whether a player may do what was decided for them only so often in a time.

    That is all that others are told of or that is stored for ever, but for what nobody can do again
    and again by themselves: a ply waits for the opponent's, an answer for an offer, and what is
    over has to be begun anew. In practice nothing waits, and it counts if somebody else looks on.
    """
    if any(isinstance(event, SeekMade | BoardOpened) for event in decision.hall):
        return True
    if not decision.events:
        return any(aside.is_limited for aside in decision.asides)
    board = str(decision.board)
    match decision.events[-1]:
        case Moved() | Declined() | TakenBack() | Adjourned() | BattleEnded():
            others = hall.told_of(board).members - {decision.player}
            return bool(others) and hall.tables[board].is_practice
        case BattleStarted():
            return Offer.RESTART not in hall.tables[board].offers
        case _:
            return True


def _look(command: Look, scene: Scene) -> Decision:
    match command.at and command.at.lower():
        case None | "here" | "round" | "around":
            return scene.answer(Look(), scene.person.room)
        case "hall" | "the hall":
            return scene.answer(Look())
        case "me" | "myself":
            return Finger().decide(scene)
    try:
        return scene.answer(command, board_meant(scene.hall, scene.person, command.at).name)
    except Refused as refusal:
        if refusal.code is not Refusal.NO_BOARD_HERE:
            raise
        name = known_name(scene, str(command.at))
        if name is None:
            raise
        return scene.answer(Finger(name), answer=fingered(scene, name))


def _go(command: Go, hall: Hall, person: Person) -> Decision:
    to = None if command.to is None else hall_board_meant(hall, person, command.to).name
    if to == person.room:
        if to is None:
            raise Refused(Refusal.ALREADY_IN_HALL)
        raise Refused(Refusal.ALREADY_THERE, board=to)
    return Decision(person.name, to, asides=(*put_aside(person), *_walk(person, to)))


def _tell(command: Tell, scene: Scene) -> Decision:
    try:
        to = player_meant(scene.hall, command.player)
    except Refused as refusal:
        if refusal.code is Refusal.NO_SUCH_PLAYER:
            refuse_absent(scene, command.player)
        raise
    if to == scene.me:
        raise Refused(Refusal.TELL_SELF)
    _require_listening(scene.hall, to, scene.me)
    return scene.tell(Told(scene.me, to, command.text))


def _require_listening(hall: Hall, to: str, player: str) -> None:
    """Raise Refused if somebody does not want to hear a player."""
    if hall.ignores(to, player):
        raise Refused(Refusal.NOT_LISTENING, player=to)


def is_shout(decision: Decision) -> bool:
    """Whether all who listen hear what was decided, which a player may do less often yet."""
    asides = decision.asides
    return any(isinstance(each, Spoke) and each.talk is Toggle.SHOUT for each in asides)


def _speak(command: Say | Emote | Kibitz | Whisper | Shout, hall: Hall, person: Person) -> Decision:
    match command:
        case Say(text):
            return _aloud(hall, person, Spoke(person.name, person.room, text))
        case Emote(text):
            return _aloud(hall, person, Emoted(person.name, person.room, text))
        case Shout(text):
            if not person.options.has(Toggle.SHOUT):
                raise Refused(Refusal.SHOUTS_OFF)
            shouted = Spoke(person.name, None, text, Toggle.SHOUT)
            return Decision(person.name, asides=(shouted,))
        case Kibitz():
            return _talk(command, Toggle.KIBITZ, hall, person)
        case Whisper():
            return _talk(command, Toggle.WHISPER, hall, person)


def _aloud(hall: Hall, person: Person, aside: Spoke | Emoted) -> Decision:
    """Return what somebody says or does before a room.

    While a battle is played, whoever only watches it disturbs its players as little as they like.
    """
    table = hall.tables[person.room] if person.room else None
    if table is None or not table.running or person.name in table.seats.values():
        return Decision(person.name, asides=(aside,))
    aside = replace(aside, talk=Toggle.WATCHERS)
    here = (player for player in table.seats.values() if player in hall.people)
    is_deaf = not all(hall.hears(player, Toggle.WATCHERS, table) for player in here)
    learns = is_deaf and not person.knows_deaf
    more = (PlayersDeaf(person.name, table.name),) if learns else ()
    return Decision(person.name, asides=(aside, *more))


def _talk(command: Kibitz | Whisper, talk: Toggle, hall: Hall, person: Person) -> Decision:
    """Return what somebody says about a battle.

    As on FICS, its players can do both, too: a whisper of theirs is for those who watch, and spares
    the opponent. They hear none, so nobody can help them in this way.
    """
    text, words = split_board(hall, command.text)
    table = watched_meant(hall, person, words)
    spoke = Spoke(person.name, table.name, text, talk)
    return Decision(person.name, table.name if words else None, asides=(spoke,))


def _observe(command: Observe | Unobserve, hall: Hall, person: Person) -> Decision:
    """Return that somebody is told of a board from afar, or no longer; or of which they are."""
    if isinstance(command, Unobserve):
        return _unobserve(hall, person, command.at)
    if command.at is None:
        return _answer(person, command)
    table = observed_meant(hall, person, command.at)
    board, observed = table.name, person.observed
    if person.name in table.seats.values():
        raise Refused(Refusal.OBSERVES_OWN, board=board)
    if board in observed:
        raise Refused(Refusal.OBSERVED_ALREADY, board=board)
    if len(observed) >= MOST_OBSERVED:
        raise Refused(Refusal.OBSERVES_TOO_MANY, most=MOST_OBSERVED, boards=observed)
    chosen = ObserveChosen(person.name, board, (*observed, board))
    return Decision(person.name, board, asides=(chosen,))


def _unobserve(hall: Hall, person: Person, words: str | None) -> Decision:
    """Return that somebody is told no longer of a board, or of all that they observe."""
    observed = person.observed
    if not observed:
        raise Refused(Refusal.OBSERVES_NOTHING)
    ends = observed if words is None else (observed_meant(hall, person, words).name,)
    chosen = []
    for board in ends:
        if board not in observed:
            raise Refused(Refusal.NOT_OBSERVED, board=board, boards=observed)
        observed = tuple(each for each in observed if each != board)
        chosen.append(ObserveChosen(person.name, board, observed))
    return Decision(person.name, asides=tuple(chosen))


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
        command = replace(command, level=hall.level(person.name, command.level))
    events = tables.decide(table, person.name, command, context)
    walk = _walk(person, table.name, sits=True) if person.room != table.name else ()
    return _at(table, person, events, (*put_aside(person), *walk))


def _invite(command: Invite, scene: Scene, context: Context) -> Decision:
    hall, person = scene.hall, scene.person
    is_anywhere = command.on is None and person.room is None and not hall.seats_of(person.name)
    if is_anywhere and hall.opens_boards:  # to no seat, so it is a match that is wanted
        side = command.side and command.side.other
        asked_for = Challenge(command.player, side=side, level=command.level)
        return _decide(asked_for, scene)
    to, table = player_meant(hall, command.player), hall_board_meant(hall, person, command.on)
    level = None if command.level is None else level_meant(hall, to, command.level).number
    asked = invited(table, person.name, to, command.side, context, level=level)
    _require_listening(hall, to, person.name)
    matchmaking.require_invitations(hall, to)
    return Decision(person.name, table.name, asides=(asked,))


def _hint(command: Hint, hall: Hall, person: Person, found: Found) -> Decision:
    """Return what somebody is advised to play, if it is their turn, and nobody is wronged by it."""
    _require_playing(hall, person, command.on)
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
    if command.way is Way.LAST and person.replay is None and person.room:
        return _answer(person, LastMove(), person.room)  # that is "last" for "last move"
    return Decision(person.name, asides=(_looked_up(hall, person, command, found),))


def _at(table: Table, person: Person, events: Events, asides: tuple[Aside, ...] = ()) -> Decision:
    return Decision(person.name, table.name, table.version, events, asides)


def _walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[Aside, ...]:
    return (WentOut(person.name, person.room, to), CameIn(person.name, to, sits))


def _answer(person: Person, question: Command, board: str | None = None) -> Decision:
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
    news: str | None = None,
    followed: tuple[str, ...] | None = None,
    plan: str | None = None,
    room: str | None = None,
    adjourned: bool = False,
    letters: LetterCount = NO_LETTERS,
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
    entered = Entered(
        player,
        room,
        member,
        tuple(styles.items()),
        options,
        adjourned,
        ignored,
        news,
        letters,
        followed,
        plan,
        active=now,
    )
    caught_up = [
        CaughtUp(player, table.name, tuple(hall.missed.get((table.name, side), ())))
        for table in kept
        if (side := table.side_of(player))
    ]
    if room and room not in seats:
        caught_up.append(CaughtUp(player, room))
    shown = Decision(player, room, asides=(*caught_up,))
    return [Decision(player, asides=(entered,)), *back, shown]


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
            seen = Replayed(me, known.battle, game, start, comments=known.comments)
            return replace(seen, analysis=analysis, spent=known.spent)
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
        case History(player, page, opponent, rules, day):
            player, opponent = _named(player, me), _named(opponent, me)
            asked = replace(command, player=player or (opponent and me), opponent=opponent)
            lookup = HistoryLookup(asked.player, page, opponent, rules, day)
            return Asked(me, asked, answer=found[lookup])
        case ViewScore(player):
            asked_for = replace(command, player=_named(player, me))
            score = found[ScoreLookup(asked_for.player or me, curves=True)]
            return Asked(me, asked_for, answer=score)
        case ViewStandings(rules, time):
            return Asked(me, command, answer=found[StandingsLookup(me, rules, time)])
        case _:
            assert_never(command)


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
        elif way is Way.LAST:
            return seen
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


def _resume(
    command: Resume, hall: Hall, person: Person, context: Context, found: Found
) -> Decision:
    """Return that a match goes on: at the board that is meant, or else at one of its own.

    It gets a board of its own if it needs nobody's word, being practice or with a bot, and its
    player is at no board where it could go on.

    Raises:
        Refused: there is none, or more than one, or somebody is not there.
        Unread: the player's matches have to be looked up first.
    """
    adjourned, room = _adjourned(command, hall, person, found), person.room
    is_placed = command.on is not None or (room is not None and not hall.tables[room].under_way)
    if not is_placed and hall.opens_boards and hall.version is not None:
        alone = {
            number: saved
            for number, saved in adjourned.items()
            if all(each == person.name or _is_bot_here(hall, each) for each in _players(saved))
        }
        if len(alone) > 1:
            raise Refused(Refusal.WHICH_ADJOURNED, words=None, numbers=tuple(alone))
        for saved in alone.values():
            resumed = Resumed(context.now, person.name, saved)
            return matchmaking.at_own_board(hall, (), resumed)
    table = hall_board_meant(hall, person, command.on)
    saved = _ready_at(table, adjourned, command, hall, person)
    return _at(table, person, tables.resume(table, person.name, saved, context))


def _players(saved: SavedMatch) -> tuple[str, str]:
    return saved.dwarf, saved.troll


def _is_bot_here(hall: Hall, player: str) -> bool:
    return player in hall.bots and player in hall.people


def _adjourned(command: Resume, hall: Hall, person: Person, found: Found) -> dict[int, SavedMatch]:
    """Return the matches of a player that are put away, or the one with the number they give."""
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
        return {command.number: adjourned[command.number]}
    return adjourned


def _ready_at(
    table: Table, adjourned: dict[int, SavedMatch], command: Resume, hall: Hall, person: Person
) -> SavedMatch:
    """Return the only one of some matches whose players are at a table; a bot comes by itself."""
    here = hall.people_in(table.name)
    if person.name not in here:
        raise Refused(Refusal.RESUME_THERE, board=table.name)
    ready = {
        number: saved
        for number, saved in adjourned.items()
        if all(each in here or _is_bot_here(hall, each) for each in _players(saved))
    }
    match list(ready.items()):
        case [(_, saved)]:
            return saved
        case []:
            players = {name for saved in adjourned.values() for name in _players(saved)}
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
