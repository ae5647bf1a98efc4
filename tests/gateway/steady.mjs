// Plays, whatever happens to the gateway, and prints how many lines were done; ends once its input
// does.
//
//     node steady.mjs PORT SECRET

import { Gateway } from "../../examples/node/gateway.mjs";

const [port, secret] = process.argv.slice(2);
const board = "/d/am/tavern#oak";
const gateway = new Gateway(
  { host: "127.0.0.1", port: Number(port), client: "mud", secret },
  () => {},
);
const say = (line) => gateway.play({ board, player: "Anna", line });
const TO_AND_FRO = ["move a6 b6", "move g7 g6", "move b6 a6", "move g6 g7"];
// Done twice, "undo" takes back a ply more; not done, the next move is refused.
const CYCLE = ["move a6 b6", "undo"];

let isOver = false;
process.stdin.on("end", () => (isOver = true)).resume();
await gateway.ready();
await gateway.ask("open", { board, name: "oak board" });
await gateway.ask("enter", { board, player: "Anna" });
await say("practice");
for (let each = 0; each < 40; each += 1) await say(TO_AND_FRO[each % TO_AND_FRO.length]);
let lines = 0;
let doneBefore = 0;
while (!isOver || lines % CYCLE.length) {
  const { done_before } = await say(CYCLE[lines % CYCLE.length]);
  lines += 1;
  if (done_before) doneBefore += 1;
  console.log(lines);
}
const { position, table } = await gateway.ask("show", { board });
console.log(JSON.stringify({ lines, doneBefore, position, table }));
gateway.bye();
