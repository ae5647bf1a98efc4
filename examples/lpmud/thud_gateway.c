/*
 * The MUD's single connection to the gateway, see docs/gateway.md: requests, answers, and recovery
 * from dropped connections and gateway restarts, without losing or repeating a line that a player has
 * typed. For FluffOS; put it among your handlers and name it in thud_board.h.
 *
 * A board calls open_board() once, and ask() for everything else. It has to define
 *   event_thud(mapping event)   for output to players, and
 *   answer_thud(mapping asked, mapping answer)   for the answer to each request.
 */

#include <socket.h>
#include <socket_err.h>
#include "thud_board.h"

#define ACKNOWLEDGE_EVERY 20
#define PAUSE 1             /* seconds before reconnecting, */
#define LONGEST_PAUSE 60    /* doubled after each failure up to this */

private nosave int link = -1;
private nosave int welcomed;
private nosave int writing;         /* waiting for the driver to call write_on() */
private nosave string *unwritten = ({ });
private nosave string begun = "";   /* an incomplete line */
private nosave string session = "";
private nosave int seen, acknowledged, last_id;
private nosave int pause = PAUSE;
private nosave string run;          /* followed by a number, the idempotency key of each line */
private nosave int lines;
private nosave mapping pending = ([ ]);  /* by id: requests without an answer */
private nosave mapping boards = ([ ]);   /* board objects by word */

private void connect();
void hear_close(int fd);
private void say(mapping data);
private void hear(mapping heard);
string to_json(mapping data);
mixed from_json(string text);

void create() {
  seteuid(getuid());
  run = sprintf("%x-%x", time(), random(0x7fffffff));
  call_out((: connect :), 0);
}

/* Functions for boards. */

/* Whether the gateway is connected. Requests made while it isn't are sent once it is. */
int is_up() {
  return welcomed;
}

private void ask_now(mapping asked) {
  last_id++;
  asked["id"] = last_id;
  pending[last_id] = asked;
  if (welcomed) {
    say(asked);
  }
}

void ask(string type, mapping data) {
  mapping asked;

  asked = data + ([ "type": type ]);
  if (type == "line") {
    lines++;
    asked["key"] = run + "-" + lines;
  }
  ask_now(asked);
}

void open_board(string word, string name, string rules, string style, string without) {
  boards[word] = previous_object();
  ask("open", ([ "board": word, "name": name, "rules": rules, "style": style,
                 "without": without ]));
}

/* The connection. */

private void connect() {
  int error;

  welcomed = 0;
  begun = "";
  unwritten = ({ });
  writing = 1;
  link = socket_create(STREAM, "hear_piece", "hear_close");
  error = link < 0 ? link : socket_connect(link, THUD_ADDRESS, "hear_piece", "write_on");
  if (error != EESUCCESS && error < 0) {
    hear_close(link);
    return;
  }
  /* The session's id, if any, resumes the session without loss. */
  say(([ "type": "hello", "version": 1, "client": THUD_CLIENT, "secret": THUD_SECRET ]) +
      (session == "" ? ([ ]) : ([ "session": session, "seen": seen ])));
}

void hear_close(int fd) {
  if (fd != link) {
    return;
  }
  if (link >= 0) {
    catch(socket_close(link));
  }
  link = -1;
  welcomed = 0;
  remove_call_out("again");
  call_out("again", pause + random(pause));   /* jitter, so that MUDs don't reconnect at once */
  pause = pause * 2 > LONGEST_PAUSE ? LONGEST_PAUSE : pause * 2;
}

void again() {
  connect();
}

void write_on(int fd) {
  int error;

  writing = 0;
  while (fd == link && !writing && sizeof(unwritten)) {
    error = socket_write(link, unwritten[0]);
    if (error == EEWOULDBLOCK) {
      writing = 1;                 /* not accepted: send the same again later */
      return;
    }
    unwritten = unwritten[1..];
    if (error == EECALLBACK) {
      writing = 1;                 /* accepted, but the buffer is full */
    } else if (error != EESUCCESS) {
      hear_close(link);
      return;
    }
  }
}

private void say(mapping data) {
  unwritten += ({ to_json(data) + "\n" });
  if (!writing) {
    write_on(link);
  }
}

void hear_piece(int fd, string piece) {
  string *lines;
  int i;

  if (fd != link) {
    return;
  }
  lines = explode(begun + piece + "\n", "\n");
  /* Don't rely on explode() for a trailing newline: drivers differ. */
  if (piece[<1] == '\n') {
    begun = "";
  } else {
    begun = lines[<1];
    lines = lines[0..<2];
  }
  for (i = 0; i < sizeof(lines); i++) {
    if (lines[i] != "") {
      hear(from_json(lines[i]));
    }
  }
}

/* Input. */

private void begin_anew() {
  mapping before;
  int *ids, i;
  string word;
  object board;

  before = pending;
  pending = ([ ]);
  seen = acknowledged = last_id = 0;
  foreach (word, board in boards) {
    if (board) {
      catch(board->begin_thud());
    }
  }
  /* Their keys keep lines from being carried out twice; begin_thud() has repeated all else. */
  ids = sort_array(keys(before), 1);
  for (i = 0; i < sizeof(ids); i++) {
    if (before[ids[i]]["type"] == "line") {
      ask_now(before[ids[i]]);
    }
  }
}

private void welcome(mapping data) {
  int *ids, i, is_new;

  is_new = session != "" && !data["resumed"];
  session = data["session"];
  welcomed = 1;
  pause = PAUSE;
  if (is_new) {
    /* The gateway has kept the boards, but with nobody at them. */
    begin_anew();
    return;
  }
  ids = sort_array(keys(pending), 1);
  for (i = 0; i < sizeof(ids); i++) {
    if (ids[i] > data["received"]) {
      say(pending[ids[i]]);
    }
  }
}

private void hear(mapping heard) {
  mapping asked;
  object board;

  switch (heard["type"]) {
  case "welcome":
    welcome(heard);
    return;
  case "ping":
    say(([ "type": "pong" ]));
    return;
  case "error":
    log_file("THUD", sprintf("%s: %s\n", heard["code"], heard["text"]));
    return;
  }
  if (heard["seq"] <= seen) {
    return;                        /* a duplicate */
  }
  seen = heard["seq"];
  if (heard["type"] == "answer") {
    asked = pending[heard["id"]];
    map_delete(pending, heard["id"]);
    board = asked ? boards[asked["board"]] : 0;
    if (board) {
      catch(board->answer_thud(asked, heard));
    }
  } else {
    board = boards[heard["board"]];
    if (board) {
      catch(board->event_thud(heard));
    }
  }
  if (seen >= acknowledged + ACKNOWLEDGE_EVERY) {
    acknowledged = seen;
    say(([ "type": "ack", "seen": seen ]));
  }
}

/* JSON: writes flat objects of strings and integers, reads everything. */

private string quoted(string text) {
  text = replace_string(text, "\\", "\\\\");
  text = replace_string(text, "\"", "\\\"");
  text = replace_string(text, "\n", "\\n");
  text = replace_string(text, "\r", "");
  text = replace_string(text, "\t", " ");
  return "\"" + replace_string(text, "\e", "") + "\"";
}

string to_json(mapping data) {
  string *words, *parts;
  int i;
  mixed held;

  words = keys(data);
  parts = ({ });
  for (i = 0; i < sizeof(words); i++) {
    held = data[words[i]];
    parts += ({ quoted(words[i]) + ":" + (stringp(held) ? quoted(held) : "" + held) });
  }
  return "{" + implode(parts, ",") + "}";
}

private nosave string source;
private nosave int at;

private mixed value();

private int hexadecimal(string digits) {
  int i, number;

  for (i = 0; i < 4; i++) {
    number = number * 16 + strsrch("0123456789abcdef", lower_case(digits[i..i]));
  }
  return number;
}

private string text_value() {
  string found;
  int start, code;

  found = "";
  start = ++at;
  while (source[at] != '"') {
    if (source[at] != '\\') {
      at++;
      continue;
    }
    found += source[start..at - 1];
    at++;
    switch (source[at]) {
    case 'n':
      found += "\n";
      break;
    case 't':
      found += "\t";
      break;
    case 'u':
      code = hexadecimal(source[at + 1..at + 4]);
      at += 4;
      if (code >= 0xd800 && code < 0xdc00) {   /* the first half of a pair */
        code = 0x10000 + (code - 0xd800) * 0x400 + hexadecimal(source[at + 3..at + 6]) - 0xdc00;
        at += 6;
      }
      found += sprintf("%c", code);
      break;
    default:
      found += source[at..at];
    }
    start = ++at;
  }
  found += source[start..at - 1];
  at++;
  return found;
}

private mapping object_value() {
  mapping found;
  string word;

  found = ([ ]);
  at++;
  while (source[at] != '}') {
    word = text_value();
    at++;                          /* the colon */
    found[word] = value();
    if (source[at] == ',') {
      at++;
    }
  }
  at++;
  return found;
}

private mixed *array_value() {
  mixed *found;

  found = ({ });
  at++;
  while (source[at] != ']') {
    found += ({ value() });
    if (source[at] == ',') {
      at++;
    }
  }
  at++;
  return found;
}

private mixed value() {
  int start;
  string word;

  switch (source[at]) {
  case '"':
    return text_value();
  case '{':
    return object_value();
  case '[':
    return array_value();
  }
  start = at;
  while (at < strlen(source) && strsrch(",]}", source[at..at]) == -1) {
    at++;
  }
  word = source[start..at - 1];
  switch (word) {
  case "true":
    return 1;
  case "false":
  case "null":
    return 0;
  }
  return to_int(word);
}

mixed from_json(string text) {
  source = text;
  at = 0;
  return value();
}
