/**
 * Playing a battle back: it goes on by itself, move by move, until it is paused or over.
 */

import { h, svg } from "./dom.js";
import { change, settings } from "./settings.js";

/** How long a move is shown, in milliseconds, by the label of the speed. */
const DELAYS = /** @type {Record<string, number>} */ ({ "½×": 3000, "1×": 1500, "2×": 750, "4×": 375 });
const PLAY = "M12 2.5a9.5 9.5 0 1 0 0 19 9.5 9.5 0 0 0 0-19zm0 2a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zM9.5 7.5v9l7-4.5z";
const PAUSE = "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z";

export class Playback {
  /**
   * @param {object} replay
   * @param {() => void} replay.restart goes to the start
   * @param {() => void} replay.advance goes to the next move
   * @param {() => boolean} replay.isAtEnd
   * @param {() => void} replay.changed is told that the buttons have changed
   */
  constructor(replay) {
    this.replay = replay;
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  get isPlaying() {
    return this.timer !== undefined;
  }

  /** Play or pause; from the start, if the end is shown. */
  toggle() {
    if (this.isPlaying) {
      this.pause();
      return;
    }
    if (this.replay.isAtEnd()) this.replay.restart();
    this.schedule();
    this.replay.changed();
  }

  pause() {
    if (!this.isPlaying) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.replay.changed();
  }

  schedule() {
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), DELAYS[settings.speed] ?? DELAYS["1×"]);
  }

  tick() {
    if (!this.replay.isAtEnd()) this.replay.advance();
    if (this.replay.isAtEnd()) this.pause();
  }

  /** Change to the next speed; after the fastest comes the slowest. */
  changeSpeed() {
    const speeds = Object.keys(DELAYS);
    change({ speed: speeds[(speeds.indexOf(settings.speed) + 1) % speeds.length] });
    if (this.isPlaying) this.schedule();
    this.replay.changed();
  }

  /** Return the button that plays and pauses. */
  playButton() {
    const label = this.isPlaying ? "Pause" : "Play the moves";
    const attributes = { "data-key": "play", "aria-label": label, title: `${label} (p)` };
    const path = svg("path", { d: this.isPlaying ? PAUSE : PLAY });
    return h(
      "button.icon.play",
      { type: "button", ...attributes, click: () => this.toggle() },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, path),
    );
  }

  /** Return the button that changes the speed. */
  speedButton() {
    const label = `${settings.speed} speed`;
    const attributes = { "data-key": "speed", "aria-label": label, title: label };
    return h(
      "button.icon.speed",
      { type: "button", ...attributes, click: () => this.changeSpeed() },
      settings.speed,
    );
  }
}
