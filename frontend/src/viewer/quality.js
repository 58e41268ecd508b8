// Chooses the rendering quality by the frame time. Pure functions.

/** Best first. `lite`: no shadows, no anti-aliasing, simpler materials; `scale`: pixels per CSS pixel at most. */
export const QUALITIES = [
  { name: "full", lite: false, scale: 2 },
  { name: "lite", lite: true, scale: 1 },
  { name: "coarse", lite: true, scale: 0.5 },
];

/** Pictures of up to this many CSS pixels in width, as on phones, are cheap: they keep one pixel for each. */
const SMALL = 300;

/**
 * Pixels per CSS pixel of a picture.
 * @param {{lite: boolean, scale: number}} quality @param {number} width CSS pixels @param {number} device pixels per CSS pixel of the screen
 */
export function pixelRatio({ lite, scale }, width, device) {
  return lite ? Math.max(scale, Math.min(1, SMALL / width)) : Math.min(device, scale);
}

/** A mean frame time above this [s], over this many frames, lowers the quality. */
const SLOW_FRAME = 0.034;
const JUDGED_FRAMES = 40;
/** The most that a single long frame (another tab, a garbage collection) counts [s]. */
const LONGEST_FRAME = 0.25;

export class FrameJudge {
  #total = 0;
  #count = 0;

  constructor() {
    /** @type {number | null} mean of the frames judged last [s]; null before the first verdict */
    this.mean = null;
  }

  /** @param {number} elapsed seconds since the frame before @returns {boolean} true: draw less */
  isTooSlow(elapsed) {
    if (!(elapsed > 0)) return false;
    this.#total += Math.min(elapsed, LONGEST_FRAME);
    this.#count += 1;
    if (this.#count < JUDGED_FRAMES) return false;
    this.mean = this.#total / this.#count;
    this.#total = 0;
    this.#count = 0;
    return this.mean > SLOW_FRAME;
  }
}
