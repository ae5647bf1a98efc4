/*
 * A board for Thud, to stand in a room: a piece of furniture whose game is played by the gateway.
 *
 * Clone it, call set_board() from the room, and that is all. What is typed always names the board:
 * "move from a6 to b6 on board". A library in the manner of Discworld's, whose add_command() takes
 * patterns, says THUD_PATTERNS in thud_board.h; in all others add_action() does.
 */

#include "thud_board.h"

inherit "/std/object";

/*
 * Words that lines begin with, where there are no patterns: all commands of the game that can name
 * a board. Nothing is taken from other objects: a line is ours if it says "on" this board.
 */
#define VERBS ({ \
  "join", "leave", "start", "practice", "end", "resign", "adjourn", "resume", "claim", "undo", "no", \
  "move", "hurl", "shove", "view", "set", "study", "hint", "where", "scan", "around", "moves", \
  "lines", "captures", "last", "clock" \
})

/* What furniture has other words for than the game. */
#define STUDIES ([ "study syntax": "syntax", "study rules": "help rules" ])

/* Which board a player means is for this MUD's own parser to find out. */
#define HERE " {on|at} <direct:object:here'board'>"

/*
 * What is typed here, what follows the word, and the line that the gateway is told: %1 is the first
 * thing in angle brackets, %2 the second, and so on. The board itself counts as one.
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
private nosave string *players = ({ }); /* who is at it, for the gateway */

void begin_thud();
int pass_on(string line, string *parts);
int typed(string rest);
int examine(string what);
private void show();
private void tell_gateway(string line);
private string named(object player);
private object found(string name);
private void let_in(object player);

/* The word must be the same each time the MUD starts; the path of the room will do. */
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
 * Called when there is a link with nobody at the board: the first, and after a new beginning. Who
 * is here is brought back in, whether or not they have typed anything.
 */
void begin_thud() {
  string name, *before;
  object player;

  before = players;
  players = ({ });
  THUD_GATEWAY->open_board(word, called, rules, style);
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

/* The driver calls this for everybody who comes. */
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

/* A player has typed what fits a pattern: it is passed on as a line of the game. */
int pass_on(string line, string *parts) {
  int i;

  for (i = 0; i < sizeof(parts); i++) {
    line = replace_string(line, "%" + (i + 1), parts[i]);
  }
  tell_gateway(line);
  return 1;
}

/* A player has typed one of the verbs: it is for us if it says "on", or "at", and means us. */
int typed(string rest) {
  string line, what, where, squares;

  line = query_verb() + (rest ? " " + rest : "");
  if (sscanf(line, "%s on %s", what, where) != 2 && sscanf(line, "%s at %s", what, where) != 2) {
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

/* The player of a name, if they are here. */
private object found(string name) {
  object player;

  player = find_player(lower_case(name));
  return player && environment(player) == environment() ? player : 0;
}

/* Requests of one board are carried out in their order: there is no need to wait for the answer. */
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

private void let_out(string name) {
  if (member_array(name, players) != -1) {
    players -= ({ name });
    THUD_GATEWAY->ask("leave", ([ "board": word, "player": name, "parting": "lost" ]));
  }
}

/*
 * Who looks on is told what happens, too. A library may call this when somebody goes; else it shows
 * when there is next something to tell them.
 */
void event_exit(object ob, string mess, object to) {
  if (living(ob)) {
    let_out(named(ob));
  }
}

void dest_me() {
  THUD_GATEWAY->ask("close", ([ "board": word ]));
  ::dest_me();
}

/* What comes from the gateway. */

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
      let_out(name);
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
