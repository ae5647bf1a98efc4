// A bot for thudmud in Node that plays random legal plies. It forwards all commands but "go" to a
// `thudmud engine`, which knows the rules. See docs/engine.md for the protocol.
//
//   [[bot]]
//   name = "Chance"
//   command = ["node", "any-ply.mjs"]
//
// The engine's command can follow: ["node", "any-ply.mjs", "/opt/thudmud/bin/thudmud", "engine"].

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program = "thudmud", ...words] = process.argv.slice(2);
const engine = spawn(program, words.length ? words : ["engine"], {
  stdio: ["pipe", "pipe", "inherit"],
});
engine.on("error", (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(1);
});
const answers = createInterface({ input: engine.stdout })[Symbol.asyncIterator]();

async function ask(line) {
  engine.stdin.write(`${line}\n`);
  const { value, done } = await answers.next();
  if (done) process.exit(1);
  return value;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [word] = line.trim().split(/\s+/);
  if (word === "" || word.startsWith("#")) continue;
  if (word === "name") {
    console.log("name any-ply 1");
  } else if (word === "go") {
    const plies = (await ask("legal")).split(" ").slice(1).filter((ply) => ply !== "...");
    const ply = plies[Math.floor(Math.random() * plies.length)];
    console.log(ply ? `go ${ply}` : "error there is nothing to play");
  } else {
    console.log(await ask(line));
    if (word === "quit") break;
  }
}
engine.stdin.end();
