// Performs a transcript through the gateway, and compares the players' screens with it.
//
//     THUDMUD_SECRET=... node play.mjs [--drop N] [--port N | --socket PATH] [--board WORD] FILE
//
// The transcript has one board, which its lines name. With --drop the connection is cut in the
// middle of every Nth step, which must not change any screen.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { Gateway, Refused } from "./gateway.mjs";

const STEP = /^([A-Z][A-Za-z]+)([>+-])(?: (.*))?$/;
const SEEN = /^([A-Z][A-Za-z]+)(\||~|\.\.\.)(?: (.*))?$/;
// Left out: a gateway's board has a hall to itself, where matches open no further boards.
const LIST_OF_BOARDS = /^ ?\d+\. |^To play, type "play"/;
// Also left out: a gateway doesn't teach newcomers how to play, but leaves that to the MUD.
const NEWCOMERS =
  /^(Move by typing two squares: |Dwarfs and trolls hunt|Lines of dwarfs hurl|"tutorial" teaches it|Your move to \w+ captured nothing|and D13\. "undo" asks|"undo" asks)/;

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    board: { type: "string", default: "example/board" }, // use a new one for each run
    client: { type: "string", default: "example" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8484" },
    socket: { type: "string" },
    style: { type: "string", default: "brief" },
    rules: { type: "string", default: "discworld" },
    drop: { type: "string", default: "0" },
  },
});

/** Parse a transcript into steps, each with everybody's expected lines. */
function read(text) {
  const steps = [];
  for (const line of text.split("\n")) {
    const seen = SEEN.exec(line);
    const step = STEP.exec(line);
    if (seen) {
      const [, who, sign, words = ""] = seen;
      if (LIST_OF_BOARDS.test(words) || NEWCOMERS.test(words)) continue;
      (steps.at(-1).seen[who] ??= []).push([sign, words]);
    } else if (step) {
      const [, who, act, words = ""] = step;
      steps.push({ who, act, words, seen: {} });
    }
  }
  return steps;
}

/** Return the pattern that a player's lines have to match. Battles may have other numbers here. */
function pattern(expected) {
  const quoted = (words) =>
    words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/"replay \d+"/g, '"replay \\d+"');
  const lines = expected.map(([sign, words]) => {
    if (sign === "...") return "(?:.*\\n)*";
    return (sign === "~" ? words.split("*").map(quoted).join(".*") : quoted(words)) + "\\n";
  });
  return new RegExp(`^${lines.join("")}$`);
}

function request({ who, act, words }) {
  const { board } = options;
  if (act === "+") return ["enter", { board, player: who, room: "hall" }];
  if (act === "-") return ["leave", { board, player: who, parting: "lost" }];
  return ["line", { board, player: who, line: words }];
}

async function play(file) {
  const steps = read(readFileSync(file, "utf8"));
  const [, name] = steps.map(({ words }) => / on (\w+ board)\b/.exec(words)).find(Boolean);
  let told = {};
  const gateway = new Gateway(
    {
      path: options.socket,
      host: options.host,
      port: Number(options.port),
      client: options.client,
      secret: process.env.THUDMUD_SECRET ?? "",
    },
    (event) => {
      if (event.type !== "tell") return;
      const lines = event.text.split("\n").map((line) => line.trimEnd());
      for (const who of event.to)
        (told[who] ??= []).push(...lines.filter((line) => line && !LIST_OF_BOARDS.test(line)));
    },
  );
  try {
    await gateway.ready();
    const { board, rules, style } = options;
    await gateway.ask("open", { board, name, rules, style, without: "bots" });
    let wrong = 0;
    for (const [number, step] of steps.entries()) {
      told = {};
      const answer = gateway.ask(...request(step));
      if (Number(options.drop) && number % Number(options.drop) === 0) gateway.drop();
      const { done, refused } = await answer;
      if (Object.keys(step.seen).length === 0) {
        if (done === false) {
          console.log(`"${step.who}> ${step.words}" was not done: ${refused.code}`);
          wrong += 1;
        }
        continue;
      }
      for (const who of new Set([...Object.keys(step.seen), ...Object.keys(told)])) {
        const seen = (told[who] ?? []).map((line) => line + "\n").join("");
        if (pattern(step.seen[who] ?? []).test(seen)) continue;
        console.log(`after "${step.who}${step.act} ${step.words}" ${who} sees what was not expected:`);
        console.log(seen);
        wrong += 1;
      }
    }
    console.log(`${basename(file)}: ${steps.length} steps, ${wrong || "none"} not as expected`);
    return wrong;
  } finally {
    gateway.bye();
  }
}

try {
  process.exitCode = (await play(files[0])) ? 1 : 0;
} catch (error) {
  console.error(error instanceof Refused ? `${error.code}: ${error.message}` : error.message);
  process.exitCode = 2;
}
