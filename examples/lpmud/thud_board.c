/*
 * A Thud board as furniture for a room; the gateway runs the game.
 *
 * Clone it and call set_board() from the room. Commands always name the board: "move from a6 to b6
 * on board". For a mudlib like Discworld's, whose add_command() takes patterns, define THUD_PATTERNS
 * in thud_board.h; other mudlibs use add_action().
 */

#include "thud_board.h"

inherit "/std/object";

/*
 * What the MUD has itself, and the board does without: the game's verbs of these names, with their
 * synonyms, and its socials.
 */
#define WITHOUT "' . : ? say tell shout emote kibitz whisper reply smile who finger plan follow " \
  "unfollow ignore unignore go boards look quit flip help observe unobserve"

/*
 * Verbs for add_action(): all others of the game. Other objects can have the same verbs, since lines
 * without "on" or "at" this board are left to them.
 */
#define VERBS ({ \
  "accept", "adjourn", "analyse", "around", "back", "board", "bots", "cancel", "capture", \
  "captures", "claim", "clock", "clocks", "comment", "decline", "draw", "end", "evaluate", \
  "explore", "finish", "first", "games", "gg", "hint", "history", "hurl", "invite", "join", \
  "last", "leave", "lessons", "lines", "m", "message", "move", "moves", "next", "no", "offer", \
  "option", "options", "play", "ply", "practice", "practise", "puzzle", "record", "refuse", \
  "rematch", "replay", "resign", "resume", "retry", "scan", "score", "set", "setup", "shove", \
  "standings", "start", "stats", "stop", "study", "syntax", "take", "takeback", "time", \
  "tutorial", "undo", "variation", "view", "where", "withdraw", "yes" \
})

/* What messages of the game tell players to type, and is theirs without "on board". */
#define BARE ({ \
  "accept", "analyse", "bots", "decline", "history", "hint", "invite", "lessons", "next", \
  "practice", "puzzle", "record", "replay", "set board", "set clock", "set rules", "standings", \
  "stop", "tutorial" \
})

/* Commands of furniture whose names differ from the game's. */
#define STUDIES ([ "study syntax": "syntax", "study rules": "help rules" ])

/* This MUD's own parser resolves the board. */
#define HERE " {on|at} <direct:object:here'board'>"

/*
 * Verb, pattern, and line for the gateway. %1 stands for the first part in angle brackets, %2 for
 * the second, and so on, counting the board.
 */
#define COMMANDS ({ \
  ({ "join", "game as <word'side'>" + HERE, "join game as %1" }), \
  ({ "leave", "game" + HERE, "leave game" }), \
  ({ "start", "game" + HERE, "start game" }), \
  ({ "end", "game" + HERE, "end game" }), \
  ({ "resign", "game" + HERE, "resign" }), \
  ({ "adjourn", "game" + HERE, "adjourn" }), \
  ({ "resume", "game" + HERE, "resume" }), \
  ({ "claim", "game" + HERE, "claim" }), \
  ({ "undo", "move" + HERE, "undo" }), \
  ({ "move", "from <word'square'> to <word'square'>" + HERE, "move from %1 to %2" }), \
  ({ "move", "from <word'square'> to <word'square'>" + HERE + " capturing <string'squares'>", \
     "move from %1 to %2 capturing %4" }), \
  ({ "hurl", "from <word'square'> to <word'square'>" + HERE, "hurl from %1 to %2" }), \
  ({ "shove", "from <word'square'> to <word'square'>" + HERE + " capturing <string'squares'>", \
     "shove from %1 to %2 capturing %4" }), \
  ({ "view", "game" + HERE, "view game" }), \
  ({ "view", "possible" + HERE, "view possible" }), \
  ({ "view", "possible from <word'square'>" + HERE, "view possible from %1" }), \
  ({ "set", "board <word'full or brief'>" + HERE, "set board %1" }), \
  ({ "set", "rules <string'rules'>" + HERE, "set rules %1" }), \
  ({ "study", "syntax" + HERE, "syntax" }), \
  ({ "study", "rules" + HERE, "help rules" }) \
})

private nosave string word;             /* which board the gateway is asked about */
private nosave string called, rules, style;
private nosave string picture = "The pieces are still being set up.\n";
private nosave string *players = ({ }); /* names of those present, as the gateway has them */

void begin_thud();
int pass_on(string line, string *parts);
int typed(string rest);
int examine(string what);
private void show();
private void tell_gateway(string line);
private string named(object player);
private object found(string name);
private void let_in(object player);

/* `which` must stay the same across restarts of the MUD; the room's path will do. */
void set_board(string which, string name, string by_rules, string in_style) {
  word = which;
  called = name;
  rules = by_rules;
  style = in_style;
  set_name("board");
  set_short(called);
  add_adjective(explode(called, " ")[0]);
  begin_thud();
}

/*
 * Open the board, and let everybody present in again, whether or not they have typed anything.
 * Called at the start of a session, when the gateway has nobody at the board.
 */
void begin_thud() {
  string name, *before;
  object player;

  before = players;
  players = ({ });
  THUD_GATEWAY->open_board(word, called, rules, style, WITHOUT);
  foreach (name in before) {
    player = found(name);
    if (player) {
      let_in(player);
    }
  }
  show();
}

private void show() {
  THUD_GATEWAY->ask("show", ([ "board": word, "width": 79 ]));
}

string long(string str, int dark) {
  return "It is a board for Thud, with dwarfs and trolls to fight on it. \"study rules on board\" "
         "and \"study syntax on board\" tell more.\n" + picture;
}

/* Called by the driver for each object that enters the room. */
void init() {
#ifdef THUD_PATTERNS
  mixed each;

  ::init();
  foreach (each in COMMANDS) {
    this_player()->add_command(each[0], this_object(), each[1], (: pass_on($(each[2]), $4) :));
  }
#else
  string verb;

  ::init();
  foreach (verb in VERBS) {
    add_action("typed", verb);
  }
  add_action("examine", "examine");
#endif
  if (interactive(this_player())) {
    let_in(this_player());
  }
}

/* Handle a command that matches a pattern: pass it on as a line of the game. */
int pass_on(string line, string *parts) {
  int i;

  for (i = 0; i < sizeof(parts); i++) {
    line = replace_string(line, "%" + (i + 1), parts[i]);
  }
  tell_gateway(line);
  return 1;
}

/* Handle a line with one of the verbs if it says "on" or "at" this board, or begins as BARE has it. */
int typed(string rest) {
  string line, what, where, squares, phrase;

  line = query_verb() + (rest ? " " + rest : "");
  if (sscanf(line, "%s on %s", what, where) != 2 && sscanf(line, "%s at %s", what, where) != 2) {
    foreach (phrase in BARE) {
      if (line == phrase || strsrch(line, phrase + " ") == 0) {
        tell_gateway(line);
        return 1;
      }
    }
    return 0;
  }
  if (sscanf(where, "%s capturing %s", where, squares) == 2) {
    what += " capturing " + squares;
  }
  if (!id(lower_case(where))) {
    return 0;
  }
  tell_gateway(STUDIES[what] ? STUDIES[what] : what);
  return 1;
}

int examine(string what) {
  if (!what || !id(lower_case(what))) {
    return 0;
  }
  write(long("", 0));
  return 1;
}

private void tell_gateway(string line) {
  let_in(this_player());
  if (!THUD_GATEWAY->is_up()) {
    write("The board does not answer just now. It will do that as soon as it can.\n");
  }
  THUD_GATEWAY->ask("line", ([ "board": word, "player": named(this_player()), "line": line ]));
}

private string named(object player) {
  return capitalize(player->query_name());
}

/* Return the player with a name if present in the room. */
private object found(string name) {
  object player;

  player = find_player(lower_case(name));
  return player && environment(player) == environment() ? player : 0;
}

/* No need to wait for the answer: the gateway handles a board's requests in order. */
private void let_in(object player) {
  string name;
  int width;

  name = named(player);
  if (member_array(name, players) == -1) {
    players += ({ name });
    width = player->query_cols();
    width = width < 20 || width > 500 ? 80 : width;
    THUD_GATEWAY->ask("enter", ([ "board": word, "player": name, "width": width ]));
  }
}

/* `parting` is "left" for a player who walks away, and "lost" for one whose connection is lost. */
private void let_out(string name, string parting) {
  if (member_array(name, players) != -1) {
    players -= ({ name });
    THUD_GATEWAY->ask("leave", ([ "board": word, "player": name, "parting": parting ]));
  }
}

/*
 * Called by some mudlibs when somebody leaves the room. Under others, event_thud() notices an absent
 * onlooker at the next message.
 */
void event_exit(object ob, string mess, object to) {
  if (living(ob)) {
    let_out(named(ob), "left");
  }
}

void dest_me() {
  THUD_GATEWAY->ask("close", ([ "board": word ]));
  ::dest_me();
}

/* Callbacks for the gateway. */

void event_thud(mapping event) {
  string name;
  object player;

  if (event["type"] != "tell") {
    return;
  }
  foreach (name in event["to"]) {
    player = found(name);
    if (player) {
      tell_object(player, event["text"] + "\n");
    } else {
      let_out(name, find_player(lower_case(name)) ? "left" : "lost");
    }
  }
}

void answer_thud(mapping asked, mapping answer) {
  object player;

  if (!answer["ok"]) {
    player = asked["player"] ? find_player(lower_case(asked["player"])) : 0;
    if (asked["type"] == "line" && player) {
      tell_object(player, "Nothing happens: the board seems to be out of order.\n");
    }
    log_file("THUD", sprintf("%s: %s: %s\n", word, answer["code"], answer["text"]));
    return;
  }
  if (asked["type"] == "show") {
    picture = answer["text"] + "\n";
  } else if (asked["type"] == "line") {
    if (!answer["here"]) {
      players -= ({ asked["player"] });
    }
    if (answer["done"]) {
      show();
    }
  }
}
