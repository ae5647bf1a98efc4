/**
 * Connects while the page's modules are still being loaded, which saves a round trip. It is part of
 * the page itself; `wire.js` takes over the connection and what has come in meanwhile.
 */

(() => {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws`, ["gmcp.mudstandards.org"]);
  socket.binaryType = "arraybuffer";
  /** @type {Event[]} */
  const events = [];
  const keep = (/** @type {Event} */ event) => events.push(event);
  const kinds = ["open", "message", "close"];
  for (const kind of kinds) socket.addEventListener(kind, keep);
  const page = /** @type {any} */ (window);
  page.takeEarlySocket = () => {
    delete page.takeEarlySocket;
    for (const kind of kinds) socket.removeEventListener(kind, keep);
    return { socket, events };
  };
})();
