// Captures an image or a short clip of both sides with the instruction under it, in the browser.

import { gettext } from "../core/i18n.js";
import { colourOf } from "../viewer/colour.js";

const [WIDTH, HEIGHT] = [1280, 560];
const CAPTION = 80;
const CLIP_FPS = 30;
/** The longest clip [s of wall time]. */
const LONGEST = 30;
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/**
 * @import { Clock } from "../viewer/clock.js"
 * @import { Replay } from "../viewer/replay.js"
 * @typedef {{instruction: string, left: string, right: string}} Titles
 * @typedef {Record<string, string>} Inks colours by name
 */

/** @param {Replay} replay @param {Titles} titles @returns {Promise<Blob>} a PNG */
export function takePicture(replay, titles) {
  const canvas = sheet();
  paint(canvas, replay, titles, inksNow());
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png");
  });
}

/**
 * Plays the recording once from its start at the chosen speed and films it.
 * @param {Replay} replay @param {Titles} titles @param {AbortSignal} signal ends the clip early, and keeps what was filmed
 * @returns {Promise<Blob>} a WebM
 */
export async function takeClip(replay, titles, signal) {
  const type = TYPES.find((each) => window.MediaRecorder?.isTypeSupported(each));
  if (!type) throw new NoRecorder();
  const canvas = sheet();
  const inks = inksNow();
  const stream = canvas.captureStream(CLIP_FPS);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 4_000_000 });
  /** @type {Blob[]} */
  const pieces = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  paint(canvas, replay, titles, inks);
  recorder.start();
  try {
    await playThrough(replay.clock, signal, () => paint(canvas, replay, titles, inks));
  } finally {
    recorder.stop();
    await stopped;
    for (const track of stream.getTracks()) track.stop();
  }
  return new Blob(pieces, { type: "video/webm" });
}

export class NoRecorder extends Error {}

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** "vla-arena-put-the-red-cube-on-the-left-plate" @param {string} instruction */
export function fileName(instruction) {
  const words = instruction.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return ["vla-arena", words.slice(0, 60)].filter(Boolean).join("-");
}

/**
 * Calls `draw` for each frame until the end, then restores the clock.
 * @param {Clock} clock @param {AbortSignal} signal @param {() => void} draw
 */
async function playThrough(clock, signal, draw) {
  const { time, playing, loop } = clock;
  clock.setLoop(false);
  clock.seek(0);
  clock.play();
  const began = performance.now();
  while (clock.playing && !signal.aborted && performance.now() - began < 1000 * LONGEST) {
    await new Promise(requestAnimationFrame);
    draw();
  }
  clock.setLoop(loop);
  clock.seek(time);
  if (playing) clock.play();
  else clock.pause();
}

function sheet() {
  return Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
}

/** The colours of the current theme. @returns {Inks} */
function inksNow() {
  return Object.fromEntries(["panel", "left", "right", "ink", "soft"].map((name) => [name, colourOf(`--${name}`)]));
}

/** @param {HTMLCanvasElement} canvas @param {Replay} replay @param {Titles} titles @param {Inks} inks */
function paint(canvas, replay, { instruction, left, right }, inks) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = inks.panel;
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  const half = WIDTH / 2;
  replay.drawNow().forEach((picture, side) => {
    cover(pen, picture, side * half + 4, 4, half - 8, HEIGHT - CAPTION - 4);
    pen.fillStyle = side === 0 ? inks.left : inks.right;
    pen.font = "600 18px system-ui, sans-serif";
    pen.fillText(side === 0 ? left : right, side * half + 14, HEIGHT - CAPTION + 26, half - 28);
  });
  pen.fillStyle = inks.ink;
  pen.font = "16px system-ui, sans-serif";
  const { time } = replay.clock;
  pen.fillText(`“${instruction}”`, 14, HEIGHT - 18, WIDTH - 220);
  pen.textAlign = "right";
  pen.fillStyle = inks.soft;
  pen.fillText(gettext("%(time)s s · VLA Arena", { time: time.toFixed(1) }), WIDTH - 14, HEIGHT - 18, 200);
  pen.textAlign = "left";
}

/**
 * Draws the largest central part of an image that has the aspect ratio of the target.
 * @param {CanvasRenderingContext2D} pen @param {HTMLCanvasElement} picture
 * @param {number} x @param {number} y @param {number} width @param {number} height
 */
function cover(pen, picture, x, y, width, height) {
  if (picture.width === 0 || picture.height === 0) return;
  const scale = Math.max(width / picture.width, height / picture.height);
  const [w, h] = [width / scale, height / scale];
  pen.drawImage(picture, (picture.width - w) / 2, (picture.height - h) / 2, w, h, x, y, width, height);
}
