"use strict";

// Connects to the gateway at startup, and shows players what happens at their boards.
module.exports = {
  listeners: {
    startup: (state) => () => {
      const settings = { ...state.Config.get("thud"), secret: process.env.THUDMUD_SECRET };
      const show = ({ type, to, text }) => {
        if (type !== "tell") return;
        for (const name of to) state.PlayerManager.getPlayer(name)?.emit("tell", text);
      };
      const connected = import("../../../../node/gateway.mjs").then(
        ({ Gateway }) => new Gateway(settings, show),
      );
      // Returns the answer; null if the request was refused, which the log explains.
      state.thud = async (type, asked) => {
        try {
          return await (await connected).ask(type, asked);
        } catch (error) {
          console.warn(`thud: ${type} was refused: ${error.message}`);
          return null;
        }
      };
      for (const room of state.RoomManager.rooms.values()) room.emit("thud");
    },
  },
};
