"use strict";

// A room with a board: `behaviors: { thud: { name: "oak board" } }`.
const at = (room, player) => ({ board: room.entityReference, player: player.name });
const WITHOUT = "say tell shout emote smile reply who look go boards quit help";

module.exports = {
  listeners: {
    thud: (state) => function ({ name, rules = "discworld" }) {
      const looks = { name, rules, style: "brief", without: WITHOUT };
      state.thud("open", { board: this.entityReference, ...looks });
    },
    playerEnter: (state) => function (_, player) {
      state.thud("enter", { ...at(this, player), member: true });
    },
    playerLeave: (state) => function (_, player, to) {
      state.thud("leave", { ...at(this, player), parting: to ? "left" : "lost" });
    },
    // Calls `huh` if the line is no command of the board, and `done` in the end.
    line: (state) => async function (_, player, line, done, huh) {
      const asked = { ...at(this, player), line };
      const answer = await state.thud("line", { ...asked, quiet: true });
      const code = answer?.refused?.code;
      if (!answer || code === "unknown_command") huh();
      else if (!answer.understood) await state.thud("line", asked); // the board explains what is wrong
      done();
    },
  },
};
