"""The exact sentence of every refusal, each provoked by a command."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from typing import NamedTuple

import pytest
from wcwidth import wcswidth

from tests.cases import cases
from tests.game.halls import StoredHall, do, hall_of, lose
from tests.rules.refused import EXAMPLES, Example, refusal
from thudmud import BoardSpec, House
from thudmud.errors import RefusedError
from thudmud.features.exercises.model import puzzles
from thudmud.features.playing.moves import Play
from thudmud.features.playing.setup import SetRules
from thudmud.features.tournaments.model import TournamentLimits
from thudmud.features.tournaments.model import TournamentRefusal as T
from thudmud.game.archive import (
    BattleLookup,
    FoundBattle,
    LookupNeededError,
    LookupResults,
    MemberLookup,
    SeenMember,
)
from thudmud.game.decisions import decide
from thudmud.game.hall import Caps
from thudmud.game.people import BotLevel
from thudmud.game.refusals import Mistake, Refusal
from thudmud.game.sanctions import Order
from thudmud.language import ParseError, parse
from thudmud.rules import (
    CLASSIC,
    Comment,
    Game,
    Reason,
    RecordError,
    Side,
    read_record,
    write_record,
)
from thudmud.views.refusals import explain, record_error_text, refusal_text

NOW = 7.0


class Case(NamedTuple):
    """Earlier commands of Anna, Bert and Carla, a refused command, and its sentence."""

    code: Refusal | T
    before: str
    line: str
    sentence: str


R = Refusal
SOLUTION = Play(puzzles()[1].solution.attempt())
ALONE = "Anna: join game as dwarf on oak board"
SEATED = f"{ALONE}; Bert: join game as troll on oak board"
STARTED = f"{SEATED}; Anna: start game"
PAIRED = f"{SEATED}; Anna: setup dwarfs f8, a6 trolls g8, o10; Anna: start game"
PRACTISING = "Anna: practice on oak board"
PLAYED = f"{STARTED}; Anna: move a6 b6"
TIMED = f"{SEATED}; Anna: set clock 10+5; Anna: start game"
HALF = f"{STARTED}; Anna: end game; Bert: end game"
OVER = f"{HALF}; Anna: start game; Bert: start game; Anna: resign"
AWAY = f"{STARTED}; Bert is lost"
ADJOURNED = f"{PLAYED}; Anna: adjourn game; Bert: adjourn game"
TWICE = f"{ADJOURNED}; {STARTED}; Anna: adjourn game; Bert: adjourn game"
IGNORING = "; ".join(f"Anna: ignore {one}{other}" for one in "qrstuvwxyz" for other in "qrstuvwxyz")
OBSERVING = "; ".join(f"Anna: observe {letter} slab" for letter in "qrstuvwxyz")
REPLAYING = f"{HALF}; Carla: replay 1"
BOTH = "You play the dwarfs and Bert plays the trolls."
SITTING = "Anna plays the dwarfs and Bert plays the trolls."
FREE = 'The troll seat is free: "join game as troll on oak board".'

CASES = [
    Case(
        R.NO_BOARD_HERE, "", "Anna: go to chair",
        'There is no "chair" here. The boards are: oak board, pine board and elm table.',
    ),
    Case(
        R.NO_BOARD_HERE, "", "Anna: go to oak bord",
        'There is no "oak bord" here. Did you mean "board"? The boards are: oak board, pine board '
        "and elm table.",
    ),
    Case(
        R.NO_BOARD_HERE, "", f"Anna: go to {'oaken ' * 10}",
        'There is no "oaken oaken oaken oaken oaken oaken oake..." here. Did you mean "oak"? The '
        "boards are: oak board, pine board and elm table.",
    ),
    Case(
        R.NO_SUCH_ORDINAL, "", "Anna: go to third board",
        'There is no "third board", only oak board and pine board.',
    ),
    Case(
        R.WHICH_BOARD, "", "Anna: go to board",
        'Which one do you mean by "board": oak board or pine board?',
    ),
    Case(
        R.SAY_WHICH, "", "Anna: view game",
        'Which board? Add "on" and its name: oak board, pine board or elm table.',
    ),
    Case(
        R.NOTHING_USED, "", "Anna: go to it",
        '"it" means the board that you used last, and you haven\'t used one yet. The boards are:'
        " oak board, pine board and elm table.",
    ),
    Case(
        R.ALREADY_THERE, "Anna: go to oak board", "Anna: go to oak board",
        "You're already at the oak board.",
    ),
    Case(R.ALREADY_IN_HALL, "", "Anna: go to hall", "You're already in the hall."),
    Case(
        R.NO_SUCH_PLAYER, "", "Anna: tell dora hello",
        'There is no player called "dora" here. "who" lists the players.',
    ),
    Case(
        R.NOT_HERE, "", "Anna: tell dora hello",
        'Dora isn\'t here, and was last seen 3 days ago. To leave them a message, type "message", '
        "the name and the text.",
    ),
    Case(
        R.WHICH_PLAYER, "", "Anna: tell be hello",
        'Which player do you mean by "be": Bert or Bea?',
    ),
    Case(R.AWAY_FROM, AWAY, "Anna: tell bert hello", "Bert is away from the oak board."),
    Case(R.AWAY_FROM, AWAY, "Carla: match bert", "Bert is away from the oak board."),
    Case(R.AWAY_FROM, AWAY, "Anna: invite bert", "Bert is away from the oak board."),
    Case(
        R.NOBODY_TO_REPLY_TO, "", "Anna: reply hello",
        'Nobody has told you anything yet. "say" speaks to the room, "tell" and a name to one'
        " player.",
    ),
    Case(
        R.WHISPER_FOR_TELL, "", "Anna: whisper bert Psst!",
        'Everybody who watches hears a whisper. To tell only Bert, type "tell bert Psst!". If it is'
        " for everybody, begin with another word.",
    ),
    Case(R.SOCIAL_TO_SELF, "", "Anna: hug anna",
         'That\'s you. "hug" alone is for everybody around you.'),
    Case(
        R.SOCIAL_TO_NOBODY, "", "Anna: smile broadly",
        'Nobody around you is called "broadly". To do it in your own words, type "emote smiles" and'
        " the rest.",
    ),
    Case(R.TELL_SELF, "", "Anna: tell anna hello",
         'That\'s you. To speak to the room, type "say".'),
    Case(
        R.NOT_LISTENING, "Bert: ignore anna", "Anna: tell bert hello",
        "Bert isn't taking messages from you.",
    ),
    Case(
        R.NOT_LISTENING, "Bert: ignore anna", "Anna: invite bert on oak board",
        "Bert isn't taking messages from you.",
    ),
    Case(
        R.SHOUTS_OFF, "Anna: options shout off", "Anna: shout hello",
        'You\'ve turned shouts off, so you can\'t shout either. "options shout on" turns both back'
        ' on.',
    ),
    Case(R.IGNORE_SELF, "", "Anna: ignore anna", "That's you. You can only ignore others."),
    Case(
        R.IGNORED_ALREADY, "Anna: ignore bert", "Anna: ignore BERT",
        'You already ignore Bert. "unignore Bert" lets you hear them again.',
    ),
    Case(
        R.IGNORES_TOO_MANY, IGNORING, "Anna: ignore bert",
        'You ignore 100 players, which is the limit. "unignore" and a name makes room.',
    ),
    Case(
        R.NOT_IGNORED, "", "Anna: unignore bert",
        'You don\'t ignore "bert". "ignore" lists everyone you do.',
    ),
    Case(R.FOLLOW_SELF, "", "Anna: follow anna", "That's you. You can only follow others."),
    Case(
        R.FOLLOWED_ALREADY, "Anna: follow bert", "Anna: follow BERT",
        'You already follow Bert. "unfollow Bert" stops that.',
    ),
    Case(
        R.FOLLOWS_TOO_MANY, IGNORING.replace("ignore", "follow"), "Anna: follow bert",
        'You follow 100 players, which is the limit. "unfollow" and a name makes room.',
    ),
    Case(
        R.NOT_FOLLOWED, "", "Anna: unfollow bert",
        'You don\'t follow "bert". "follow" lists everyone you do.',
    ),
    Case(
        R.PLANS_FOR_MEMBERS, "", "Anna: plan To win",
        'Plans are for registered players. "register" makes you one.',
    ),
    Case(
        R.PLAN_TOO_LONG, "", f"Anna: plan {'x' * 201}",
        "That's too long: a plan has at most 200 characters.",
    ),
    Case(
        R.NO_INVITATIONS, "Bert: options invitations off", "Anna: match bert",
        'Bert isn\'t taking invitations just now. "play" asks everybody else.',
    ),
    Case(
        R.NO_INVITATIONS, "Bert: options invitations off", "Anna: invite bert on oak board",
        'Bert isn\'t taking invitations just now. "play" asks everybody else.',
    ),
    Case(
        R.NOTHING_TO_OBSERVE, "", "Anna: observe dora",
        'There\'s no board or player called "dora" here. "games all" lists what\'s on.',
    ),
    Case(R.WHICH_PLAYER, "", "Anna: observe be", 'Which player do you mean by "be": Bert or Bea?'),
    Case(
        R.OBSERVES_OWN, SEATED, "Anna: observe bert",
        "You're playing at the oak board, so you see everything that happens there anyway.",
    ),
    Case(
        R.OBSERVED_ALREADY, "Carla: observe oak board", "Carla: observe oak",
        'You already observe the oak board. "unobserve oak board" stops that.',
    ),
    Case(
        R.OBSERVES_TOO_MANY, OBSERVING, "Anna: observe oak board",
        'You observe 10 boards, which is the limit: q slab, r slab, s slab, t slab, u slab, v'
        ' slab, w slab, x slab, y slab and z slab. "unobserve" and a name makes room.',
    ),
    Case(R.OBSERVES_NOTHING, "", "Carla: unobserve", "You aren't observing any board."),
    Case(
        R.NOT_OBSERVED, "Carla: observe oak board; Carla: observe elm", "Carla: unobserve pine",
        "You aren't observing the pine board, but the oak board and elm table.",
    ),
    Case(
        R.NOT_RUNNING, HALF, "Carla: observe battle 1",
        'Nobody is playing battle 1 now. "games all" lists the battles under way.',
    ),
    Case(
        R.PLAYS_NOWHERE, "", "Carla: observe bert",
        'Bert isn\'t playing now. "games all" lists the battles under way.',
    ),
    Case(
        R.PLAYS_AT_SEVERAL, f"{ALONE}; Anna: join game as troll on pine board",
        "Carla: observe anna",
        "Anna plays at several boards. Which one: oak board or pine board?",
    ),
    Case(
        R.NOT_WATCHING, "", "Carla: kibitz Well played on oak board",
        'You aren\'t watching the oak board. To talk about it, type "observe oak board" or go'
        ' there first.',
    ),
    Case(
        R.WATCHING_NOTHING, "", "Carla: whisper Well played.",
        'You aren\'t watching any board. Type "observe" and the name of one first.',
    ),
    Case(R.NO_ACCOUNTS, "", "Anna: register", "Names can't be registered here."),
    Case(
        R.NOTHING_TO_REPEAT, "", "Anna: again",
        "There is nothing to repeat yet.",
    ),
    Case(
        R.INVITE_SELF, "", "Anna: invite anna on oak board",
        'That\'s you. "join game as dwarf on oak board" takes a seat.',
    ),
    Case(
        R.PLAYS_THERE, SEATED, "Anna: invite bert",
        "Bert already plays the trolls at the oak board.",
    ),
    Case(
        R.PLAYS_AT_NO_LEVEL, "", "Anna: invite bert level 3 on oak board",
        'Bert has no levels to choose from, so leave "level" out. "bots" lists those that do.',
    ),
    Case(
        R.NO_SUCH_LEVEL, "", "Anna: invite carla level 3 on oak board",
        'There is no level "3". The levels are 1 Chalk and 2 Slate.',
    ),
    Case(
        R.WHICH_SEAT, "", "Anna: join oak",
        'As which side? Type "join game as dwarf on oak board" or "join game as troll on oak '
        'board".',
    ),
    Case(
        R.NO_SEAT_FREE, SEATED, "Carla: join oak",
        f"Both seats at the oak board are taken. {SITTING}",
    ),
    Case(
        R.SAME_SEAT, SEATED, "Anna: join oak",
        "You already play the dwarfs at the oak board.",
    ),
    Case(
        R.NO_SEAT_FREE, SEATED, "Anna: invite carla",
        f"Both seats at the oak board are taken. {BOTH}",
    ),
    Case(
        R.NO_SEAT_FREE, PRACTISING, "Anna: invite carla",
        "Both seats at the oak board are taken. You play both sides.",
    ),
    Case(
        R.SEAT_NOT_FREE, SEATED, "Anna: invite carla as troll",
        "Bert already plays the trolls at the oak board.",
    ),
    Case(
        R.SEAT_NOT_FREE, ALONE, "Bert: invite carla as dwarf on oak board",
        f"Anna already plays the dwarfs at the oak board. {FREE}",
    ),
    Case(
        R.SEAT_TAKEN, SEATED, "Carla: join game as dwarf on oak board",
        "Anna already plays the dwarfs at the oak board. You're welcome to watch.",
    ),
    Case(
        R.SEAT_TAKEN, ALONE, "Carla: join game as dwarf on oak board",
        f"Anna already plays the dwarfs at the oak board. {FREE}",
    ),
    Case(
        R.SEAT_TAKEN, PRACTISING, "Carla: join game as troll on oak board",
        "Anna already plays both sides at the oak board. You're welcome to watch.",
    ),
    Case(
        R.SAME_SEAT, PRACTISING, "Anna: join game as troll",
        "You already play the trolls at the oak board.",
    ),
    Case(
        R.SAME_SEAT, ALONE, "Anna: join game as dwarf",
        "You already play the dwarfs at the oak board.",
    ),
    Case(
        R.ONE_SEAT_EACH, ALONE, "Anna: join game as troll",
        'You play the dwarfs at the oak board. To change sides, "leave game" first, or '
        '"practice on oak board" to play both.',
    ),
    Case(
        R.ONE_SEAT_EACH, f"{STARTED}; Bert: leave game", "Anna: join game as troll",
        'You play the dwarfs at the oak board. To change sides, "leave game" first.',
    ),
    Case(
        R.MATCH_UNDER_WAY, PRACTISING, "Anna: practice",
        'You already play both sides at the oak board. "start game on oak board" starts over.',
    ),
    Case(
        R.MATCH_UNDER_WAY, f"{STARTED}; Bert: leave game", "Anna: practice classic",
        'You\'re in a match at the oak board. "leave game on oak board" gets you out of it.',
    ),
    Case(
        R.NOT_SEATED, STARTED, "Carla: resign on oak board",
        f"You aren't playing at the oak board. {SITTING}",
    ),
    Case(
        R.NOT_SEATED, ALONE, "Carla: resign on oak board",
        f"You aren't playing at the oak board. Anna plays the dwarfs. {FREE}",
    ),
    Case(
        R.NOT_SEATED, AWAY, "Carla: resign on oak board",
        "You aren't playing at the oak board. Anna plays the dwarfs and Bert plays the trolls "
        "(away).",
    ),
    Case(
        R.NOT_SEATED, "", "Carla: resign on oak board",
        'You aren\'t playing at the oak board. Both seats are free: "join game as dwarf on oak '
        'board" or "join game as troll on oak board".',
    ),
    Case(
        R.NOT_SEATED, f"{PRACTISING}; Anna is lost", "Carla: resign on oak board",
        "You aren't playing at the oak board. Anna plays both sides (away).",
    ),
    Case(
        R.NOT_SEATED, f"{STARTED}; Bert: leave game", "Carla: resign on oak board",
        "You aren't playing at the oak board. Anna plays the dwarfs. The troll seat is empty: "
        "Anna can invite you to it.",
    ),
    Case(
        R.NOT_SEATED, f"{STARTED}; Bert: leave game", "Bert: resign on oak board",
        f"You aren't playing at the oak board. Anna plays the dwarfs. {FREE}",
    ),
    Case(
        R.NEEDS_OPPONENT, ALONE, "Anna: start game",
        'A battle needs two players. "practice on oak board" gives you both seats. The troll seat '
        'is free: "invite" and a name asks someone to play.',
    ),
    Case(
        R.NEEDS_OPPONENT, f"{STARTED}; Bert: leave game", "Anna: start game",
        'A battle needs two players. The troll seat is empty: "invite" and a name asks someone to '
        "take over.",
    ),
    Case(
        R.NOBODY_TO_AGREE, f"{STARTED}; Bert: leave game", "Anna: undo",
        'There\'s nobody to agree to that. The troll seat is empty: "invite" and a name asks '
        "someone to take over.",
    ),
    Case(
        R.NO_BATTLE, SEATED, "Anna: resign",
        'There\'s no battle at the oak board right now. "start game on oak board" begins one.',
    ),
    Case(
        R.NO_BATTLE, f"{SEATED}; Bert: go to hall", "Carla: view possible on oak board",
        f"There's no battle at the oak board right now. {SITTING}",
    ),
    Case(
        R.BATTLE_OVER, HALF, "Anna: end game",
        'The battle at the oak board is over. "start game on oak board" begins the next.',
    ),
    Case(
        R.BATTLE_OVER, f"{HALF}; Bert is lost", "Anna: end game",
        f"The battle at the oak board is over. {BOTH[:-1]} (away).",
    ),
    Case(
        R.NOT_BEGUN_YET, HALF, "Anna: resign",
        'That battle is already over. "start game on oak board" goes on to the second, "leave '
        'game on oak board" gives up the match.',
    ),
    Case(R.OPPONENTS_TURN, STARTED, "Bert: hurl", "It is Anna's turn (dwarfs)."),
    Case(
        R.NO_PLY, STARTED, "Anna: hurl on oak board",
        'You have no hurl now. "moves" lists what you can do.',
    ),
    Case(
        R.NO_PLY_FROM, STARTED, "Anna: hurl f1",
        'The piece on F1 has no hurl now. "moves F1" lists what it can do.',
    ),
    Case(R.ONLY_PLY, PAIRED, "Anna: hurl", 'There is only one hurl now: "hurl f8 g8".'),
    Case(
        R.WHERE_TO, STARTED, "Anna: move from a6",
        'Where to? Name the square, such as "move a6 b6". "moves A6" lists all of them.',
    ),
    Case(
        R.WHERE_TO, f"{PAIRED}; Anna: f8 f7", "Bert: shove the troll from g8",
        'Where to? Name the square, such as "shove g8 g7 capturing f7". "moves G8" lists all of '
        "them.",
    ),
    Case(
        R.WHICH_PLY, STARTED, "Anna: m",
        'Name the square of a piece and the one it goes to, such as "move f1 f2". "moves" lists '
        "all of them.",
    ),
    Case(
        R.WHICH_CAPTURE, f"{PAIRED}; Anna: f8 f7", "Bert: shove",
        'Name the square of a piece and the one it goes to, such as "shove g8 g7 capturing f7". '
        '"captures" lists what can be captured.',
    ),
    Case(
        R.NAME_THE_CAPTURES, f"{STARTED}; Anna: f1 f6", "Bert: g7xf6",
        "More than one capture fits. Name the square where the piece on G7 ends up, and what it "
        'captures, such as "move g7 g6 capturing f6".',
    ),
    Case(
        R.NO_CAPTURE_THERE, f"{STARTED}; Anna: f1 f6", "Bert: i9xj9",
        'The piece on I9 has no capture on J9. "captures" lists what can be captured.',
    ),
    Case(
        R.NO_HURL_ONTO, STARTED, "Anna: hurl g7",
        'No dwarf can be hurled onto the troll on G7 now. "captures" lists what can be captured.',
    ),
    Case(R.OPPONENTS_TURN, STARTED, "Bert: move g7 f7", "It is Anna's turn (dwarfs)."),
    Case(
        R.OVER_FOR_GOOD, OVER, "Anna: undo",
        "The battle at the oak board is over, so no move can be taken back.",
    ),
    Case(
        R.AWAY, f"{HALF}; Bert is lost", "Anna: start game",
        "Bert is away, and a battle takes two.",
    ),
    Case(
        R.OWN_CLOCK_RUNS, f"{TIMED}; Bert is lost", "Anna: adjourn game",
        "Your clock is running, so you can't adjourn without Bert. Make your move first.",
    ),
    Case(
        R.LEAVES_CLOCK, TIMED, "Bert: leave game",
        'The clock is running at the oak board, so you can\'t leave the battle. "resign" gives'
        ' it up, "adjourn" offers to play on another day.',
    ),
    Case(R.NOT_AWAY, STARTED, "Anna: claim", "Bert is here, so there's nothing to claim."),
    Case(
        R.TOO_SOON, AWAY, "Anna: claim",
        "Bert may still come back. You can do that in 5 minutes.",
    ),
    Case(
        R.NOT_IDLE, STARTED, "Bert: claim",
        "Anna is here, and has another 5 minutes to move before you can claim the battle.",
    ),
    Case(
        R.NOT_PUT_OFF, f"{HALF}; Anna: start game", "Anna: claim",
        "Bert has another 5 minutes to agree to the second battle before you can claim it.",
    ),
    Case(
        R.ASKED_TO_BEGIN, f"{HALF}; Anna: start game", "Bert: claim",
        'Anna offers to begin the second battle. To agree, type "start game on oak board".',
    ),
    Case(
        R.CLOCK_RUNS, TIMED, "Bert: claim",
        "The clock does that for you: Anna loses the battle when the time is up.",
    ),
    Case(
        R.NOBODY_TO_CLAIM_FROM, f"{STARTED}; Bert: leave game", "Anna: claim",
        'There\'s nobody to claim it from. "end game on oak board" ends the battle.',
    ),
    Case(
        R.NOBODY_TO_CLAIM_FROM, PRACTISING, "Anna: claim",
        'There\'s nobody to claim it from. "end game on oak board" ends the battle.',
    ),
    Case(R.NO_MATCH, SEATED, "Anna: adjourn", "No match is under way at the oak board."),
    Case(R.UNDO_TOO_FAR, f"{STARTED}; Anna: f1f6", "Anna: undo 2",
         'Only 1 of your moves can be taken back: type "undo".'),
    Case(R.NO_PLY_YET, STARTED, "Anna: undo", (
        "You haven't moved in this battle yet, so there's nothing to take back."
    )),
    Case(R.NOTHING_OFFERED, STARTED, "Anna: no", "There are no offers at the oak board."),
    Case(
        R.ALREADY_OFFERED, f"{STARTED}; Anna: end game", "Anna: end game",
        'You\'ve already offered that. Bert agrees by typing "end game on oak board".',
    ),
    Case(
        R.NO_EXERCISE, "", "Anna: stop",
        'There\'s nothing to stop: you aren\'t in a lesson, puzzle or replay. "tutorial" '
        'opens a lesson, "puzzle" a puzzle.',
    ),
    Case(
        R.BOARD_IN_USE, f"{ADJOURNED}; Carla: join game as dwarf on oak board", "Anna: resume",
        "The oak board is in use. Any free board will do.",
    ),
    Case(
        R.BOARD_IN_USE, PRACTISING, "Carla: practice on oak board",
        "The oak board is in use. Any free board will do.",
    ),
    Case(
        R.NOTHING_ADJOURNED, "", "Anna: resume on oak board",
        "You have no adjourned match.",
    ),
    Case(
        R.GOES_ON_ALREADY, STARTED, "Anna: resume",
        "Your match is under way at the oak board. You have none adjourned.",
    ),
    Case(
        R.NOT_YOURS_TO_RESUME, ADJOURNED, "Anna: resume 7",
        'You have no adjourned match with the number 7. "games" lists them.',
    ),
    Case(
        R.RESUME_THERE, f"{ADJOURNED}; Anna: go to hall", "Anna: resume on oak board",
        'To resume a match, you have to be at the board: "go to oak board".',
    ),
    Case(
        R.OPPONENT_NOT_THERE, f"{ADJOURNED}; Bert: go to hall", "Anna: resume",
        "You both have to be at the oak board, and Bert is not there.",
    ),
    Case(
        R.WHICH_ADJOURNED, TWICE, "Anna: resume",
        'Which one? "resume game 1" or another number; "games" lists them.',
    ),
    Case(
        R.WHICH_ADJOURNED, TWICE, "Anna: resume on oak",
        'Which one? "resume game 1 on oak" or another number; "games" lists them.',
    ),
    Case(
        R.NOT_PLAYING, "", "Carla: a6 b6",
        'You have no game going. "play" finds you one.',
    ),
    Case(R.NO_HALL, "", "Anna: seek", (
        'This server opens no boards for matches. "join" takes a seat at one of those here, '
        'and "invite carla" has a bot take the other. "practice" gives you both seats.'
    )),
    Case(
        R.NEW_BOARDS_FOR_MEMBERS, "", "Anna: new board",
        'Only registered players can open boards here: "register" keeps your name. "play" and'
        ' "match" work for everybody.',
    ),
    Case(R.MATCH_SELF, "", "Anna: match anna", 'That\'s you. "play" finds somebody else.'),
    Case(
        R.RATED_FOR_MEMBERS, "", "Anna: match bert rated",
        "You're a guest, and only registered players have ratings. Leave \"rated\" out to play a "
        'casual match, or type "register" first.',
    ),
    Case(
        R.ASKED_ALREADY, "Anna: match bert", "Anna: match bert",
        'You\'ve already challenged Bert. Type "withdraw 1" to cancel.',
    ),
    Case(
        R.SEEKING_ALREADY, f"{STARTED}; Anna: seek", "Anna: play",
        'You\'re already looking for an opponent. Type "withdraw 1" to cancel.',
    ),
    Case(
        R.SEEKING_ALREADY, "Anna: seek", "Anna: seek discworld",
        'You\'re already looking for an opponent. Type "withdraw 1" to cancel.',
    ),
    Case(
        R.SEEKS_TOO_MANY, "Anna: seek", "Anna: seek classic",
        'Open seeks: 1, which is the limit. "withdraw" cancels them.',
    ),
    Case(
        R.BOARDS_TOO_MANY, "Anna: seek; Bert: accept 1", "Anna: new board",
        'You play at the ash board, which is the limit. "leave game on" and a name makes room, and '
        'so does the end of a match. The oak board is free: "join game as dwarf on oak board".',
    ),
    Case(
        R.THEIR_BOARDS_TOO_MANY, "Anna: seek; Anna: new board; Anna: join game as dwarf",
        "Carla: accept 1",
        "Anna already plays at 1 boards, which is the limit.",
    ),
    Case(
        R.HAS_BEGUN, f"{HALF}; Anna: start game; Bert: start game", "Bert: start on oak board",
        "The battle at the oak board has already begun.",
    ),
    Case(
        R.OTHER_PIECE, STARTED, "Anna: ply RA6-B6 on oak board",
        "The piece on A6 is a dwarf.",
    ),
    Case(
        R.NOTHING_SOUGHT, "", "Anna: withdraw",
        ('You aren\'t looking for a match, so there\'s nothing to withdraw. "seeks" lists the '
        "players who are."),
    ),
    Case(
        R.BOARD_FOR_PLAYER, "", "Anna: play oak",
        'There is no player called "oak", but a board. To sit down there, type '
        '"join game as dwarf on oak" or "join game as troll on oak".',
    ),
    Case(
        R.NOT_YOUR_SEEK, "Anna: seek; Bert: seek 5+3", "Anna: withdraw 2",
        "Seek 2 isn't yours. Yours: 1.",
    ),
    Case(
        R.NO_SUCH_WORD, "", "Anna: accept word copper",
        'Nobody waits for the word "copper". The challenge may have been accepted or withdrawn.',
    ),
    Case(
        R.WORD_TAKEN, "Bert: seek by word copper", "Anna: seek by word copper",
        'The word "copper" is in use. Choose another one.',
    ),
    Case(
        R.NO_SUCH_SEEK, "", "Anna: accept 9",
        'Seek 9 is gone. "seeks" lists the open ones.',
    ),
    Case(
        R.OWN_SEEK, "Anna: seek", "Anna: accept 1",
        'Seek 1 is your own. Type "withdraw 1" to cancel it.',
    ),
    Case(
        R.SEEKER_AWAY, "Anna: seek; Anna is lost", "Bert: accept 1",
        "Anna is away just now. Try again when they are back.",
    ),
    Case(
        R.NOT_ASKED_YOU, "Anna: seek", "Bert: decline 1",
        "Seek 1 is open to anybody, so you don't need to decline it.",
    ),
    Case(
        R.NOTHING_STANDS, "", "Anna: accept",
        'There is nothing to say yes or no to. "seeks" lists the players who want a match.',
    ),
    Case(
        R.SEEK_FOR_ANYBODY, "Anna: seek", "Bert: yes",
        "There is nothing to say yes or no to. Anna is looking for an opponent, though: "
        '"accept 1" begins a match.',
    ),
    Case(
        R.SEEK_IN_HASTE, TIMED, "Anna: play",
        "Your clock is running at the oak board: finish that battle before you look for another"
        " opponent.",
    ),
    Case(
        R.ASKS_ALREADY, f"{STARTED}; Anna: seek; Carla: accept 1", "Carla: accept 1",
        "You've already asked Anna. They have another 20 seconds to answer.",
    ),
    Case(
        R.ASKED_BY_OTHERS, f"{STARTED}; Anna: seek; Bea: accept 1", "Carla: accept 1",
        "Anna is playing, and somebody else has just asked them. Try again in 20 seconds.",
    ),
    Case(
        R.NOTHING_OFFERED_BY, "", "Anna: accept bert",
        'Bert hasn\'t offered you anything. "seeks" lists the players who want a match.',
    ),
    Case(
        R.WHICH_OFFER, "Anna: match bert; Carla: match bert", "Bert: yes",
        'You have more than one offer. Type "accept 1" (Anna) or "accept 2" (Carla).',
    ),
    Case(
        R.SEAT_IN_MATCH, f"{STARTED}; Bert: leave", "Carla: join game as troll on oak board",
        'A match is under way at the oak board. You can take over the seat if Anna types'
        ' "invite" and your name.',
    ),
    Case(
        R.NO_SUCH_BATTLE, "", "Anna: replay 9",
        'There is no battle 9. "history" lists the battles.',
    ),
    Case(R.NOT_KEPT, HALF, "Anna: replay 1", "The moves of battle 1 are no longer kept here."),
    Case(
        R.NOT_REPLAYING, "", "Anna: next",
        'You aren\'t replaying a battle. "replay" and a number opens one.',
    ),
    Case(
        R.REPLAY_AT_START, REPLAYING, "Carla: back",
        'This is the start of battle 1. "next" goes forward.',
    ),
    Case(
        R.REPLAY_AT_END, REPLAYING, "Carla: next",
        'That was the last move of battle 1. "back" and "first" go back, "stop" leaves.',
    ),
    Case(
        R.REPLAY_GONE_ON, f"{STARTED}; Carla: replay 1; Anna: move a6 b6", "Carla: next",
        'There have been more moves since: "replay 1" shows them.',
    ),
    Case(R.NO_COMMENTS, HALF, "Anna: comment 1 0 well", "This server doesn't keep comments."),
    Case(
        R.COMMENT_PLAYERS_ONLY, HALF, "Carla: comment 1 0 well",
        "Only those who played battle 1 here can comment on it.",
    ),
    Case(
        R.COMMENT_RUNNING, STARTED, "Anna: comment 1 0 well",
        "Battle 1 is still being played. You can comment on it when it's over.",
    ),
    Case(
        R.COMMENT_NO_SUCH_PLY, HALF, "Anna: comment 1 2 well",
        "Battle 1 has no move 2. The last is 0, and 0 is the opening.",
    ),
    Case(
        R.COMMENT_TOO_LONG, HALF, f"Anna: comment 1 0 {'a' * 301}",
        "That's too long: a comment can have up to 300 characters.",
    ),
    Case(
        R.COMMENT_TOO_MANY, HALF, "Anna: comment 1 0 well",
        'You\'ve commented on 100 moves of battle 1, which is the limit. "comment 1 1 none" '
        "deletes one of these comments.",
    ),
    Case(
        R.COMMENT_NONE, HALF, "Anna: comment 1 0 none",
        "You have no comment on move 0 of battle 1.",
    ),
    Case(
        R.NOT_REPLAYING, HALF, "Anna: comment well",
        'You aren\'t replaying a battle. "replay" and a number opens one.',
    ),
    Case(
        R.RULES_RUNNING, STARTED, "Anna: set rules classic",
        "The oak board keeps the discworld rules during a battle. You can change them after "
        "the match.",
    ),
    Case(
        R.RULES_MID_MATCH, HALF, "Anna: set rules classic",
        "The oak board keeps the discworld rules for the second battle of the match. You can "
        "change them after the match.",
    ),
    Case(
        R.CLOCK_RUNNING, STARTED, "Anna: set clock 10+5",
        "The oak board keeps its clock during a battle. You can change it after the match.",
    ),
    Case(
        R.CLOCK_MID_MATCH, HALF, "Anna: set clock 3 days",
        "Both battles of the match at the oak board have the same clock. You can change it "
        "after the match.",
    ),
    Case(
        R.CLOCK_SEATED_ONLY, SEATED, "Carla: set clock 10+5 on oak board",
        f"Only its players can set the clock of the oak board. {SITTING}",
    ),
    Case(
        R.CLOCK_ALREADY, "", "Anna: set clock off on oak board",
        "The oak board has no clock anyway.",
    ),
    Case(
        R.CLOCK_ALREADY, "Anna: set clock 3 days on oak board", "Anna: set clock 3 days on oak",
        "The oak board already has a clock of 3 days.",
    ),
    Case(
        R.RULES_SEATED_ONLY, SEATED, "Carla: set rules classic on oak board",
        f"Only its players can choose the rules of the oak board. {SITTING}",
    ),
    Case(
        R.RULES_ALREADY, "", "Anna: set rules koom valley on elm table",
        "The elm table already has the koom valley rules.",
    ),
    Case(
        R.RULES_UNKNOWN, "", "Anna: set rules chess on elm table",
        'There are no "chess" rules. You can choose discworld, classic or koom valley.',
    ),
    Case(
        R.SETUP_RUNNING, STARTED, "Anna: setup remove g7",
        "The oak board keeps its position during a battle. You can set up another one after "
        "the match.",
    ),
    Case(
        R.SETUP_MID_MATCH, HALF, "Anna: setup remove g7",
        "The second battle at the oak board begins from the same position as the first. You "
        "can set up another one after the match.",
    ),
    Case(
        R.SETUP_SEATED_ONLY, SEATED, "Carla: setup remove g7 on oak board",
        f"Only its players can set up the position at the oak board. {SITTING}",
    ),
    Case(
        R.SETUP_ALREADY, "", "Anna: setup opening on oak board",
        "The oak board is already set up like that.",
    ),
    Case(
        R.SETUP_TOO_MANY, "", "Anna: setup add trolls f7 on oak board",
        "That makes 9 trolls, and the discworld rules allow 8.",
    ),
    Case(
        R.SETUP_TOO_MANY, "", "Anna: setup add rock f7, f8 on elm table",
        "That makes 2 Rocks, and the koom valley rules allow 1.",
    ),
    Case(
        R.SETUP_NEEDS_ROCK, "", "Anna: setup remove h8 on elm table",
        'The Rock on H8 has to stay. "setup add rock" and a square puts it elsewhere.',
    ),
    Case(
        R.SETUP_OVER, "", "Anna: setup trolls g7 on oak board",
        "That battle would be over before it began: the dwarfs have no move. "
        '"setup turn trolls" lets the trolls begin.',
    ),
    Case(
        R.SETUP_OVER, "", "Anna: setup add rock g1 on elm table",
        "That battle would be over before it began: the Rock is home.",
    ),
]  # fmt: skip


def played(case: Case) -> StoredHall:
    """Return the hall after the earlier commands of a case."""
    has_bea = case.code in {R.WHICH_PLAYER, R.ASKED_BY_OTHERS}
    hall = hall_of("Anna", "Bert", "Carla", *(["Bea"] if has_bea else []))
    hall.version = None if case.code is R.NO_HALL else 0
    if case.code in {R.SEEKS_TOO_MANY, R.BOARDS_TOO_MANY, R.THEIR_BOARDS_TOO_MANY}:
        hall.caps = Caps(seeks=1, boards=1)
    hall.people["Anna"].is_member = case.code is R.PLAN_TOO_LONG
    if case.code is R.NEW_BOARDS_FOR_MEMBERS:
        hall.caps = Caps(only_members_open_boards=True)
    if case.code is R.OBSERVES_TOO_MANY:
        hall.tables.open(BoardSpec(f"{letter} slab") for letter in "qrstuvwxyz")
    for step in filter(None, case.before.split("; ")):
        name, colon, line = step.partition(": ")
        if colon:
            do(hall, name, parse(line), NOW)
        else:
            lose(hall, step.removesuffix(" is lost"), NOW)
    return hall


CHALK = BotLevel(1, "Chalk", "Plays almost anything.")


@cache
def brought_about(case: Case) -> RefusedError:
    """Return the refusal of a case."""
    hall = played(case)
    hall.bots = {} if case.code is R.SEEKING_ALREADY else {"Carla": CHALK}
    hall.levels = CHALK, BotLevel(2, "Slate", "Walks into most traps.")
    name, _, line = case.line.partition(": ")
    # Unknown rules can't be typed; only a program can submit them.
    command = SetRules("chess", "elm table") if case.code is R.RULES_UNKNOWN else parse(line)
    found = LookupResults()
    if case.code is R.NOT_KEPT:
        found.store(BattleLookup(1), FoundBattle(hall.battles[0], None))
    if case.code is R.COMMENT_TOO_MANY:
        comments = tuple(Comment(ply, "Anna", "well") for ply in range(1, 101))
        one = FoundBattle(hall.battles[0], Game.start(CLASSIC), comments, frozenset({"Anna"}))
        found.store(BattleLookup(1), one)
    if case.code is R.NOT_HERE:
        found.store(MemberLookup("dora"), SeenMember("Dora", NOW - 3 * 86_400))
    if case.code is R.NO_COMMENTS:
        hall.version = None
    while True:
        try:
            decide(hall, name, command, NOW, found)
        except LookupNeededError as unread:
            found.store(unread.lookup, hall.found(unread.lookup))
        except RefusedError as refusal:
            return refusal


BOARDS = {
    R.NO_BOARD_UP: ("close", "yew board", 'There is no "yew board". The boards are: oak board.'),
    R.BOARD_NAME_TAKEN: ("open", "Oak Board", "There is already a board called oak board."),
    R.BOARD_NAME_UNFIT: (
        "open", "4 board",
        '"4 board" can\'t be the name of a board: use at most 30 letters and single spaces, and no '
        "words that commands use.",
    ),
}  # fmt: skip


def of_a_board(code: Refusal) -> RefusedError:
    """Return the refusal to open or close a board."""
    act, name, _ = BOARDS[code]
    house = House([BoardSpec("oak board")])
    with pytest.raises(RefusedError) as raised:
        house.open_board(name, NOW) if act == "open" else house.close_board(name, NOW)
    return raised.value


@pytest.mark.parametrize("code", BOARDS)
def test_board_refusal_has_the_expected_sentence(code: Refusal) -> None:
    assert refusal_text(of_a_board(code)) == BOARDS[code][2]


TALKS = [RefusedError(R.TALK_TOO_FAST, seconds=90.0, is_shared=each) for each in (False, True)]


@pytest.mark.parametrize(("refusal", "source"), [(TALKS[0], "you"), (TALKS[1], "your address")])
def test_talk_limit_refusal_names_its_source_and_wait(refusal: RefusedError, source: str) -> None:
    assert refusal_text(refusal) == (
        f"Not so fast: others have just heard a lot from {source}. You can go on in 90 seconds."
    )


LIMITS = [
    (
        RefusedError(R.SHOUTS_TOO_FAST, seconds=90.0, is_shared=False),
        "That wasn't shouted: everybody has just heard shouts from you. You can shout again in 90"
        " seconds.",
    ),
    (
        RefusedError(R.STORED_TOO_MUCH, seconds=360.0),
        "There has been a great deal of play from your internet address within the hour. Battles"
        " with others go on, and you can begin something new in 6 minutes.",
    ),
    (
        RefusedError(R.REPORTS_TOO_FAST, seconds=360.0, is_shared=True),
        "The operators have just had a lot of reports from your address. You can make another in 6"
        " minutes.",
    ),
]


@pytest.mark.parametrize(("refusal", "sentence"), LIMITS, ids=lambda each: str(each)[:30])
def test_quota_refusal_has_the_expected_sentence(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence


def test_invalid_program_query_has_the_expected_sentence() -> None:
    assert refusal_text(NO_QUESTION) == (
        "Programs can only send read-only commands that are answered by facts: look or who."
    )


NO_QUESTION = RefusedError(R.NO_QUESTION, questions=("look", "who"))
CROWDED = [
    (
        RefusedError(R.TOO_MUCH_FROM_ADDRESS, what="analyses", most=2),
        "Players who share your internet address have 2 analyses between them, which is the limit. "
        "If you're a club or a class, the operators can raise it.",
    ),
    (
        RefusedError(R.SEEKS_FROM_ADDRESS, most=9),
        "Players who share your internet address have 9 seeks beyond one each, which is the limit. "
        '"withdraw" cancels yours.',
    ),
    (
        RefusedError(R.BOARDS_FROM_ADDRESS, most=9, boards=("ash board",), free="oak board"),
        "Players who share your internet address have 9 boards beyond one each, which is the "
        "limit. To make room, leave the ash board, or finish the match there. The oak board is "
        'free: "join game as dwarf on oak board".',
    ),
    (
        RefusedError(R.BOARDS_FROM_ADDRESS, most=9, boards=("ash board", "birch board"), free=None),
        "Players who share your internet address have 9 boards beyond one each, which is the "
        "limit. To make room, leave the ash board or birch board, or finish the match there.",
    ),
]


@cases(("refusal", "sentence"), CROWDED)
def test_address_limit_refusal_has_the_expected_sentence(
    refusal: RefusedError, sentence: str
) -> None:
    assert refusal_text(refusal) == sentence


ORDER = [
    (
        RefusedError(R.OPERATORS_ONLY),
        'Only operators can do that. "report" tells them about a player; "ignore" hides what a'
        " player says.",
    ),
    (
        RefusedError(R.MUTED, seconds=600.0, why="of the shouting"),
        "You are muted for another 10 minutes, because of the shouting. You can still play.",
    ),
    (RefusedError(R.MUTED, seconds=None, why=""), "You are muted. You can still play."),
]


@pytest.mark.parametrize(("refusal", "sentence"), ORDER)
def test_moderation_refusal_has_the_expected_sentence(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence


OTHERS = [
    (
        RefusedError(R.UNDO_TOO_OFTEN, board="oak board", most=1000),
        "1,000 moves have been taken back in this battle, which is the limit.",
    ),
    (
        RefusedError(R.NO_BOTS, board="oak board"),
        'There are no bots here, so there are no levels. "play" by itself finds a human opponent.',
    ),
]


@pytest.mark.parametrize(("refusal", "sentence"), OTHERS, ids=lambda each: str(each)[:20])
def test_miscellaneous_refusal_has_the_expected_sentence(
    refusal: RefusedError, sentence: str
) -> None:
    assert refusal_text(refusal) == sentence


def resigns(
    battle: int | None, score: tuple[int, int], *total: int, player: str = "Bert"
) -> RefusedError:
    return RefusedError(
        R.SURE_RESIGNS, board="oak board", battle=battle, player=player, side=Side.TROLL,
        score=score, total=total,
    )  # fmt: skip


def drops(code: Refusal, *score: int, loses: bool = False) -> RefusedError:
    return RefusedError(code, board="oak board", player="Bert", score=score, loses=loses)


SURE = [
    (
        RefusedError(R.QUESTION_PASSED, line="resign game on oak board"),
        "Things have changed since you were asked, so nothing was done. Type"
        ' "resign game on oak board" again if you still want that.',
    ),
    (
        resigns(1, (0, 32)),
        'Really resign the first battle at the oak board? Bert would win it 32 to 0. Type "yes".',
    ),
    (
        resigns(1, (0, 32), player=""),
        "Really resign the first battle at the oak board? The trolls would win it 32 to 0."
        ' Type "yes".',
    ),
    (
        resigns(2, (0, 24), 8, 56),
        "Really resign the second battle at the oak board? Bert would win it 24 to 0, and the"
        ' match 56 to 8. Type "yes".',
    ),
    (
        resigns(2, (0, 24), 32, 24),
        "Really resign the second battle at the oak board? Bert would win it 24 to 0, and you the"
        ' match 32 to 24. Type "yes".',
    ),
    (
        resigns(2, (0, 32), 32, 32),
        "Really resign the second battle at the oak board? Bert would win it 32 to 0, and the match"
        ' would be drawn 32 to 32. Type "yes".',
    ),
    (
        resigns(None, (0, 32), player="Anna"),
        'Really resign the practice at the oak board? Type "yes".',
    ),
    (
        drops(R.SURE_RESTARTS, 36, 32),
        "Really start over at the oak board? You lead 36 to 32. You'd both lose that score."
        ' Type "yes" to ask Bert.',
    ),
    (
        drops(R.SURE_RESTARTS, 32, 36, loses=True),
        "Really start over at the oak board? If Bert agrees, you give up this rated match, and it"
        ' ends 32 to 36. Type "yes" to ask Bert.',
    ),
    (
        drops(R.SURE_LEAVES, 32, 32),
        'Really leave the match at the oak board? The match stands at 32 all. Type "yes".',
    ),
    (
        drops(R.SURE_LEAVES, 0, 64, loses=True),
        'Really leave the rated match at the oak board? You would lose it 64 to 0. Type "yes".',
    ),
    (
        drops(R.SURE_LEAVES, 32, 32, loses=True),
        'Really leave the rated match at the oak board? It would be drawn 32 to 32. Type "yes".',
    ),
    (
        drops(R.SURE_LEAVES, 40, 32, loses=True),
        'Really leave the rated match at the oak board? You would win it 40 to 32. Type "yes".',
    ),
]


@pytest.mark.parametrize(("question", "sentence"), SURE)
def test_confirmation_request_states_the_outcome_of_the_command(
    question: RefusedError, sentence: str
) -> None:
    assert refusal_text(question) == sentence


CUP = 'Anna: tournament new round robin "Cup" starts in 1 minute'
BEGUN = f"{CUP}; Anna: enter 1; Bert: enter 1; a minute passes"

TOURNAMENTS = [
    Case(T.NO_TOURNAMENTS, "", "Anna: tournament new swiss", "There are no tournaments here."),
    Case(
        T.NO_SUCH_TOURNAMENT, "", "Anna: enter 7",
        'There\'s no tournament 7. "tournaments" lists them all.',
    ),
    Case(
        T.TOURNAMENT_OVER, f"{CUP}; Anna: cancel tournament 1", "Bert: enter 1",
        'Tournament 1 is over. "tournament 1" shows how it ended.',
    ),
    Case(
        T.TOURNAMENTS_TOO_MANY, CUP, "Bert: tournament new swiss",
        "There are already 1 tournaments, which is the limit. You can announce yours when one is"
        " over.",
    ),
    Case(
        T.TOURNAMENTS_BY_DAYS_TOO_MANY, "Anna: tournament new swiss 3 days",
        "Bert: tournament new swiss 3 days",
        "There are already 1 correspondence tournaments, which is the limit. You can"
        " announce one with a faster clock, or yours when one of those is over.",
    ),
    Case(
        T.TOURNAMENT_OF_YOURS, CUP, "Anna: tournament new swiss",
        "You've already announced tournament 1. You can announce another one when it's over."
        ' "cancel tournament 1" ends it now.',
    ),
    Case(
        T.TOURNAMENTS_BY_MEMBERS, "", "Gerd: tournament new swiss",
        'Only members can announce tournaments. "register" makes you one. "tournaments" lists those'
        ' you can enter.',
    ),
    Case(
        T.TOURNAMENTS_BY_OPERATORS, "", CUP,
        'Only operators can announce tournaments here. "tournaments" lists those you can enter.',
    ),
    Case(
        T.TOURNAMENT_HAS_NO_ROUNDS, "", "Anna: tournament new knock-out 5 rounds",
        "The number of rounds in such a tournament depends on its players: leave it out.",
    ),
    Case(
        T.TOURNAMENT_HAS_NO_LENGTH, "", "Anna: tournament new swiss for 2 hours",
        'Only an arena lasts for a set time: leave out "for" and the time.',
    ),
    Case(
        T.TOURNAMENT_HAS_NO_LIMIT, "", "Anna: tournament new swiss rounds of 2 weeks",
        "Only correspondence rounds, with a clock such as 3 days, have a time limit: leave out"
        ' "rounds of" and the time.',
    ),
    Case(
        T.TOURNAMENT_ROUNDS, "", "Anna: tournament new swiss 21 rounds",
        "A Swiss can have 1 to 20 rounds. If you don't say how many, the number of players"
        " decides: 5 for 5 to 32 players.",
    ),
    Case(
        T.TOURNAMENT_TOO_LONG, "", "Anna: tournament new arena for 2 days",
        "An arena lasts at most 24 hours.",
    ),
    Case(
        T.TOURNAMENT_TITLE_TOO_LONG, "", f'Anna: tournament new swiss "{"x" * 41}"',
        "A title has at most 40 characters.",
    ),
    Case(
        T.TOURNAMENT_IN_THE_PAST, "", "Anna: tournament new swiss starts today 0:00",
        'That time has passed. Times are in UTC here; "starts in 10 minutes" works anywhere.',
    ),
    Case(
        T.TOURNAMENT_TOO_LATE, "", "Anna: tournament new swiss starts in 90 days",
        "You can announce a tournament at most 2 weeks ahead.",
    ),
    Case(
        T.ARENA_BY_DAYS, "", "Anna: tournament new arena 3 days",
        "An arena needs a fast clock, such as 5+3. A Swiss can have one in days.",
    ),
    Case(
        T.TOURNAMENT_BEGUN, BEGUN, "Carla: enter 1",
        'Tournament 1 has begun, so it\'s too late to enter. "tournament 1" shows it.',
    ),
    Case(
        T.TOURNAMENT_FULL, f"{CUP}; Anna: enter 1; Bert: enter 1", "Carla: enter 1",
        "Tournament 1 has 2 players, which is the limit.",
    ),
    Case(
        T.TOURNAMENT_FOR_MEMBERS, 'Anna: tournament new swiss 3 days "Long"', "Gerd: enter 1",
        'Tournament 1 takes days, so it\'s for members only. "register" makes you one.',
    ),
    Case(
        T.IN_TOURNAMENT_ALREADY, f"{CUP}; Anna: enter 1", "Anna: enter 1",
        "You are already in tournament 1.",
    ),
    Case(
        T.LEFT_TOURNAMENT, f"{BEGUN}; Bert: withdraw from 1", "Bert: enter 1",
        "Bert has left tournament 1, and can't come back.",
    ),
    Case(
        T.REMOVED_FROM_TOURNAMENT, f"{CUP}; Bert: enter 1; Anna: withdraw bert from 1",
        "Bert: enter 1",
        "Anna has taken you out of tournament 1, so you can't enter it again."
        ' "tournaments" lists the others.',
    ),
    Case(T.NOT_IN_TOURNAMENT, CUP, "Anna: withdraw from 1", "You are not in tournament 1."),
    Case(T.NOT_IN_TOURNAMENT, CUP, "Olga: withdraw bert from 1", "Bert is not in tournament 1."),
    Case(
        T.ENTERS_BOTS_ONLY, CUP, "Olga: enter 1 with bert",
        "Bert isn't a bot: people enter by themselves.",
    ),
    Case(
        T.NOT_YOUR_TOURNAMENT, CUP, "Bert: pause tournament 1",
        "Anna announced tournament 1. Only they and the operators can do that.",
    ),
    Case(
        T.TOURNAMENT_PAUSED, f"{CUP}; Anna: pause tournament 1", "Olga: pause tournament 1",
        'Tournament 1 is already paused. "resume tournament 1" resumes it.',
    ),
    Case(
        T.TOURNAMENT_NOT_PAUSED, CUP, "Anna: resume tournament 1", "Tournament 1 isn't paused.",
    ),
    *(
        Case(
            R.IN_TOURNAMENT, BEGUN, line,
            "The match at the ash board is part of tournament 1, so it has to be played to"
            ' the end. "resign" gives up a battle.',
        )
        for line in ("Anna: leave game", "Anna: adjourn", "Bert: start")
    ),
]  # fmt: skip


@cache
def of_a_tournament(case: Case) -> RefusedError:
    """Return the refusal of a case in a hall with tournaments."""
    house = House([BoardSpec("oak board")], opens_boards=case.code is not T.NO_TOURNAMENTS)
    house.hall.order = Order(operators=frozenset({"olga"}))
    by: dict[Refusal | T, str] = {
        T.TOURNAMENTS_BY_MEMBERS: "members",
        T.TOURNAMENTS_BY_OPERATORS: "operators",
    }
    most: dict[Refusal | T, int] = {T.TOURNAMENTS_TOO_MANY: 1, T.TOURNAMENTS_BY_DAYS_TOO_MANY: 2}
    limits = TournamentLimits(
        most.get(case.code, 5),
        players=2 if case.code is T.TOURNAMENT_FULL else 16,
        by=by.get(case.code, "everybody"),
    )
    house.hall.set_limits(limits)
    for name in ("Anna", "Bert", "Carla", "Olga", "Gerd"):
        house.enter(name, NOW, member=name != "Gerd")
    now = NOW
    for step in filter(None, case.before.split("; ")):
        name, colon, line = step.partition(": ")
        now += 0.0 if colon else 60.0
        house.obey(name, line, now) if colon else house.pass_time(now)
    name, _, line = case.line.partition(": ")
    found = LookupResults()
    while True:
        try:
            decide(house.hall, name, parse(line), now, found)
        except LookupNeededError as unread:
            found.store(unread.lookup, None)
        except RefusedError as refusal:
            return refusal


@cases("case", TOURNAMENTS)
def test_tournament_refusal_has_the_expected_code_and_sentence(case: Case) -> None:
    refusal = of_a_tournament(case)
    assert refusal.code is case.code
    assert refusal_text(refusal, case.line.partition(":")[0]) == case.sentence


def all_refusals() -> Iterator[RefusedError]:
    """Yield at least one refusal of each code."""
    yield from map(refusal, EXAMPLES)
    yield from map(brought_about, CASES)
    yield from map(of_a_board, BOARDS)
    yield from (*TALKS, *(refusal for refusal, _ in CROWDED), NO_QUESTION)
    yield from (refusal for refusal, _ in (*ORDER, *SURE))
    yield from (refusal for refusal, _ in (*OTHERS, *LIMITS))
    yield from map(of_a_tournament, TOURNAMENTS)
    yield from (misread(line) for line in ["", "dance", *(line for line, _ in LINES)])


@cases("case", CASES)
def test_hall_refusal_has_the_expected_code_and_sentence(case: Case) -> None:
    refusal = brought_about(case)
    assert refusal.code is case.code
    assert refusal_text(refusal, case.line.partition(":")[0]) == case.sentence


@cases("example", EXAMPLES)
def test_rules_refusal_has_the_expected_sentence(example: Example) -> None:
    assert refusal_text(refusal(example)) == example.sentence


def test_refusal_codes_are_all_tested_and_unique() -> None:
    codes = [*Reason, *Refusal, *Mistake, *T]
    assert {each.code for each in all_refusals()} == set(codes)
    assert len({code.value for code in codes}) == len(codes)


def test_refusal_code_determines_the_keys_of_its_details() -> None:
    facts = {(each.code, tuple(each.details)) for each in all_refusals()}
    assert len(facts) == len([*Reason, *Refusal, *Mistake, *T])


def test_refusal_uses_the_given_names_of_squares() -> None:
    refusal_ = refusal(EXAMPLES[2])
    assert refusal_text(refusal_, name=lambda square: f"<{square.column},{square.row}>") == (
        "<0,0> is off the board; that row goes from <5,0> to <9,0>."
    )
    assert refusal_text(refusal_, name=attrgetter("record_name")).endswith("goes from F1 to K1.")


@pytest.mark.parametrize(
    ("plies", "sentence"),
    [
        ("dA6-A6", "line 2: dA6-A6: The piece on A6 has to move to another square."),
        (
            "dK1-K9xK9",
            "line 2: dK1-K9xK9: A hurled dwarf has to land on a troll; K9 is empty.",
        ),
        ("dA6-B6\nTJ7-L7", "line 3: TJ7-L7: A troll moves at most 1 square; L7 is 2 away."),
        ("TA6-B6", "line 2: TA6-B6: the piece on A6 is a dwarf"),
    ],
)
def test_unreadable_record_is_explained_with_its_line(plies: str, sentence: str) -> None:
    setup = write_record(Game.start(CLASSIC).push("dA6-B6")).splitlines()[0]
    with pytest.raises(RecordError) as caught:
        read_record(f"{setup}\n{plies}\n", CLASSIC)
    assert record_error_text(caught.value) == sentence


# Lines that don't parse.

DWARF = "options colour special thud dwarf"
HUES = "black, red, green, yellow, blue, magenta, cyan or white"
NO_COLOUR = (
    f'That isn\'t a colour. Name {HUES}, with or without "bright"; or give a number from 0 to'
    " 255, or #rrggbb."
)
LINES = [
    (
        "invite grog classic 1+0",
        "An invitation is to a board, which has its own rules and clock. To choose them,"
        ' type "match grog classic 1+0".',
    ),
    ("move from I16 to A0", "There is no row 16: rows go from 1 to 15."),
    ("move a6 to A0", "There is no row 0: rows go from 1 to 15."),
    ("move Z3 a4", "There is no column Z: columns go from A to O."),
    ("move a6 b6 capturing p4", "There is no column P: columns go from A to O."),
    ("view possible from o 100", "There is no row 100: rows go from 1 to 15."),
    ("move A1 5 to b6", 'There is a space inside a number: "A1 5". Did you mean "A15"?'),
    ("move b6 to a 1 2", 'There is a space inside a number: "a 1 2". Did you mean "A12"?'),
    ("move b6 to a1 6", 'There is a space inside a number: "a1 6".'),
    (
        "move b6 c7 capturing a1 1, b2",
        'There is a space inside a number: "a1 1". Did you mean "A11"?',
    ),
    (
        "TG7-J7xE7",
        "Game records are written like that, and their columns skip the letter I. Here, type"
        ' "shove from G7 to I7 capturing E7".',
    ),
    ("move a6xb6", 'Game records are written like that. Here, type "hurl from A6 to B6".'),
    ("move a6 b6 capturing d8;e8", "Put a space between D8 and E8."),
    ("move a6 b6 capturing d8;e8", "Put a space between D8 and E8."),
    ("replay 0", "Numbers start at 1 here."),
    ("history page 000", "Numbers start at 1 here."),
    ("resume #0", "Numbers start at 1 here."),
    (
        "tournament new swiss starts 20.00",
        'A time of day is written like 20:00, from 0:00 to 23:59. Did you mean "20:00"?',
    ),
    (
        "history 2026-02-30",
        "A day is written like 2026-11-20: the year, the month and the day.",
    ),
    ("record 1234567890", "That number is too long: the limit is 9 digits."),
    ("replay", 'Which battle? Add its number: "history" lists them.'),
    ("record anna", 'Which battle? Add its number: "history" lists them.'),
    ("replay -1", 'Which battle? Add its number: "history" lists them.'),
    (
        "enter oak board",
        'Which tournament? Add its number: "tournaments" lists them. To go to a board, type "go to"'
        " and its name.",
    ),
    (
        "pause",
        'To finish your match another day, type "adjourn". "pause tournament" and its number'
        " pauses a tournament.",
    ),
    (
        "tournament new swiss starts",
        'After "tournament new swiss starts" something is missing: a day such as 2026-11-20, a time'
        ' of the day such as 20:00, "at", "today", "in" or "tomorrow".',
    ),
    (
        "play oak board",
        '"play" by itself finds an opponent. To challenge somebody, type "match" and the name; to'
        ' sit down at a board, "join game as dwarf" or "join game as troll".',
    ),
    (
        "north",
        'There are no directions here. "boards" lists the boards; "go to" and a name takes you to'
        ' one, "go hall" back. In a replay, type "next" or "back".',
    ),
    (
        "capture f6",
        'To capture, type the move: dwarfs are hurled onto a troll, as in "hurl f1 f6", and trolls'
        ' add what they capture, as in "g7 f7 capturing f6". "captures" lists what can be'
        " captured.",
    ),
    (
        "abort",
        'No battle is called off here. If you\'re in one, "draw" offers to end it as it stands,'
        ' "start game" to begin again, "adjourn" to finish it another day; "resign" gives it up.'
        ' "withdraw" ends a seek.',
    ),
    (
        "moretime 60",
        'Nobody can be given more time during a battle. "adjourn" offers to finish it another day;'
        ' "set clock" sets the clock before a match.',
    ),
    (
        "swap",
        'You swap seats after the first battle of a match: then "start game" begins the second. To'
        ' choose your side, type "match", a name and "as dwarf" or "as troll".',
    ),
    (
        "pass",
        'Nobody may pass. "moves" lists what you can do; to end the battle as it stands, type'
        ' "draw". In a lesson or a replay, "next" goes on.',
    ),
    ("castle", 'There is nothing like that in Thud: "help thud" explains the game.'),
    ("hello", 'To speak, type "say" first: "say hello".'),
    ("thanks", 'To speak, type "say" first: "say thanks".'),
    ("wp", 'To speak, type "say" first: "say wp".'),
    (
        "gossip anybody here?",
        '"say" and your words speak to those around you, "shout" to everybody on the server, "tell"'
        " and a name to one player.",
    ),
    (
        "uptime",
        'You\'re connected. "who" shows who is here, "news" what is new, and "clock" the time left'
        " in a battle.",
    ),
    (
        "style 12",
        '"set board brief" shows a board as one line, "set board full" draws it; "options" lists'
        " the rest.",
    ),
    ("cls", 'Only your own program can clear the screen. "look" shows where you are.'),
    ("login anna", 'You\'re in already. To come in under another name, type "quit" first.'),
    (
        "rated",
        'A match is rated if you\'re both registered, unless you add "unrated": "match", a name and'
        ' "unrated". "help ratings" explains it.',
    ),
    (
        "laugh at the trolls",
        'Only the name of a player can follow. To do it in your own words, type "emote" and what'
        ' you do: "emote grins broadly".',
    ),
    (
        "inventory",
        'There is nothing to carry here. "look" shows what is around you, "games" lists your'
        " matches.",
    ),
    (
        "seek 10 min quickly",
        'A clock is written as minutes and seconds, such as "10+5", or as days, such as "3 days". '
        'Did you mean "10+0"?',
    ),
    (
        "set clock 15 days",
        "A clock has 1 to 180 minutes, plus 0 to 180 seconds a move; or 1 to 14 days a move.",
    ),
    ("ok", 'To agree to an offer, type "accept".'),
    ("Agreed!", 'To agree to an offer, type "accept".'),
    ("scan row 16", "There is no row 16: rows go from 1 to 15."),
    ("scan row 0", "There is no row 0: rows go from 1 to 15."),
    ("scan column p", "There is no column P: columns go from A to O."),
    ("scan row F", 'F is a column: type "scan column f".'),
    ("scan column 06", '6 is a row: type "scan row 6".'),
    ("around p6", "There is no column P: columns go from A to O."),
    ("captures a16", "There is no row 16: rows go from 1 to 15."),
    (
        "where anna",
        '"where" finds dwarfs, trolls, the stone or the rock; to find a player, type "look".',
    ),
    ("where are the trolls", 'Type just "where" and "dwarfs", "trolls", "stone" or "rock".'),
    (
        "moves a6 to b6",
        'To make a move, begin with "move"; "moves" lists the legal ones.',
    ),
    ("notify mail", 'After "notify mail" something is missing: a mail address or "off".'),
    ("options width 7", "A screen can be 20 to 500 columns wide."),
    ("options width 501", "A screen can be 20 to 500 columns wide."),
    ("options width -80", "A screen can be 20 to 500 columns wide."),
    ("set width 60", 'That is an option: type "options width 60".'),
    (f"{DWARF} 256", "Colour numbers go from 0 to 255."),
    (f"{DWARF} on -1", "Colour numbers go from 0 to 255."),
    (f"{DWARF} #ff880", 'Write # and six digits, 0 to 9 and a to f, such as "#ff8800".'),
    (f"{DWARF} bright", f'After "bright" comes {HUES}.'),
    (f"{DWARF} puce", NO_COLOUR),
    (f"{DWARF} red on none", NO_COLOUR),
    (
        "register swordfish",
        'Type "register" by itself: you\'ll be asked for the rest, and it stays hidden.',
    ),
    (
        "Password old new",
        'Type "password" by itself: you\'ll be asked for the rest, and it stays hidden.',
    ),
    (f"{DWARF} gren", f'{NO_COLOUR} Did you mean "green"?'),
    (f"{DWARF} orange", f'{NO_COLOUR} Did you mean "yellow"?'),
    (f"{DWARF} bold purple", f'{NO_COLOUR} Did you mean "magenta"?'),
    (f"{DWARF} bright gren", f'After "bright" comes {HUES}. Did you mean "bright green"?'),
    ("x" * 1025, "That line is too long: the limit is 1,024 characters."),
    ("options rows 4", 'A screen can be 5 to 500 rows high; "options rows off" lets texts run on.'),
    (
        "options rows",
        'After "options rows" something is missing: a number from 5 to 500, "off" or "auto".',
    ),
    ("move aa", 'After "move" comes a position such as A6 or "from", not "aa".'),
    (
        "move a6 tu b6",
        'After "move a6" comes a position such as A6 or "to", not "tu".',
    ),
    (
        "set rules",
        'After "set rules" something is missing: "discworld", "classic" or "koom valley".',
    ),
    ("go", 'After "go" something is missing: the name of a board, "to" or "hall".'),
    ("say", 'After "say" something is missing: what you want to say.'),
    (":", 'After ":" something is missing: what you do.'),
    ("tell", 'After "tell" something is missing: the name of a player.'),
    ("history page", 'After "history page" something is missing: a number such as 12.'),
    ("scan row", 'After "scan row" something is missing: a row such as 5.'),
    ("scan column ff", 'After "scan column" comes a column such as F, not "ff".'),
    (
        "options width",
        'After "options width" something is missing: a number from 20 to 500 or "auto".',
    ),
    (
        "move a6 b6 on board capturing c7 with",
        'After "... a6 b6 on board capturing c7" comes a position such as A6, a comma, "and" or the'
        ' end of the line, not "with".',
    ),
    (
        "ply dH5-I5",
        "Game records have no column I: J is the column after H. To use the letters of the board,"
        ' type "move" and two squares.',
    ),
    (
        "setup dF1,dI5",
        "A setup text has the letters of game records, which skip the I: J is the column after H."
        ' To use the letters of the board, type "setup dwarfs" and squares.',
    ),
    (
        "quit now",
        'After "quit" comes "tutorial", "puzzle", "replay" or the end of the line, not "now".',
    ),
]

WIDE = ["\u6f22\u5b57", "\U0001f44d", "\U0001f468\u200d\U0001f680", "e\u0301"]
"""Han characters, an emoji, a joined emoji, and a letter with a combining accent."""


def misread(line: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse(line)
    return caught.value


def misfit(line: str, column: int) -> ParseError:
    return ParseError(Mistake.UNEXPECTED_WORD, line, column, "@@@", expected=("on",))


def told(line: str, width: int) -> str:
    return "\n".join(explain(misread(line), width))


@cases(("line", "sentence"), LINES)
def test_parse_error_has_the_expected_sentence(line: str, sentence: str) -> None:
    assert refusal_text(misread(line)) == sentence


SHOWN = [
    (
        "hurk a6 b6",
        80,
        """\
hurk a6 b6
^^^^
There is no command "hurk". Did you mean "hurl"?""",
    ),
    (
        "xyzzy",
        80,
        """\
There is no command "xyzzy". "help" lists the commands, "syntax" shows how to
type them.""",
    ),
    (
        "move from a6 tu b6 on board",
        40,
        """\
move from a6 tu b6 on board
             ^^
After "move from a6" comes a position
such as A6 or "to", not "tu".""",
    ),
    (
        "move a6 to",
        80,
        """\
move a6 to
          ^
After "move a6 to" something is missing: a position such as A6.""",
    ),
    (
        "move from I16 to A0",
        80,
        """\
move from I16 to A0
          ^^^
There is no row 16: rows go from 1 to 15.""",
    ),
    (
        "move A1 5 to b6",
        80,
        """\
move A1 5 to b6
        ^
There is a space inside a number: "A1 5". Did you mean "A15"?""",
    ),
    (
        "move a6 b6 on board capturing",
        80,
        """\
move a6 b6 on board capturing
                             ^
After "move a6 b6 on board capturing" something is missing: a position such as
A6, "all" or "none".""",
    ),
    (
        "move from a6 to b6 on the second oak board capturing d8, e8 with g8",
        40,
        """\
...k board capturing d8, e8 with g8
                            ^^^^
After "... oak board capturing d8, e8"
comes a position such as A6, a comma,
"and" or the end of the line, not
"with".""",
    ),
    (
        "scan row",
        80,
        """\
scan row
        ^
After "scan row" something is missing: a row such as 5.""",
    ),
    ("\x00", 80, 'Type a command; "help" lists them.'),
]


@pytest.mark.parametrize(("line", "width", "text"), SHOWN)
def test_explanation_shows_line_caret_and_sentence(line: str, width: int, text: str) -> None:
    assert told(line, width) == text


@cases("column", [0, 3, 30, 100, 250, 290])
@cases("width", [20, 40, 80])
def test_caret_stays_under_the_word_in_a_long_line(column: int, width: int) -> None:
    line = ("." * column + "@@@").ljust(300, ".")
    shown, carets, *_ = explain(misfit(line, column), width)
    assert len(shown) < width
    assert shown[carets.index("^") :].startswith("@@@")
    assert carets.strip() == "^^^"
    assert shown.strip(".") == "@@@"


@cases("width", [20, 21, 40, 41, 80])
@cases("text", WIDE)
@cases("times", [0, 1, 2, 30])
def test_caret_position_accounts_for_wide_characters(text: str, times: int, width: int) -> None:
    line = f"{text * times}@@@{text * times} "
    error = misfit(line, len(text) * times)
    shown, carets, *_ = explain(error, width)
    assert wcswidth(shown) < width
    assert carets == " " * wcswidth(shown[: shown.index("@")]) + "^^^"


def test_caret_is_as_long_as_the_word() -> None:
    for word in WIDE:
        line, caret, *_ = told(f"move {word} to b6", 80).split("\n")
        assert line == f"move {word} to b6"
        assert caret == " " * len("move ") + "^" * wcswidth(word)


def test_overlong_line_has_a_caret_where_it_was_cut() -> None:
    shown, caret, sentence = told("say " + "na" * 1000, 80).split("\n")
    assert shown.startswith("...nana")
    assert caret.index("^") == len(shown)
    assert sentence == "That line is too long: the limit is 1,024 characters."
