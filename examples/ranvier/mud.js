"use strict";

// A small MUD on Ranvier: two rooms, a board, and a telnet port. Your MUD has all this already: the
// board is in bundles/thud, and `typed` below shows where its lines come from.

const Ranvier = require("ranvier");
const { TelnetServer, TelnetSocket } = require("ranvier-telnet");

const PORT = Number(process.argv[2] ?? 4000);
/** Where the entities of one kind are; Ranvier asks for all kinds, and this MUD has only rooms. */
const inArea = (kind) => ({ source: "yaml", config: { path: `bundles/[BUNDLE]/areas/[AREA]/${kind}.yml` } });

Ranvier.Config.load({
  bundles: ["thud"],
  dataSources: {
    areas: { require: "ranvier-datasource-file.YamlAreaDataSource" },
    yaml: { require: "ranvier-datasource-file.YamlDataSource" },
  },
  entityLoaders: {
    areas: { source: "areas", config: { path: "bundles/[BUNDLE]/areas" } },
    help: { source: "areas", config: { path: "bundles/[BUNDLE]/help" } },
    ...Object.fromEntries(["rooms", "items", "npcs", "quests"].map((kind) => [kind, inArea(kind)])),
  },
  thud: { host: "127.0.0.1", port: Number(process.argv[3] ?? 8484), client: "ranvier" },
});
Ranvier.Data.setDataPath(`${__dirname}/data/`);

const state = {
  Config: Ranvier.Config,
  DataSourceRegistry: new Ranvier.DataSourceRegistry(),
  EntityLoaderRegistry: new Ranvier.EntityLoaderRegistry(),
  AreaFactory: new Ranvier.AreaFactory(),
  AreaManager: new Ranvier.AreaManager(),
  AreaBehaviorManager: new Ranvier.BehaviorManager(),
  AttributeFactory: new Ranvier.AttributeFactory(),
  HelpManager: new Ranvier.HelpManager(),
  ItemBehaviorManager: new Ranvier.BehaviorManager(),
  ItemFactory: new Ranvier.ItemFactory(),
  MobBehaviorManager: new Ranvier.BehaviorManager(),
  MobFactory: new Ranvier.MobFactory(),
  PlayerManager: new Ranvier.PlayerManager(),
  QuestFactory: new Ranvier.QuestFactory(),
  RoomBehaviorManager: new Ranvier.BehaviorManager(),
  RoomFactory: new Ranvier.RoomFactory(),
  RoomManager: new Ranvier.RoomManager(),
  ServerEventManager: new Ranvier.EventManager(),
  GameServer: new Ranvier.GameServer(),
};

function look({ room, socket }) {
  const others = [...room.players].filter((each) => each.socket !== socket);
  const here = others.map(({ name }) => `${name} is here.`);
  socket.write([room.title, room.description, ...here, ""].join("\r\n"));
}

/** The MUD's own commands; false if the line is none of them. */
function own(player, line) {
  const [verb, ...words] = line.split(" ");
  const exit = player.room.exits.find(({ direction }) => direction === verb);
  if (exit) player.moveTo(state.RoomManager.getRoom(exit.roomId), () => look(player));
  else if (verb === "look") look(player);
  else if (verb === "say")
    for (const each of player.room.players) each.emit("tell", `${player.name} says: ${words.join(" ")}`);
  else if (verb === "quit") player.socket.end();
  else return false;
  return true;
}

/** Handle a line. A player's next line waits until the promise is fulfilled. */
function typed(player, line) {
  const huh = () => player.emit("tell", "Huh?");
  return new Promise((done) => {
    if (own(player, line)) done();
    else if (player.room.listenerCount("line")) player.room.emit("line", player, line, done, huh);
    else done(huh());
  });
}

function connected(raw) {
  const socket = new TelnetSocket();
  let player = null;
  let last = Promise.resolve();
  socket.attach(raw);
  socket.write("What is your name?\r\n");
  socket.on("data", (data) => {
    const line = `${data}`.trim(); // one for each event
    if (player) last = last.then(() => typed(player, line));
    else if (line) player = comeIn(socket, line);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    if (!player) return;
    player.room.emit("playerLeave", player, null);
    state.PlayerManager.removePlayer(player);
  });
}

function comeIn(socket, name) {
  const player = new Ranvier.Player({ name, socket });
  player.hydrate(state);
  player.on("tell", (text) => socket.write(text.replace(/\n/g, "\r\n") + "\r\n"));
  state.PlayerManager.addPlayer(player);
  player.moveTo(state.RoomManager.getRoom("tavern:taproom"), () => look(player));
  return player;
}

async function main() {
  state.DataSourceRegistry.load(require, __dirname, Ranvier.Config.get("dataSources"));
  state.EntityLoaderRegistry.load(state.DataSourceRegistry, Ranvier.Config.get("entityLoaders"));
  await new Ranvier.BundleManager(`${__dirname}/bundles/`, state).loadBundles();
  state.ServerEventManager.attach(state.GameServer);
  state.GameServer.startup();
  const { netServer } = new TelnetServer(connected);
  netServer.listen(PORT, "127.0.0.1", () =>
    console.log(`The MUD is ready: 127.0.0.1 ${netServer.address().port}`),
  );
}

main();
