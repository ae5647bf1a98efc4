// A client of the gateway, see docs/gateway.md: requests, events, and going on after a dropped link,
// or a gateway that was killed: boards are opened and players brought back in, and no line that
// anybody has typed is lost or done twice.
//
// It needs nothing but Node (18 or newer). To have boards in a MUD written in JavaScript, take this
// file as it is, and do with the events what `play.mjs` does with them.

import { randomUUID } from "node:crypto";
import { connect } from "node:net";

const VERSION = 1;
const ACKNOWLEDGE_EVERY = 20; // events
const PAUSE = 500; // milliseconds before a link that cannot be had is tried again; twice as many
const LONGEST_PAUSE = 30_000; // each time, up to so many

/**
 * An answer with "ok" false: `code` says what was wrong, `message` what would have been right. Or a
 * line that was not done: then there are `squares`, too, and the player has been told why.
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
  #socket = null;
  #session = null;
  #seen = 0; // up to this number all events and answers have come
  #acknowledged = 0;
  #last = 0; // the number of the last request
  #pending = new Map(); // by number: what was asked, and who waits for the answer
  #boards = new Map(); // by board: what opened it
  #players = new Map(); // by board and player: what let them in
  #run = randomUUID(); // with a number, the key of each line
  #lines = 0;
  #pause = PAUSE;
  #welcomed = false;
  #over = null; // why there is no going on
  #ready;
  #begin;
  #fail;

  /**
   * @param {object} options `path` of a unix socket, or `host` and `port`; `client` and `secret`
   * @param {(event: object) => void} tell takes each event: "tell" and "data"
   */
  constructor({ path, host, port, client, secret }, tell) {
    this.#where = path ? { path } : { host, port };
    this.#greeting = { type: "hello", version: VERSION, client, secret };
    this.#tell = tell;
    this.#ready = new Promise((begin, fail) => ([this.#begin, this.#fail] = [begin, fail]));
    this.#connect();
  }

  /** Wait for the first welcome. */
  ready() {
    return this.#ready;
  }

  /** Whether there is a link just now; what is asked while there is none is done once there is. */
  get isUp() {
    return this.#welcomed;
  }

  /** Pass on a line that has to be done, as those of a program that plays: if it is not, raise Refused. */
  async play(fields) {
    const answer = await this.ask("line", fields);
    if (!answer.done) throw new Refused(answer.refused);
    return answer;
  }

  /**
   * Ask for something; the events that it brings about come before the answer does. That of a line
   * says in `done` whether it was done: `ok` only says that it was passed on.
   */
  ask(type, fields) {
    if (this.#over) return Promise.reject(this.#over);
    const key = type === "line" ? { key: `${this.#run}-${++this.#lines}` } : {};
    return new Promise((resolve, reject) =>
      this.#send({ asked: { type, ...key, ...fields }, resolve, reject }),
    );
  }

  #send(request) {
    const id = ++this.#last;
    this.#pending.set(id, request);
    if (this.#welcomed) this.#say({ ...request.asked, id });
  }

  /** Cut the link, as a bad network does. It is made again, and nothing is lost. */
  drop() {
    this.#socket.destroy();
  }

  /** End the session: nothing is kept for it. */
  bye() {
    if (!this.#over) this.#say({ type: "bye" });
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
    socket.on("error", (error) => {
      if (!this.#session) this.#end(error); // there has never been anybody there
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
    else if (heard.seq > this.#seen) this.#take(heard); // what has come before is passed over
  }

  #welcome(welcome) {
    const isNew = this.#session && !welcome.resumed;
    this.#session = welcome.session;
    this.#welcomed = true;
    this.#pause = 0; // if this link drops, the next is tried at once
    if (isNew) this.#beginAnew();
    else {
      // What has come is not asked again; it is, or will be, answered.
      for (const [id, { asked }] of this.#pending)
        if (id > welcome.received) this.#say({ ...asked, id });
    }
    this.#begin();
  }

  /** The gateway knows nothing of us any more, but for the boards as they were, with nobody there. */
  #beginAnew() {
    const unanswered = [...this.#pending.values()].filter((each) => !each.isAgain);
    this.#pending.clear();
    this.#seen = this.#acknowledged = this.#last = 0;
    const again = [...this.#boards.values(), ...this.#players.values()];
    const ignored = () => {}; // whatever comes of it, the players' own lines tell
    for (const asked of again)
      this.#send({ asked, resolve: ignored, reject: ignored, isAgain: true });
    // Lines have their keys: those that were done are not done again.
    for (const request of unanswered) this.#send(request);
  }

  /** Take note of who is where, for when the gateway begins anew. */
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
    // These pass; all others mean that something is wrong with this program, or its configuration.
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
