/**
 * Sounds, made on the spot: a piece put down, a capture, a call for the player, little time left.
 */

import { settings } from "./settings.js";

const SILENT = 0.001; // which a tone that fades out can reach, unlike 0

/** @type {AudioContext | null} */
let context = null;

/** @typedef {"move" | "capture" | "call" | "low" | "end"} Sound */

/**
 * Each is a few tones: a frequency at the beginning and at the end, when it begins, how long it
 * lasts, how loud it is.
 *
 * @type {Record<Sound, [number, number, number, number, number][]>}
 */
const SOUNDS = {
  move: [[320, 140, 0, 0.07, 0.5]],
  capture: [
    [180, 50, 0, 0.16, 0.9],
    [90, 40, 0.03, 0.22, 0.7],
  ],
  call: [
    [660, 660, 0, 0.12, 0.25],
    [880, 880, 0.13, 0.2, 0.25],
  ],
  low: [
    [990, 990, 0, 0.09, 0.3],
    [990, 990, 0.16, 0.09, 0.3],
    [990, 990, 0.32, 0.09, 0.3],
  ],
  end: [
    [523, 523, 0, 0.2, 0.25],
    [392, 392, 0.2, 0.2, 0.25],
    [262, 262, 0.4, 0.4, 0.3],
  ],
};

/**
 * Play a sound, unless the player wants none.
 *
 * @param {Sound} sound
 */
export function play(sound) {
  if (!settings.sound || !settings.volume || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  context.resume();
  for (const [from, to, after, lasts, loud] of SOUNDS[sound]) {
    const begins = context.currentTime + after;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.type = "triangle";
    tone.frequency.setValueAtTime(from, begins);
    tone.frequency.exponentialRampToValueAtTime(to, begins + lasts);
    gain.gain.setValueAtTime(Math.max(SILENT, loud * 0.4 * settings.volume), begins);
    gain.gain.exponentialRampToValueAtTime(SILENT, begins + lasts);
    tone.connect(gain).connect(context.destination);
    tone.start(begins);
    tone.stop(begins + lasts);
  }
}
