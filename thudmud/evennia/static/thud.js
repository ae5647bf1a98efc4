/**
 * A plugin of Evennia's web client: a panel with the board, drawn as on thudmud's own page.
 *
 * It tells the MUD that it is there ("thud"), and gets the packages of docs/gmcp.md from then on, as
 * messages called "thud". The panel is a page of its own, in a frame: neither page's styles and keys
 * reach the other.
 */
/* global Evennia, plugins, plugin_handler, $ */

const thud_plugin = (() => {
  const PANEL = "thud";
  const page = new URL("panel.html", document.currentScript.src);
  let frame = null;

  const layout = () => plugins.goldenlayout.getGL();

  const register = () =>
    layout().registerComponent(PANEL, function (container) {
      const [element] = $(`<iframe src="${page}" title="Thud board">`);
      $(element).css({ width: "100%", height: "100%", border: 0 }).appendTo(container.getElement());
      frame = element;
      container.on("destroy", () => {
        if (frame === element) frame = null;
      });
    });

  /** Open the panel beside the text, unless it is there. */
  const open = () => {
    if (layout().root.getItemsByFilter((item) => item.config.componentName === PANEL).length)
      return;
    const place = layout().root.getItemsByType("row")[0] ?? layout().root.contentItems[0];
    place.addChild({ type: "component", componentName: PANEL, title: "Thud", width: 45 });
  };

  const hear = ([name, data]) => {
    if (name === "Thud.Board") open(); // which is sent to who looks at it
    frame?.contentWindow.postMessage({ name, data }, location.origin);
  };

  return {
    init() {
      Evennia.emitter.on("thud", hear);
      register();
      window.addEventListener("message", ({ source, origin, data }) => {
        // What is asked is answered in the panel alone; nothing asked is how all of it stands.
        if (source !== frame?.contentWindow || origin !== location.origin) return;
        if (data.send) plugin_handler.onSend(data.send);
        else Evennia.msg("thud", data.ask ? [data.ask] : [], {});
      });
    },
    onLoggedIn: () => Evennia.msg("thud", [], {}),
    onLayoutChanged: register,
  };
})();
plugin_handler.add("thud", thud_plugin);
