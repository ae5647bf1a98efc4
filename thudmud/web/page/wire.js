/**
 * The connection: lines and packages to the server, texts and facts from it.
 *
 * A binary frame is text, a text frame a package of GMCP: its name, a blank, and JSON. A link that is
 * lost is made again, after a wait that grows; a link that only seems to be there is found out by a
 * ping that is not answered.
 */

const SUBPROTOCOL = "gmcp.mudstandards.org";
const SUPPORTS = ["Thud 1", "Char.Login 1"];
const WAITS = [300, 1000, 2000, 5000, 10000]; // milliseconds until the next attempt
const PING_EVERY = 25000;
const PING_AFTER_LINE = 2000; // if nothing has come since
const PONG_WITHIN = 6000;
const QUIET = 5000; // milliseconds after which a player with a clock asks whether the server is there
const MISSED = 2000; // milliseconds without an answer after which clocks are stopped
const STEADY = 3000; // milliseconds after which a connection that is lost is no failed attempt

/** What the server closes with if nobody is to be brought back: docs/web.md tells of it. */
const GOODBYES = /** @type {Record<number, Link>} */ ({
  4000: "quit",
  4001: "elsewhere",
  4002: "idle",
  4003: "banned",
  4004: "kicked",
  4005: "logged_out",
  4006: "rejected",
});

/** @typedef {"connecting" | "open" | "lost" | "quit" | "elsewhere" | "idle" | "banned" | "kicked" | "logged_out" | "rejected"} Link */

/**
 * Return a new connection: the first time, the one that `early.js` has made, and what has happened
 * on it.
 *
 * @returns {{socket: WebSocket, events: Event[]}}
 */
function connected() {
  const early = /** @type {any} */ (window).takeEarlySocket?.();
  if (early) return early;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws`, [SUBPROTOCOL]);
  socket.binaryType = "arraybuffer";
  return { socket, events: [] };
}

export class Wire {
  /**
   * @param {object} listener
   * @param {(text: string) => void} listener.text takes what the server says
   * @param {(name: string, data: any) => void} listener.fact takes a package
   * @param {(link: Link) => void} listener.link is told how the connection is
   */
  constructor(listener) {
    this.listener = listener;
    /** @type {Link} */
    this.link = "connecting";
    /** @type {WebSocket | null} */
    this.socket = null;
    this.attempt = 0;
    /** When it was made. */
    this.since = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** Whether an answer is awaited, to a line or to a ping. */
    this.isAwaiting = false;
    /** When the server was heard last. */
    this.heardAt = 0;
    /** When the ping was sent that it hasn't answered yet; 0 if it has. */
    this.pingedAt = 0;
    addEventListener("online", () => this.hurry());
    addEventListener("offline", () => this.drop());
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
  }

  /** Connect. */
  open() {
    clearTimeout(this.timer);
    const { socket, events } = connected();
    const decoder = new TextDecoder();
    this.socket = socket;
    this.become("connecting");
    /** @type {Record<string, (event: any) => void>} */
    const handlers = {
      open: () => {
        this.since = Date.now();
        this.ask("Core.Supports.Set", SUPPORTS);
        this.become("open");
        this.pingLater();
      },
      message: ({ data }) => {
        if (socket !== this.socket) return;
        this.heardAt = Date.now();
        this.pingLater();
        if (typeof data === "string") this.take(data);
        else this.listener.text(decoder.decode(data));
      },
      close: ({ code }) => {
        if (socket === this.socket) this.closed(GOODBYES[code] ?? "lost");
      },
    };
    for (const [kind, handle] of Object.entries(handlers)) socket.addEventListener(kind, handle);
    for (const event of events) handlers[event.type](event);
  }

  /**
   * Send a line, as if it was typed.
   *
   * @param {string} line
   */
  send(line) {
    const one = line.replace(/[\r\n\0]+/g, " "); // else it would be several commands
    if (this.link !== "open") return;
    this.socket?.send(new TextEncoder().encode(one));
    if (this.isAwaiting) return; // more lines don't put the ping off
    this.pingLater(PING_AFTER_LINE);
    this.isAwaiting = true;
  }

  /**
   * Send a package.
   *
   * @param {string} name
   * @param {unknown} [data]
   */
  ask(name, data) {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(data === undefined ? name : `${name} ${JSON.stringify(data)}`);
    }
  }

  /** Try to connect now, if the connection is lost. */
  hurry() {
    if (this.link === "lost") this.open();
  }

  /**
   * See whether the connection is still there, as after a night with the lid closed. A tab that was
   * superseded takes over again.
   */
  look() {
    if (["lost", "elsewhere"].includes(this.link)) this.open();
    if (this.link === "open") this.ping();
  }

  /** @param {string} frame */
  take(frame) {
    const [name] = frame.split(" ", 1);
    const json = frame.slice(name.length + 1);
    if (name !== "Core.Ping") this.listener.fact(name, json ? JSON.parse(json) : null);
  }

  /** @param {number} [after] milliseconds */
  pingLater(after = PING_EVERY) {
    clearTimeout(this.timer);
    this.isAwaiting = false;
    this.pingedAt = 0;
    this.timer = setTimeout(() => this.ping(), after);
  }

  ping() {
    clearTimeout(this.timer);
    this.isAwaiting = true;
    this.pingedAt ||= Date.now();
    this.ask("Core.Ping");
    this.timer = setTimeout(() => this.drop(), PONG_WITHIN);
  }

  /** Whether the server answers; it is asked if it has been quiet. */
  isHeard() {
    const now = Date.now();
    if (this.link === "open" && !this.pingedAt && now - this.heardAt > QUIET) this.ping();
    return !this.pingedAt || now - this.pingedAt < MISSED;
  }

  /** The connection is of no use any more. */
  drop() {
    if (this.link !== "open") return;
    this.socket?.close(); // the event may take minutes to come
    this.closed("lost");
  }

  /** @param {Link} link what it means */
  closed(link) {
    clearTimeout(this.timer);
    this.socket = null;
    if (link === "lost") {
      if (this.since && Date.now() - this.since > STEADY) this.attempt = 0;
      this.since = 0;
      const wait = WAITS[Math.min(this.attempt++, WAITS.length - 1)];
      this.timer = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
    }
    this.become(link);
  }

  /** @param {Link} link */
  become(link) {
    this.link = link;
    this.listener.link(link);
  }
}
