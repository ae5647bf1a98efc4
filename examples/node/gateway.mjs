// A gateway client, see docs/gateway.md: requests, events, and recovery from dropped connections and
// gateway restarts. Recovery reopens boards and brings players back in. No line that a player has
// typed is lost or repeated. The gateway may start later than the MUD, or be away for a while: the
// client tries again, ever less often.
//
// Requires only Node (18 or newer). To have boards in a MUD written in JavaScript, use this file
// unchanged, and handle events as `play.mjs` does.

import { randomUUID } from "node:crypto";
import { connect } from "node:net";

const VERSION = 1;
const ACKNOWLEDGE_EVERY = 20; // events
const PAUSE = 500; // milliseconds before reconnecting, doubled after each failure
const LONGEST_PAUSE = 30_000; // upper limit of the pause

/**
 * A refused request, or a line that was not carried out. `code` is the reason, and `message`
 * explains it. Refused lines also have `squares`, and the player has already seen the explanation.
 */
export class Refused extends Error {
  constructor({ code, text = code, squares = [] }) {
    super(text);
    this.code = code;
    this.squares = squares;
  }
}

export class Gateway {
  #where;
  #greeting;
  #tell;
  #warn;
  #socket = null;
  #session = null;
  #seen = 0; // the number of the last event or answer received
  #acknowledged = 0;
  #last = 0; // id of the last request
  #pending = new Map(); // by id: requests without an answer, and their promises
  #boards = new Map(); // by board: the request that opened it
  #players = new Map(); // by board and player: the request that let them in
  #run = randomUUID(); // followed by a number, the idempotency key of each line
  #lines = 0;
  #pause = PAUSE;
  #welcomed = false;
  #over = null; // the error that ended the session for good
  #ready;
  #begin;
  #fail;

  /**
   * @param {object} options `path` of a Unix socket, or `host` and `port`; `client` and `secret`;
   *     `warn`, which is called with a sentence when the gateway can't be reached
   * @param {(event: object) => void} tell handles each event, of type "tell" or "data"
   */
  constructor({ path, host, port, client, secret, warn = console.warn }, tell) {
    this.#where = path ? { path } : { host, port };
    this.#greeting = { type: "hello", version: VERSION, client, secret };
    this.#tell = tell;
    this.#warn = warn;
    this.#ready = handled(
      new Promise((begin, fail) => ([this.#begin, this.#fail] = [begin, fail])),
    );
    this.#connect();
  }

  /**
   * Wait for the first welcome, however long it takes. Rejected only if the gateway refuses this
   * client for good, such as for a wrong secret.
   */
  ready() {
    return this.#ready;
  }

  /** Whether the gateway is connected. Requests made while it isn't are sent once it is. */
  get isUp() {
    return this.#welcomed;
  }

  /** Send a line that has to succeed, such as a program's move; throw Refused if it doesn't. */
  async play(fields) {
    const answer = await this.ask("line", fields);
    if (!answer.done) throw new Refused(answer.refused);
    return answer;
  }

  /**
   * Send a request. Its events arrive before its answer. For a line, `done` in the answer says
   * whether it was carried out; `ok` only says that it reached the board. A rejected promise that
   * nobody waits for does no harm.
   */
  ask(type, fields) {
    if (this.#over) return handled(Promise.reject(this.#over));
    const key = type === "line" ? { key: `${this.#run}-${++this.#lines}` } : {};
    return handled(
      new Promise((resolve, reject) =>
        this.#send({ asked: { type, ...key, ...fields }, resolve, reject }),
      ),
    );
  }

  #send(request) {
    const id = ++this.#last;
    this.#pending.set(id, request);
    if (this.#welcomed) this.#say({ ...request.asked, id });
  }

  /** Cut the connection, as a bad network does; it is restored without loss. */
  drop() {
    this.#socket.destroy();
  }

  /** End the session; the gateway forgets it. */
  bye() {
    if (!this.#over && this.#welcomed) this.#say({ type: "bye" });
    this.#end(new Error("the session has ended"));
  }

  #connect() {
    let begun = "";
    this.#welcomed = false;
    const socket = (this.#socket = connect(this.#where));
    socket.setEncoding("utf8");
    socket.on("connect", () => this.#say({ ...this.#greeting, ...this.#resumption() }));
    socket.on("data", (piece) => {
      const lines = (begun + piece).split("\n");
      begun = lines.pop();
      for (const line of lines) if (socket === this.#socket) this.#hear(JSON.parse(line));
    });
    socket.on("error", ({ message }) => {
      if (this.#pause === PAUSE) this.#warn(`The gateway can't be reached: ${message}. Trying again.`);
    });
    socket.on("close", () => {
      this.#welcomed = false;
      if (this.#over) return;
      setTimeout(() => this.#connect(), this.#pause * (0.75 + Math.random() / 2));
      this.#pause = Math.min(2 * this.#pause || PAUSE, LONGEST_PAUSE);
    });
  }

  #resumption() {
    return this.#session ? { session: this.#session, seen: this.#seen } : {};
  }

  #hear(heard) {
    if (heard.type === "welcome") this.#welcome(heard);
    else if (heard.type === "ping") this.#say({ type: "pong" });
    else if (heard.type === "error" && heard.fatal) this.#hearEnd(heard);
    else if (heard.seq > this.#seen) this.#take(heard); // skip duplicates
  }

  #welcome(welcome) {
    const isNew = this.#session && !welcome.resumed;
    this.#session = welcome.session;
    this.#welcomed = true;
    this.#pause = 0; // reconnect at once if this connection drops
    if (isNew) this.#beginAnew();
    else {
      // Requests that the gateway has received are not sent again: their answers will come.
      for (const [id, { asked }] of this.#pending)
        if (id > welcome.received) this.#say({ ...asked, id });
    }
    this.#begin();
  }

  /** Recover from a new session: the gateway has kept the boards, but with nobody at them. */
  #beginAnew() {
    const unanswered = [...this.#pending.values()].filter((each) => !each.isAgain);
    this.#pending.clear();
    this.#seen = this.#acknowledged = this.#last = 0;
    const again = [...this.#boards.values(), ...this.#players.values()];
    const ignored = () => {}; // players' own lines will show any failure
    for (const asked of again)
      this.#send({ asked, resolve: ignored, reject: ignored, isAgain: true });
    // Their keys keep lines from being carried out twice.
    for (const request of unanswered) this.#send(request);
  }

  /** Record open boards and present players, for recovery. */
  #note(asked, answer) {
    const { type, board, player } = asked;
    const place = `${board} ${player}`;
    if (type === "open") this.#boards.set(board, asked);
    if (type === "enter") this.#players.set(place, asked);
    if (type === "leave" || answer.here === false) this.#players.delete(place);
    if (type === "close") {
      this.#boards.delete(board);
      for (const [each, { board: at }] of this.#players)
        if (at === board) this.#players.delete(each);
    }
  }

  #take(heard) {
    this.#seen = heard.seq;
    if (heard.type === "answer") {
      const { asked, resolve, reject } = this.#pending.get(heard.id);
      this.#pending.delete(heard.id);
      if (heard.ok) {
        this.#note(asked, heard);
        resolve(heard);
      } else reject(new Refused(heard));
    } else {
      this.#tell(heard);
    }
    if (this.#seen >= this.#acknowledged + ACKNOWLEDGE_EVERY) {
      this.#acknowledged = this.#seen;
      this.#say({ type: "ack", seen: this.#seen });
    }
  }

  #hearEnd(heard) {
    // These are temporary; all others are errors in this program or its configuration.
    if (!["too_slow", "silent", "client_taken", "closing"].includes(heard.code))
      this.#end(new Refused(heard));
  }

  #say(data) {
    this.#socket.write(JSON.stringify(data) + "\n");
  }

  #end(error) {
    this.#over ??= error;
    this.#fail(error);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#socket.end();
  }
}

/** Return a promise whose rejection, if nobody waits for it, doesn't end the process. */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}
