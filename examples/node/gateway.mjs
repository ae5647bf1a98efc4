// A client of the gateway, see docs/gateway.md: requests, events, and going on after a dropped link.
//
// It needs nothing but Node (18 or newer). To have boards in a MUD written in JavaScript, take this
// file as it is, and do with the events what `play.mjs` does with them.

import { connect } from "node:net";

const VERSION = 1;
const ACKNOWLEDGE_EVERY = 20; // events
const PAUSE = 500; // milliseconds before a link that cannot be had is tried again

/** An answer with "ok" false: `code` says what was wrong, `message` what would have been right. */
export class Refused extends Error {
  constructor({ code, text }) {
    super(text);
    this.code = code;
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

  /** Ask for something; the events that it brings about come before the answer does. */
  ask(type, fields) {
    if (this.#over) return Promise.reject(this.#over);
    const id = ++this.#last;
    const line = JSON.stringify({ type, id, ...fields }) + "\n";
    const answer = new Promise((resolve, reject) =>
      this.#pending.set(id, { line, resolve, reject }),
    );
    if (this.#welcomed) this.#socket.write(line);
    return answer;
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
      if (!this.#over) setTimeout(() => this.#connect(), this.#welcomed ? 0 : PAUSE);
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
    if (this.#session && !welcome.resumed) {
      // The boards are as they were, but have to be opened, and the players brought in, anew: a MUD
      // does here what it does when it starts.
      this.#end(new Error("the gateway has begun anew"));
      return;
    }
    this.#session = welcome.session;
    this.#welcomed = true;
    // What has come is not asked again; it is, or will be, answered.
    for (const [id, { line }] of this.#pending) if (id > welcome.received) this.#socket.write(line);
    this.#begin();
  }

  #take(heard) {
    this.#seen = heard.seq;
    if (heard.type === "answer") {
      const { resolve, reject } = this.#pending.get(heard.id);
      this.#pending.delete(heard.id);
      if (heard.ok) resolve(heard);
      else reject(new Refused(heard));
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
