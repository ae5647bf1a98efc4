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
  const WIDEST = 78; // columns, as Evennia has it by default
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

  /** Tell the MUD how many columns the text has beside the panel, so that no line is wrapped twice. */
  const fit = () => {
    const text = document.getElementById("messagewindow");
    const ruler = document.createElement("span");
    ruler.textContent = "0".repeat(WIDEST);
    Object.assign(ruler.style, { position: "absolute", visibility: "hidden", whiteSpace: "pre" });
    text.after(ruler); // what is in the text itself may be cleared
    let told = WIDEST;
    const measure = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(text);
      const room = text.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      const column = ruler.getBoundingClientRect().width / WIDEST;
      const columns = Math.min(Math.floor(room / column), WIDEST);
      if (columns > 0 && columns !== told) {
        told = columns;
        Evennia.msg("client_options", [], { screenwidth: columns });
      }
    };
    const observer = new ResizeObserver(measure); // the ruler changes with the font
    [text, ruler].forEach((each) => observer.observe(each));
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
    onLoggedIn() {
      Evennia.msg("thud", [], {});
      fit();
    },
    onLayoutChanged: register,
  };
})();
plugin_handler.add("thud", thud_plugin);
