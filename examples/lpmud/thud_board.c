/*
 * A board for Thud, to stand in a room: a piece of furniture whose game is played by the gateway.
 * For a library in the manner of Discworld's, where add_command() takes patterns.
 *
 * Clone it, call set_board() from the room, and that is all.
 */

#include "thud_board.h"

inherit "/std/object";

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
private void show();
private string named(object player);
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

/* Called when there is a link with nobody at the board: the first, and after a new beginning. */
void begin_thud() {
  players = ({ });
  THUD_GATEWAY->open_board(word, called, rules, style);
  show();
}

private void show() {
  THUD_GATEWAY->ask("show", ([ "board": word, "width": 79 ]));
}

string long(string str, int dark) {
  return "It is a board for Thud, with dwarfs and trolls to fight on it. \"study rules on board\" "
         "and \"study syntax on board\" tell more.\n" + picture;
}

void init() {
  mixed each;

  ::init();
  foreach (each in COMMANDS) {
    this_player()->add_command(each[0], this_object(), each[1], (: pass_on($(each[2]), $4) :));
  }
}

/* A player has typed something: it is passed on as a line of the game. */
int pass_on(string line, string *parts) {
  int i;

  for (i = 0; i < sizeof(parts); i++) {
    line = replace_string(line, "%" + (i + 1), parts[i]);
  }
  let_in(this_player());
  THUD_GATEWAY->ask("line", ([ "board": word, "player": named(this_player()), "line": line ]));
  return 1;
}

private string named(object player) {
  return capitalize(player->query_name());
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

private void let_out(object player) {
  string name;

  name = named(player);
  if (member_array(name, players) != -1) {
    players -= ({ name });
    THUD_GATEWAY->ask("leave", ([ "board": word, "player": name, "parting": "lost" ]));
  }
}

/* Who looks on is told what happens, too: they are let in when they come, and out when they go. */
void event_enter(object ob, string mess, object from) {
  if (interactive(ob)) {
    let_in(ob);
  }
}

void event_exit(object ob, string mess, object to) {
  if (living(ob)) {
    let_out(ob);
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
    player = find_player(lower_case(name));
    if (player) {
      tell_object(player, event["text"] + "\n");
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
    show();
  }
}
