// A bot that plays on any server over a WebSocket, with any legal moves. See docs/gmcp.md.
//
//     node outside.mjs ws://127.0.0.1:8485/ws Chance
//
// It waits for challenges ("match chance"). Node 22 has WebSocket; Node 20 needs
// --experimental-websocket, and a page has it anyway.

const [link, name] = process.argv.slice(2);
const socket = new WebSocket(link, ["gmcp.mudstandards.org"]);
socket.binaryType = "arraybuffer"; // the text for people comes in binary messages

const send = (name, data) => socket.send(`${name} ${JSON.stringify(data)}`);
const type = (line) => socket.send(new TextEncoder().encode(`${line}\n`));

// Challenges and games come as these packages.
const take = {
  "Char.Login.Default": () => send("Char.Login.Credentials", { account: name }),
  "Char.Login.Result": ({ message }) => console.error(message ?? "Waiting for challenges."),
  "Thud.Seek": ({ seek, to }) => to === name && type(`accept ${seek}`),
  "Thud.Table": ({ board, seats, offers: [offer] }) => {
    const theirs = seats.filter(({ player }) => player && player !== name).map(({ side }) => side);
    if (!offer || !theirs.includes(offer.side)) return;
    type(`${["begin", "rematch"].includes(offer.offer) ? "start" : "no"} on ${board}`);
  },
  "Thud.Board": ({ board, turn }) => turn && send("Thud.Ask", `view possible on ${board}`),
  "Thud.Move": ({ board, turn }) => turn && send("Thud.Ask", `view possible on ${board}`),
  "Thud.Plies": ({ board, plies }) => {
    const ply = plies[Math.floor(Math.random() * plies.length)];
    if (ply) type(`ply ${ply} on ${board}`); // one for the other side would only be refused
  },
};

socket.onopen = () => send("Core.Supports.Set", ["Thud 1", "Char.Login 1"]);
socket.onclose = ({ code }) => console.error(`The server has closed the connection (${code}).`);
socket.onmessage = ({ data }) => {
  if (typeof data !== "string") return;
  const end = data.indexOf(" ");
  if (end > 0) take[data.slice(0, end)]?.(JSON.parse(data.slice(end)));
};
