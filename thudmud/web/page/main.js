/**
 * The page: it takes what the connection brings, and shows what is to be seen of it.
 *
 * Whatever is done here by clicking types a command, so everything can be typed as well.
 */

import { isOfAnalysis } from "./analysis.js";
import { keepToast, placeToast, say, toast, unsay, untoast, warn } from "./announce.js";
import { challengeSent, declinedTo, settledChallenge } from "./answers.js";
import { Beginnings } from "./beginnings.js";
import { Challenges } from "./challenges.js";
import { Chat } from "./chat.js";
import { confirmed, openSettings } from "./dialogs.js";
import { HAS_KEYS, byId, clockText, fill, h, hasFeature } from "./dom.js";
import { EXPLORER, isOfExplorer } from "./explorer.js";
import { Focus, isFocusLost } from "./focus.js";
import { GameView, ending } from "./game.js";
import { exerciseTitle } from "./lesson.js";
import { LessonList } from "./lessons.js";
import { openKeys } from "./keys.js";
import { LobbyView } from "./lobby.js";
import { LoginForm, NOTE } from "./login.js";
import { Log, endsInPrompt, plain } from "./log.js";
import { showNotify } from "./notify.js";
import { keepStartPage } from "./offline.js";
import { Registration } from "./register.js";
import { showRules } from "./rules.js";
import { ReplayView } from "./replay.js";
import { Places } from "./places.js";
import { shortPly } from "./position.js";
import { isNamed, namePlace, needsName, placeNamed } from "./router.js";
import { change, keepWord, keptWord, settings, wear, wearChosen } from "./settings.js";
import { showcase } from "./showcase.js";
import { PlayerView } from "./player.js";
import { play } from "./sound.js";
import { State, titleOf } from "./state.js";
import { TournamentView } from "./tournament.js";
import { Wire } from "./wire.js";

const state = new State();
const wire = new Wire({ text: hear, fact: take, link: linked });
const log = new Log(byId("log"), byId("command"), byId("line"), typed);
const outside = {
  send,
  ask,
  askRecord,
  explore,
  isConnected,
  isHeard: () => wire.isHeard(),
  question,
  note: (/** @type {string} */ sentence) => log.say(sentence),
};
const game = new GameView(state, outside);
const lobby = new LobbyView(state, outside);
/** @type {(why: string, then: () => void) => void} */
const register = (why, then) => registration.open(why, then);
const tournament = new TournamentView(state, { ...outside, register, show: (number) => openPage({ tournament: number }) });
const player = new PlayerView(state, { ask, challenge: (name) => lobby.form.challenge(name) });
const lessons = new LessonList(state, outside);
const replay = new ReplayView(state, {
  ...outside,
  comeIn: comeInAsGuest,
  question: (line, id) => wire.ask("Thud.Ask", { line, id }),
  at: (battle, ply, explores) => namePlace({ battle, ply, explores }),
});
const chat = new Chat(state, log);
const challenges = new Challenges(state, outside);
const places = new Places(state, {
  visit,
  inView: boardInView,
  lookedAt: () => look,
  page: pageName,
});
const focus = new Focus(state, { inView: boardInView, focusBoard: () => game.focus() });
const beginnings = new Beginnings(state, {
  challenges,
  isAsked: () => /^(accept|yes|start)\b/.test(sent),
  rest: () => game.rest(),
  keepFocus: () => isFocusLost() && focus.settle(),
});
const login = new LoginForm({
  send: (line) => wire.send(line),
  connect,
  chosen: () => (wantsIn = true), // rather than watch tv
  comeIn,
});
const registration = new Registration(state, { send: (line) => wire.send(line) });

/** What is said of a connection, and of why it has ended; the server may have said more. */
const LINKS = {
  connecting: "Connecting …",
  open: "",
  lost: "Connection lost. Reconnecting …",
  quit: "You are logged out.",
  elsewhere: "You are playing in another window.",
  idle: "You were idle for too long and have been disconnected.",
  banned: "The operator of this server has banned you.",
  kicked: "The operator of this server has ended your visit.",
  logged_out: "You have been logged out everywhere. Please log in again with your password.",
  rejected: "This page sent too much at once and has been disconnected.",
};
/** Connections that have ended, and whose words are shown where one logs in anew. */
const OUT = ["quit", "banned", "logged_out"];
/** Connections that have ended, while the page goes on showing what was last known. */
const SUSPENDED = ["elsewhere", "idle", "kicked", "rejected"];
const OFFLINE = "No connection: nothing was sent. Try again in a moment.";
const ENDED = 8000; // milliseconds for which visitors see on tv how a battle has ended
const RETURNED = 500; // milliseconds within which the server has told all that is known already
/** What whoever made the link offers, which the server says in the head of the page. */
const OFFERED = document.querySelector("meta[property='og:description']")?.getAttribute("content");

/**
 * Whether visitors see what an address names: of what needs a name, they can watch tv.
 *
 * @param {import("./router.js").Place} place
 */
function canWatch(place) {
  return place !== null && (!needsName(place) || "tv" in place);
}

/**
 * Whether an address makes a guest of a visitor at once: a challenge is not accepted unasked.
 *
 * @param {import("./router.js").Place} place
 * @returns {place is import("./router.js").Inside}
 */
function makesGuest(place) {
  return needsName(place) && !("tv" in place || "challenge" in place);
}

/** What the server said last. */
let heard = "";
/** What an operator said who ended the visit. */
let endedBy = "";
/** That the server is about to stop, if it is. */
let stopping = "";
/** Where the address leads, until we are there. */
let wanted = placeNamed();
/** Whether a challenge is being accepted by its link, and its board hasn't come yet. */
let isAccepting = false;
/** Whether the address is that of the hall, until we are back there. */
let isHallWanted = wanted === null;
/** Where to go once all that is known has been told: to tv, a lesson or a puzzle. @type {import("./router.js").Inside | null} */
let insideWanted = null;
/** Whether we are on the way to where the address leads, and have not been told of it yet. */
let isFollowing = false;
/** The board to which the address leads, until we are there. @type {string | null} */
let going = null;
/** Where the player was when the connection was lost. @type {string | null | undefined} */
let roomBefore;
/** Where the player was last. @type {string | null | undefined} */
let lastRoom;
/** Which of the boards that the player observes is shown, not where they are. @type {string | null} */
let look = null;
/** What they observed last. @type {string[]} */
let observed = [];
/** What their tv was on last, and whether its next board is to be seen. */
let [tv, isTvSeen] = [state.tv, false];
/** Whether there is a connection again, and no command has been asked for on it yet. */
let isBack = false;
/** Whether a battle that was played is shown, not where the player is. */
let isReplay = false;
/** Whether we come back by ourselves, and have not been told yet who we are. */
let isComingBack = keptWord() !== null;
/** Whether somebody without a name would rather have one than watch. */
let wantsIn = !canWatch(wanted) && !makesGuest(wanted);

/** What was sent last. */
let sent = "";
/** Whether the connection is back, and the server has not told yet what the player knows. */
let isReturning = false;
/** Whether that was lost while the page was open. */
let isAgain = false;

/** The commands that the server has not answered yet. @type {string[]} */
let unanswered = [];
/** Whether the connection was lost, and the player is not back yet. */
let isLost = false;

/**
 * Send a command; refuse it while there is no connection.
 *
 * @param {string} line
 * @returns {boolean} whether it was sent
 */
function send(line) {
  if (!isConnected()) {
    warn(OFFLINE);
    return false;
  }
  isFollowing = false;
  sent = line;
  unanswered.push(line);
  wire.send(line);
  return true;
}

const ANSWERS = 10000; // milliseconds in which the server surely waits for an answer
const KEY = "key"; // marks the questions that keys stand for

/**
 * Ask a question that a key stands for: its answer is shown, and read out from the log.
 *
 * @param {string} line
 */
function question(line) {
  if (isConnected()) wire.ask("Thud.Ask", { line, id: KEY, words: true });
  else warn(OFFLINE);
}

state.on("Thud.Answer", ({ text }) => {
  log.say(text);
  if (!log.isSeen()) toast(oneLine(text));
});

/** Whether the server takes commands: not before a known player is back. */
function isConnected() {
  return wire.link === "open" && !(state.isStale && keptWord());
}

/**
 * Ask what a command tells, as a fact alone.
 *
 * @param {string} line
 */
function ask(line) {
  if (state.me.player) wire.ask("Thud.Ask", line);
  else wire.ask("Thud.Watch", { ask: line });
}

/** @param {number} battle */
function askRecord(battle) {
  if (state.me.player) ask(`record ${battle}`);
  else wire.ask("Thud.Watch", { battle });
}

/** @param {import("./explorer.js").Where} where */
function explore({ board, battle, ply }) {
  const position = battle === null ? `on ${board}` : `${battle}${ply ? ` ${ply}` : ""}`;
  if (state.me.player) wire.ask("Thud.Ask", { line: `explore ${position}`, id: EXPLORER });
  else if (battle !== null) wire.ask("Thud.Watch", { battle, explore: ply });
}

/** Whether a password is about to be asked for, so that nothing that is typed is said to others. */
let isPasswordNext = false;

/** @param {string} line what was typed */
function typed(line) {
  const [verb] = line.trim().toLowerCase().split(/\s+/, 1);
  const isCommand = state.prompt.asks === "command" && !isPasswordNext;
  if (isCommand && chat.isOpen && !line.trim()) return false;
  if (isCommand && ["register", "password"].includes(verb)) return typedAboutPassword(line, verb);
  if (isCommand && !chat.isOpen && line) chat.want("log"); // it stays open for who types
  const told = isCommand && chat.isOpen ? chat.command(line) : line; // which may open the log
  return isCommand && chat.isOpen ? send(told) : sendTyped(told);
}

/**
 * Send a line, and show it in the log.
 *
 * @param {string} line
 */
function sendTyped(line) {
  const isSent = send(line);
  if (isSent) log.echo(line);
  return isSent;
}

byId("skip").addEventListener("click", () => chat.want("log"));
// On a phone, people talk below what is seen: over it, while they do.
byId("to-chat").addEventListener("click", () => {
  chat.choose("chat");
  byId("talk").classList.add("sheet");
  untoast(""); // of what is read now
  scrollTo(0, 0); // the board is whole above it
  byId("line").focus({ preventScroll: true });
});
byId("close-talk").addEventListener("click", goToBoard);

/**
 * @param {string} line
 * @param {string} verb
 */
function typedAboutPassword(line, verb) {
  const { member } = state.me;
  if (verb === "register" && !member) {
    registration.open();
    return true;
  }
  if (!sendTyped(line)) return false;
  isPasswordNext = member && verb === "password";
  if (isPasswordNext) log.hide(true);
  return true;
}

/** Whether the server knows what this client shows: the greeting comes before, for those who type. */
let isFit = false;

/** @param {string} text what the server says */
function hear(text) {
  unanswered = [];
  const words = plain(text);
  // What is said again to who comes back isn't read out, nor all that is said of another battle on tv.
  const isRead = !(isComingBack || isReturning || words.startsWith("Your tv shows "));
  if (isFit && !registration.isAsked(words)) log.say(text, isRead);
  heard = words || heard;
  if (/^\w+ has ended your connection\b/.test(words)) endedBy = words;
  if (!state.me.player) login.hear(text, words, log.isHidden);
  registration.hear(text);
  game.lesson.hear(words.replace(/(^|\n)> ?$/, ""), endsInPrompt(text));
  if (isPasswordNext && endsInPrompt(text)) {
    isPasswordNext = false; // it is not asked for
    log.hide(state.prompt.hidden);
  }
}

state.on("Thud.Came", ({ room, player }) => {
  const isSeen = room === null && document.body.dataset.view === "lobby";
  if (isSeen && player !== state.me.player) log.say(`${player} comes in.`);
});

/** @param {string} words */
function oneLine(words) {
  return words.replaceAll("\n", " ");
}

/** What the button does that says yes to a question, by the code of the question. */
const SURE = /** @type {Record<string, string>} */ ({
  sure_resigns: "Resign",
  sure_restarts: "Start over",
  sure_leaves: "Leave",
});

// What was said of a board doesn't hold any more.
for (const later of ["Thud.Move", "Thud.Table"])
  state.on(later, ({ board }) => {
    if (board === boardInView()) unsay();
  });

/**
 * @param {string} name
 * @param {any} data
 */
function take(name, data) {
  unanswered = [];
  if (name === "Char.Login.Default") arrive();
  else if (name === "Char.Login.Result") loggedIn(data);
  else state.take(name, data);
}

// The challenge is not accepted at once, if at all.
state.on("Thud.Refused", () => (isAccepting = false));
state.on("Thud.Seek", ({ player }) => player === state.me.player && (isAccepting = false));

// On a phone the log may be below what is seen.
state.on("Thud.Refused", (refused) => {
  if (isFollowing && state.me.player) {
    isFollowing = false;
    nameView(); // we stay where we are
  }
  if (isOfExplorer(refused) || isOfAnalysis(refused)) return;
  if (SURE[refused.code] || isOfAddress(refused)) return;
  if (refused.id === KEY) log.say(refused.text);
  if (!log.isSeen() && refused.text) toast(refused.text);
});

state.on("Thud.Hint", (hint) => {
  const reply = hint.reply ? ` The likely reply: ${shortPly(hint.reply)}.` : "";
  if (log.isSeen()) return;
  toast(`Try ${shortPly(hint)}: ${hint.because}.${reply}`);
  keepToast(); // as long as its arrows
});

state.on("Thud.Hinted", ({ board, player, to }) => {
  if (to !== state.me.player) return;
  const words = `${player} asked for a hint.`;
  chat.note(words, board);
  toast(words);
});

/**
 * Whether a refusal means that the address leads nowhere.
 *
 * @param {any} refused
 */
function isOfAddress({ code, details }) {
  return (
    (code === "no_board_here" && details.words === going) ||
    (code === "no_such_battle" && isReplay && replay.isMissing) ||
    (code === "no_such_tournament" && tournament.isMissing)
  );
}

state.on("Thud.Refused", ({ code, details }) => {
  if (code !== "no_board_here" || details.words !== going) return;
  toast(`There is no board “${going}”. It may have been closed.`);
  going = null;
  isFollowing = false;
  nameView();
  if (state.me.player) return;
  wanted = null;
  wantsIn = true;
  wire.ask("Thud.Watch", { board: null });
  show();
});

/**
 * Show what another player answers in the chat, and for a while unless the log is seen, which says it.
 *
 * @param {string} sentence
 * @param {string} [board] where it was asked
 */
function answeredMe(sentence, board) {
  if (!sentence) return;
  chat.note(sentence, board);
  if (!log.isSeen()) toast(sentence);
}

state.on("Thud.Settled", (settled) => answeredMe(settledChallenge(settled, state.me.player)));
state.on("Thud.Declined", (declined) => answeredMe(declinedTo(declined, state.me.player), declined.board));
state.on("Thud.Seek", (seek) => {
  if (seek.player !== state.me.player || !seek.to || !/^(re)?match\b/.test(sent)) return;
  sent = "";
  if (!state.isBot(seek.to)) toast(challengeSent(seek));
});

state.on("Thud.Analysis", ({ done }) => done === null && say("Analysis cancelled."));

/** A question that was answered when the server may have given up waiting, and when that was. */
let late = { code: "", at: -Infinity };

// What the server asks before it does something.
state.on("Thud.Refused", async ({ code, text }) => {
  const label = SURE[code];
  if (!label) return;
  const line = sent;
  const since = performance.now();
  if (code === late.code && since - late.at < ANSWERS) {
    late.code = "";
    send("yes");
    return;
  }
  const isSure = await confirmed(text, label);
  const at = performance.now();
  if (isSure && at - since > ANSWERS) {
    late = { code, at };
    send(line);
  } else send(isSure ? "yes" : "no");
});

// What is for everybody, wherever on the page they look.
state.on("Thud.Broadcast", ({ player, text }) => toast(`${player}: ${text}`));
state.on("Thud.Shutdown", ({ seconds, why }) => {
  const because = why ? `, because ${why.replace(/[. ]+$/, "")}` : "";
  if (seconds === null) {
    stopping = "";
    toast("Shutdown cancelled.");
  } else {
    const time = new Date(Date.now() + seconds * 1000);
    const at = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    stopping = `The server stops ${seconds ? `at ${at}` : "now"}${because}.`;
    const when = seconds ? `in ${clockText(seconds)}` : "now";
    toast(`The server stops ${when}${because}. Seats and matches are kept.`);
  }
  showStopping();
});

/** Show at the top that the server is about to stop, or nothing: the connection is there. */
function showStopping() {
  untoast("No connection");
  const host = byId("link");
  isLost = false;
  host.classList.remove("banner");
  fill(host, stopping && h("span.stopping", {}, stopping));
}

// Coming in, and coming back.

/** Come in by the name that was given or the word that is kept; else watch what the address names. */
function arrive() {
  fit();
  isFit = true;
  const kept = keptWord();
  if (login.enterGiven()) return;
  if (kept) comeBack(kept);
  else if (makesGuest(wanted) && !wantsIn) comeInAsGuest(wanted);
  else watch();
}

/** @param {{player: string, word: string}} kept */
function comeBack({ player, word }) {
  wire.ask("Char.Login.Credentials", { account: player, password: word });
}

/** Return whether lines can be sent; if not, connect, unless that is under way. */
function connect() {
  if (wire.link !== "open" && wire.link !== "connecting") wire.open();
  return wire.link === "open";
}

function watch() {
  if (!openPlace(wanted)) watchBoard(wanted && "board" in wanted ? wanted.board : null);
}

/**
 * Watch without a name.
 *
 * @param {string | null} board null for the hall
 */
function watchBoard(board) {
  going = board;
  onShow = null;
  for (const each of state.boards.keys()) if (each !== board) state.boards.delete(each);
  wire.ask("Thud.Watch", { board });
}

/**
 * Go where the address leads.
 *
 * @param {string | null} board null for the hall
 */
function goTo(board) {
  going = board;
  wire.send(`go to ${board ?? "hall"}`); // nobody has typed it, so it is not shown in the log
}

/** @param {{success: boolean, message?: string}} result */
function loggedIn({ success, message }) {
  if (success) return;
  const kept = keptWord();
  keepWord(null);
  forget();
  isComingBack = isReturning = false;
  showStopping();
  wantsIn = true;
  // A member's word lasts for a month, or until all logins were ended.
  login.note(kept ? `Please log in again as ${kept.player}.` : (message ?? ""));
  watch();
  show();
}

/**
 * Make a guest of a visitor, without asking for a name.
 *
 * @param {import("./router.js").Place} place where they go on
 */
function comeInAsGuest(place) {
  wanted = place;
  hasJustComeIn = true;
  login.enterAsGuest();
}

state.on("Thud.Word", ({ player, word }) => keepWord({ player, word }));

/** What a browser may fill in on the line, by what is asked for. */
const LINE_COMPLETES = /** @type {Record<string, any>} */ ({
  old_password: "current-password",
  new_password: "new-password",
  again: "new-password",
});

state.on("Thud.Prompt", ({ asks, hidden }) => {
  if (login.isAskedOfOther(asks) && wire.link === "open" && !isComingBack) {
    login.declineTaken();
    return;
  }
  login.ask(asks, hidden, isChallenged() ? "Accept and play" : "Play as guest");
  if (asks === "command" && isBack) {
    if (isReturning) {
      setTimeout(() => (isReturning = false), RETURNED);
      if (isAgain) say(`Connected again.${places.call(null) && " It’s your turn."}`);
    }
    if (isHallWanted) leaveForHall();
    isBack = isHallWanted = false; // what was observed before is, again
    if (!state.observed.length) {
      for (const board of observed) if (board !== tv.board) wire.send(`observe ${board}`);
      if (tv.on) wire.send("tv");
    }
  }
  if (asks === "command" && insideWanted) {
    goInside(insideWanted);
    insideWanted = null;
  }
  isPasswordNext = false;
  log.hide(hidden);
  byId("line").autocomplete = LINE_COMPLETES[asks] ?? "off";
});

state.on("Thud.Me", ({ room }) => {
  const wasKnown = isComingBack;
  isComingBack = false;
  showStopping();
  login.note();
  const place = wanted ?? (roomBefore ? { board: roomBefore } : null);
  const isMoved = roomBefore === null && room !== null && !state.exercise;
  wanted = null;
  roomBefore = undefined;
  going = null;
  if (room !== lastRoom && lastRoom !== undefined) {
    isReplay = false;
    closePages();
    look = null;
  }
  lastRoom = room;
  if (isReplay && isReturning) askRecord(replay.number); // its analysis is lost with the connection
  tournament.open(tournament.number); // it may have gone on while there was no connection
  if (openPlace(place)) return;
  if (place && ("lesson" in place || "puzzle" in place || "tv" in place))
    [insideWanted, isFollowing] = [place, true];
  else if (needsName(place)) goInside(place, wasKnown);
  else if (place && "board" in place && place.board !== room) goTo(place.board);
  else if (isMoved) goTo(null);
  else if (!isHallWanted) nameView();
});

/** Go to the hall, as the address says, unless a match of the player's goes on where they are. */
function leaveForHall() {
  const table = state.tables.get(state.me.room ?? "");
  if (!table || (state.sides(table).length && table.part !== null && !table.over)) nameView();
  else goTo(null);
}

// A guest's options are new with each visit: what the browser has kept holds until they choose.
let isChosen = false;
state.on("Thud.Options", (options) => {
  change({ reader: options.reader === "on" });
  if (isChosen || state.me.member) wearChosen(options);
  isChosen = true;
});

/** Whether the address is the link of a challenge. */
function isChallenged() {
  return wanted !== null && "challenge" in wanted;
}

/** What a visitor has to do to see what the address names; undefined if all may see it. */
function invitation() {
  const [kind] = Object.keys(wanted ?? {});
  if (kind === "challenge") return `${OFFERED} ${NOTE}`;
  return kind === "tv" ? "Choose a name, or none, to watch." : undefined;
}

/** @param {import("./wire.js").Link} link */
function linked(link) {
  const reason = oneLine({ banned: heard, kicked: endedBy }[String(link)] ?? "");
  stopping = "";
  if (link === "lost") loseConnection();
  else if (hasEnded(link) || (link === "open" && !keptWord())) isLost = false;
  showLink(link, reason);
  if (link === "connecting") heard = endedBy = "";
  if (link !== "open") {
    isAccepting = false;
    registration.stop();
  }
  if (link === "lost" && state.me.player) {
    roomBefore = state.me.room;
    if (state.exercise) wanted = placeOf(state.exercise);
  }
  if (link === "open") {
    login.note(invitation());
    login.forget();
    isChosen = isFit = false;
    isBack = true;
    isAgain = state.me.player !== null;
    isReturning = keptWord() !== null;
    state.isStale = true;
    log.hide(false);
  }
  if (OUT.includes(link)) {
    login.note(reason || LINKS[link]);
    keepWord(null);
    observed = [];
    forget();
    tv = state.tv;
    look = null;
    isReplay = false;
    closePages();
    namePlace(null);
    wantsIn = true;
  }
  show();
  if (OUT.includes(link) && HAS_KEYS) byId("name").focus();
}

/** Forget all of a player who has left: somebody else may be next. */
function forget() {
  for (const each of [state, log, chat, challenges]) each.clear();
}

/**
 * Whether a connection has ended for good: it is not tried again before somebody asks for it.
 *
 * @param {import("./wire.js").Link} link
 */
function hasEnded(link) {
  return !["connecting", "open", "lost"].includes(link);
}

/** The connection is lost: nothing can be done until it is back. */
function loseConnection() {
  isLost = true;
  state.isStale = true;
  const [line] = unanswered;
  unanswered = [];
  if (line) log.say(`The connection was lost before the server answered “${line}”.`);
}

/**
 * Show how the connection is, above all else if it is lost.
 *
 * @param {import("./wire.js").Link} link
 * @param {string} reason why it has ended, if more than usual is known
 */
function showLink(link, reason) {
  const host = byId("link");
  const isComing = link === "open" && keptWord() !== null;
  const words = isLost ? LINKS.lost : isComing ? "Reconnecting …" : reason || LINKS[link];
  const isSaid = isLost || hasEnded(link); // else it is new
  const isSuspended = SUSPENDED.includes(link) && state.me.player !== null;
  host.classList.toggle("banner", isLost || isSuspended);
  for (const each of ["places", "views", "talk"]) byId(each).inert = isSuspended;
  if (OUT.includes(link)) {
    fill(host);
    return;
  }
  fill(
    host,
    words && h("span", { "aria-hidden": !isSaid && "true" }, words),
    hasEnded(link) &&
      h(
        "button",
        { type: "button", click: () => wire.open() },
        link === "elsewhere" ? "Play here" : "Reconnect",
      ),
  );
}

/** Tell the server how wide the log is, and that no boards need to be drawn in it. */
function fit() {
  wire.ask("Thud.Terminal", { width: log.columns(), reader: true, draws: true });
}

/** @type {number | undefined} */
let fitting;
addEventListener("resize", () => {
  clearTimeout(fitting);
  fitting = setTimeout(fit, 300);
});

// What is shown.

/** How far the hall was scrolled when it was left. */
let hallTop = 0;

let isDue = false;
state.on("change", () => {
  if (isDue) return;
  isDue = true;
  queueMicrotask(show); // once for all facts of a turn
});

/** Return the board that is to be seen, if any is. */
function boardInView() {
  if (isElsewhere()) return null;
  if (state.me.player) return look ?? state.place;
  if (wantsIn) return null;
  return onShow !== null && state.boards.has(onShow) ? onShow : ([...state.boards.keys()][0] ?? null);
}

/** Whether a visitor watches the best battle, as a player does on tv. */
function isTvWatched() {
  return !state.me.player && !wantsIn && !isElsewhere() && wanted !== null && "tv" in wanted;
}

function show() {
  isDue = false;
  if (isTvWatched()) watchBest();
  const board = boardInView();
  if (board) isAccepting = false;
  const view = isReplay
    ? "replay"
    : isTournament()
      ? "tournament"
      : isPlayer()
        ? "player"
        : isList()
          ? "lessons"
      : board
        ? "game"
        : state.me.player && !isAccepting
          ? "lobby"
          : isAccepting || isComingBack || !(wantsIn || isNothingOn()) // what the address names has not come yet
            ? "coming"
            : "welcome";
  const before = document.body.dataset.view;
  if (view !== before) {
    hasJustComeIn ||= before === "welcome" && state.me.player !== null;
    if (before === "lobby") hallTop = scrollY;
    document.body.dataset.view = view;
    if (view === "welcome") {
      if (isTvWatched()) login.note("No battle is on. The next one will be shown here.");
      showRules(byId("rules"));
      if (HAS_KEYS && isFocusLost()) byId("name").focus();
    } else byId("showcase").replaceChildren();
    showSkip(view);
    byId("talk").classList.remove("sheet");
    fit(); // the log may not have been seen before
    scrollTo(0, view === "lobby" ? hallTop : 0);
    if (view !== "lobby") document.getElementById(view)?.scrollTo(0, 0);
  }
  if (isElsewhere() && lobby.form.leave()) toast("You’ve stopped waiting for an opponent.");
  chat.show(board);
  if (!state.boards.get(board ?? "")?.hint) untoast("Try ");
  if (!isReplay) replay.playback.pause();
  if (isReplay) replay.show();
  else if (view === "tournament") tournament.show();
  else if (view === "player") player.show();
  else if (view === "lessons") lessons.show();
  else if (board) game.show(board);
  else if (view === "lobby") [lobby.show(), tournament.showList()];
  else if (view === "welcome") showWelcome();
  if (!board) game.premove.cancel(); // its board is out of sight
  showPlaces();
  if (challenges.show()) focus.settle(); // it was on an answer that has been given
  placeToast();
  beginnings.goTo(board);
  beginnings.tell((each) => (each === board || isBack ? "" : `Your battle has begun: ${places.title(each)}.`));
  if (hasJustComeIn) focusAfterLogin(view);
  else if (view !== before && before && before !== "coming") focus.settle();
  document.title = challenges.title ? `● ${challenges.title} – Thud` : places.call(board) + titled(board);
}

/** The board that is shown on the first screen, or to visitors on tv. @type {string | null} */
let onShow = null;
/** The board of a battle whose end is left in view for a while. @type {string | null} */
let ended = null;

/** Whether visitors still see on tv how a battle has ended. */
function isEndInView() {
  return ended !== null && ended === onShow && isTvWatched() && state.boards.has(ended);
}

/** Let visitors watch the best battle, or the hall while there is none. */
function watchBest() {
  const best = lobby.best(onShow);
  // On the way to a board, it would be left for what is shown here.
  if (best === onShow || isEndInView() || !(wantsIn || going === null) || wire.link !== "open") return;
  onShow = best;
  wire.ask("Thud.Watch", { board: best });
  if (best !== null && !wantsIn) say(`TV: ${titleOf(state.tables.get(best), best)}.`);
}

state.on("Thud.Board", ({ board }) => {
  if (isTvWatched()) for (const each of state.boards.keys()) if (each !== board) state.boards.delete(each);
});

/** Whether a visitor watches tv, and there is nothing to be seen, nor to come. */
function isNothingOn() {
  return isTvWatched() && onShow === null && state.tables.size > 0;
}

/** Show what is being played: the first board as it goes on, or a battle of our own. */
function showWelcome() {
  const [who] = (isChallenged() && OFFERED?.split(" to ")) || [];
  byId("welcome-title").textContent = who || "Thud";
  byId("welcome-title").classList.toggle("sentence", Boolean(who));
  lobby.showNow();
  watchBest();
  const board = onShow === null ? null : (state.boards.get(onShow) ?? null);
  showcase(byId("showcase"), board);
  const table = board && state.tables.get(board.board);
  byId("showcase-players").textContent = table ? `${lobby.seats(table)}, now` : "";
}

/**
 * Let the skip link lead to what can be seen.
 *
 * @param {string} view
 */
function showSkip(view) {
  const isIn = view === "welcome";
  byId("skip").textContent = isIn ? "To the name field" : "To the command line";
  byId("skip").setAttribute("href", isIn ? "#name" : "#line");
  byId("skip-board").hidden = !["game", "replay"].includes(view);
}
byId("skip").addEventListener("click", (/** @type {Event} */ event) => {
  event.preventDefault(); // the address stays
  byId(byId("skip").hash.slice(1)).focus();
});

/** Whether the player has just come in, and the focus has not gone to where play goes on. */
let hasJustComeIn = false;

/** @param {string} view */
function focusAfterLogin(view) {
  if (view === "coming" || (view === "lobby" && (isFollowing || going))) return; // it is on the way elsewhere
  hasJustComeIn = false;
  if (isFocusLost()) focus.settle();
}

/** @param {string | null} board */
function titled(board) {
  if (isReplay) return `${replay.title} – Thud`;
  if (isTournament()) return `${tournament.title} – Thud`;
  if (isPlayer()) return `${player.name} – Thud`;
  if (isList()) return "Lessons and puzzles – Thud";
  if (board && board === state.exercise?.board) return `${exerciseTitle(state.exercise)} – Thud`;
  if (!board) return "Thud";
  const title = titleOf(state.tables.get(board), board);
  return `${title} – Thud`;
}

/**
 * Open the battle or the page that an address names; return whether it names one.
 *
 * @param {import("./router.js").Place} place
 */
function openPlace(place) {
  if (place && "battle" in place) openReplay(place.battle, place.ply, place.explores);
  else if (place && ("tournament" in place || "player" in place || "lessons" in place)) openPage(place);
  else return false;
  return true;
}

/**
 * Show a page in place of what was opened before, beside where the player is.
 *
 * @param {import("./router.js").Page} place
 */
function openPage(place) {
  isReplay = wantsIn = false;
  closePages();
  if ("tournament" in place) tournament.open(place.tournament);
  else if ("player" in place) player.open(place.player);
  else lessons.open();
  namePlace(place);
  show();
}

/**
 * Show a battle that was played.
 *
 * @param {number} battle
 * @param {number | null} ply
 * @param {boolean} [explores] whether on the analysis board
 */
function openReplay(battle, ply, explores) {
  closePages();
  const isNew = !isReplay || battle !== replay.number;
  isReplay = true;
  wantsIn = false;
  replay.open(battle, ply, explores);
  if (isNew || !replay.record) askRecord(battle);
  namePlace({ battle, ply, explores });
  show();
}

/** Whether a tournament is shown, not where the player is. */
function isTournament() {
  return tournament.number !== null;
}

/** Whether the page of a player is shown, not where the player is. */
function isPlayer() {
  return player.name !== null;
}

/** Whether the list of lessons and puzzles is shown, not where the player is. */
function isList() {
  return lessons.isOpen;
}

/** Whether something else is shown than where the player is, or what they observe. */
function isElsewhere() {
  return isReplay || isTournament() || isPlayer() || isList();
}

/**
 * Accept the challenge of a link.
 *
 * @param {string} word what its maker has put into the link
 * @param {boolean} asks whether the player has not been asked yet; their own the server refuses
 */
async function acceptChallenge(word, asks) {
  const isOwn = OFFERED?.startsWith(`${state.me.player} `);
  if (asks && !isOwn && !(await confirmed(OFFERED ?? "", "Accept and play", "Not now"))) {
    isFollowing = false;
    nameView();
    return;
  }
  isAccepting = true;
  namePlace(state.me.room ? { board: state.me.room } : null);
  send(`accept word ${word}`);
}

/** Close what was opened beside where the player is. */
function closePages() {
  tournament.open(null);
  player.open(null);
  lessons.close();
}

function closeReplay() {
  isReplay = false;
  closePages();
  nameView();
  show();
}

/**
 * Go to what only somebody with a name can see.
 *
 * @param {import("./router.js").Inside} place
 * @param {boolean} [asks] whether a challenge is accepted only if the player says so
 */
function goInside(place, asks = true) {
  if ("tv" in place) turnTvOn();
  else if ("challenge" in place) acceptChallenge(place.challenge, asks);
  else openExercise(place);
}

/** @param {import("./router.js").Exercise} place */
function openExercise(place) {
  const [[kind, number]] = Object.entries(place);
  const { exercise } = state;
  if (exercise && placeOf(exercise)[kind] === number) lookAt(null);
  else wire.send(kind === "lesson" ? `tutorial ${number}` : `puzzle ${number}`);
}

/** Turn the tv on; where no battle of the player's is under way, it is awaited in the hall. */
function turnTvOn() {
  const { exercise, me, place, tv } = state;
  const table = state.tables.get(place ?? "");
  const isPlaying = !exercise && table?.running && state.sides(table).length;
  isFollowing = true;
  if (!tv.board && !isPlaying) {
    if (exercise) wire.send("stop");
    if (me.room) goTo(null);
  }
  if (tv.on) lookAt(tv.board);
  else wire.send("tv");
}

/**
 * Return where a lesson or a puzzle is.
 *
 * @param {any} exercise
 * @returns {any} a `Place`
 */
function placeOf({ step, number }) {
  return step === null ? { puzzle: number } : { lesson: number };
}

/** Name in the address what is seen, unless that did so itself, or it is left for what is named. */
function nameView() {
  if (isElsewhere()) return;
  const place = placeInView();
  if (isFollowing && !isNamed(place)) return;
  isFollowing = false;
  namePlace(place);
}

/** @returns {import("./router.js").Place} */
function placeInView() {
  const { exercise, me, tv } = state;
  if (tv.on && look === tv.board && (look !== null || state.place === null)) return { tv: true };
  if (exercise && look === null) return placeOf(exercise);
  return me.room ? { board: me.room } : null;
}

state.on("Thud.Exercise", ({ left, remarks }) => {
  if (isHallWanted && isBack && !left) wire.send("stop");
  if (remarks.includes("begun")) look = null;
  // Who is back sees what the address names, and is only told that the lesson is still open.
  if (!left && !isBack) {
    isReplay = false;
    tournament.open(null);
    lessons.close();
  }
  nameView();
});

state.on("Thud.Observe", ({ boards }) => {
  const added = boards.find((/** @type {string} */ each) => !observed.includes(each));
  // Who is back sees what the address names.
  const isSeen = added === state.tv.board ? isTvSeen : !isBack || !isElsewhere();
  if (added && isSeen) lookAt(added);
  else if (look && !boards.includes(look)) lookAt(null);
  observed = boards;
});
// Who is at a board of their own is not taken away from it when their tv turns.
state.on("Thud.Tv", () => {
  const isTurned = tv.board ? look === tv.board : !isElsewhere() && boardInView() === null;
  isTvSeen = isBack ? isNamed({ tv: true }) : !tv.on || isTurned;
  tv = state.tv;
  if (tv.board && !isBack) say(`TV: ${titleOf(state.tables.get(tv.board), tv.board)}.`);
  if (isFollowing && tv.on && !tv.board) {
    isFollowing = false;
    toast("No other battle is on. Your TV will show the next one.");
  }
  if (look === null) nameView();
});
state.on("Thud.Renamed", ({ board, name }) => {
  if (look === board) look = name;
  tv = state.tv;
  observed = state.observed;
});

/**
 * Show a board that the player observes, or again where they are.
 *
 * @param {string | null} board
 */
function lookAt(board) {
  look = board;
  closeReplay();
}
state.on("Thud.Replay", ({ battle, ply }) => openReplay(battle, ply)); // somebody has typed it

// Links within the page do not load it again.
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest("a[href^='/']:not([download])");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.getAttribute("href"));
  follow();
  const place = placeNamed();
  if (!state.me.player && makesGuest(place)) comeInAsGuest(place);
});
addEventListener("popstate", follow);

/** Go where the address leads. */
function follow() {
  const place = placeNamed();
  isFollowing = true;
  if (!state.me.player) wanted = place; // the connection may be on its way yet
  if (openPlace(place)) return;
  isReplay = false;
  if (needsName(place) && state.me.player) {
    goInside(place);
    return;
  }
  closePages();
  const board = place && "board" in place ? place.board : null;
  if (!state.me.player) {
    wantsIn = !canWatch(place);
    watchBoard(board);
  } else {
    look = null;
    if (state.exercise) wire.send("stop");
    if (board !== state.me.room) goTo(board);
  }
  show();
}

/** How many plies a key goes on, or back. */
const PLIES = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
  Escape: Infinity,
});
const TYPED_INTO = "input, textarea, select, dialog";

document.addEventListener("keydown", ({ key }) => key === "Escape" && untoast(""), true);

// Keys that work all over the page, but where they mean something else.
document.addEventListener("keydown", (event) => {
  const target = /** @type {Element} */ (event.target);
  const { key } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || target.closest(TYPED_INTO)) return;
  if (key === "?") openKeys();
  else if (key === "/" && byId("line").checkVisibility()) [event.preventDefault(), byId("line").focus()];
  else if (key === "p" && isReplay && !event.repeat) replay.playback.toggle();
  else if (PLIES[key] && !target.closest("[role=grid], [role=tab], [role=log]")) goByKey(event);
});

byId("line").addEventListener("keydown", (/** @type {KeyboardEvent} */ { key }) => {
  if (key === "Escape") goToBoard();
});
byId("skip-board").addEventListener("click", (/** @type {Event} */ event) => {
  event.preventDefault();
  goToBoard();
});

/** Put the focus on the board in view, if there is one. */
function goToBoard() {
  byId("talk").classList.remove("sheet");
  if (isReplay) replay.view?.point(replay.view.focus);
  else if (boardInView()) game.focus();
}

/** @param {KeyboardEvent} event */
function goByKey(event) {
  const { key } = event;
  const board = boardInView();
  if (!isReplay && !board) return;
  if (key === "Escape") {
    (isReplay ? replay : game).escape();
    return;
  }
  (isReplay ? replay : game).move(PLIES[key]);
  event.preventDefault(); // else the page would scroll
}

/** Show the way in to a visitor, or where a player has something to do. */
function showPlaces() {
  const { me } = state;
  byId("account").hidden = !me.player;
  byId("account").textContent = me.member ? me.player : "Register";
  if (me.player) {
    places.show();
    return;
  }
  const isIn = document.body.dataset.view === "welcome" || isComingBack;
  const join = { type: "button", "data-key": "in", click: comeIn };
  fill(byId("places"), !isIn && h("button.primary", join, "Join to play"));
}

/** Return the name of the page that is open in place of a room; null if none is. */
function pageName() {
  if (isReplay) return `Battle #${replay.number}`;
  if (isTournament()) return tournament.title;
  if (isPlayer()) return player.name;
  return isList() ? "Lessons" : null;
}

function comeIn() {
  isReplay = false;
  wanted = placeNamed(); // to which we come back
  login.note(invitation());
  closePages();
  wantsIn = true;
  show();
  byId("name").focus();
}

/** @param {string | null} room */
function visit(room) {
  if (isElsewhere() || look !== null) lookAt(null);
  if (places.isObserved(room)) {
    lookAt(room);
    return;
  }
  const isThere = state.place === room;
  if (state.exercise && !isThere) send("stop");
  if (state.me.room !== room && !isThere) send(`go to ${room ?? "hall"}`);
}

// What is heard.

state.on("Thud.Move", (ply) => {
  if (ply.board === boardInView()) play(ply.captures.length ? "capture" : "move");
  else if (state.mover(ply.board)) play("call");
});
state.on("Thud.End", (end) => {
  const { board, outcome, player } = end;
  if (board === onShow) {
    ended = board;
    setTimeout(() => {
      ended = null;
      show();
    }, ENDED);
  }
  if (board === boardInView()) play("end");
  else if (state.sides(state.tables.get(board)).length === 1) {
    const isWon = outcome === "resignation" && player !== state.me.player;
    const words = isWon ? `You win: ${player} resigned.` : ending(end, state.me.player);
    const click = () => send(`go to ${board}`);
    toast(words, " ", h("button.command", { type: "button", tabindex: -1, click }, "To the board"));
    say(words);
  }
});

// The buttons at the top.

function showSound() {
  byId("sound").setAttribute("aria-pressed", String(settings.sound));
}
byId("sound").addEventListener("click", () => {
  change({ sound: !settings.sound });
  showSound();
  play("move");
});
function showSettings() {
  const others = { register: () => registration.open(), showKeys: openKeys };
  openSettings((line) => state.me.player && send(line), state.me, others);
  if (state.me.member && hasFeature("notifications")) ask("notify");
}
byId("options").addEventListener("click", showSettings);
byId("account").addEventListener("click", () => (state.me.member ? showSettings() : registration.open()));
byId("dialog").addEventListener("close", show); // settings may have changed
// The keys of this browser are nothing that anybody needs to see.
state.on("Thud.Notify", (known) => showNotify(known, (line) => wire.send(line)));

wear();
showSound();
keepStartPage(warn);
wire.open();
