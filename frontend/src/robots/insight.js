// The panel under the viewers: curves, the visitor's own check of the records, and the state of the engine.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { controlOf, Recording } from "../viewer/recording.js";
import { SIDES } from "../viewer/sides.js";
import { Curves, plotsOf } from "./curves.js";

/**
 * @import { Clock } from "../viewer/clock.js"
 * @import { Replay } from "../viewer/replay.js"
 * @import { Side } from "../viewer/sides.js"
 * @import { Verification } from "../viewer/verification.js"
 * @import { Stage } from "./stage.js"
 */

/** Interval of updates of the numbers [ms], so that they can be read. */
const UPDATE_EVERY = 250;

/** Why there is nothing to check, by the state of the exact recordings. */
/** @type {Partial<Record<Stage["exactness"], string>>} */
const NOT_HERE = {
  later: gettext("You can do this once you have voted; the curves of the actions appear then, too. Until then, your browser has only rounded positions, so that no number gives a model away."),
  missing: gettext("The exact recordings could not be loaded. The check tries again."),
};

const MAY_CHECK = new Set(["here", "missing"]);

export class Insight {
  #root;
  #stage;
  #curves;
  #toggle;
  #checking = false;
  #shownAt = 0;
  /** @type {Clock | null} */
  #clock = null;
  /** @type {string | null} */
  #secret = null;
  #onClock = () => this.#tick();

  /** @param {HTMLElement} root @param {HTMLElement} toggle its button @param {Stage} stage */
  constructor(root, toggle, stage) {
    this.#root = root;
    this.#toggle = toggle;
    this.#stage = stage;
    this.#curves = new Curves(part(root, "curves"), (time) => stage.replay?.clock.seek(time));
    for (const news of ["insight", "exact"]) stage.addEventListener(news, () => this.#fill());
    part(root, "check").addEventListener("click", () => this.check());
  }

  /** @param {Clock} clock */
  attach(clock) {
    this.detach();
    this.#clock = clock;
    clock.addEventListener("change", this.#onClock);
    this.#fill();
  }

  detach() {
    this.#clock?.removeEventListener("change", this.#onClock);
    this.#clock = null;
  }

  /** @param {string | null} secret the battle's, revealed after the vote */
  tellSecret(secret) {
    if (secret === this.#secret) return;
    this.#secret = secret;
    if (this.open) this.#showNumbers();
  }

  get open() {
    return !this.#root.hidden;
  }

  toggle() {
    this.#root.hidden = this.open;
    this.#toggle.setAttribute("aria-expanded", String(this.open));
    if (!this.open) return;
    this.#fill();
    this.#root.scrollIntoView({ block: "nearest" });
  }

  /** Runs the visitor's own check, and opens the panel to show its result. */
  async check() {
    if (!this.open) this.toggle();
    if (this.#checking || !MAY_CHECK.has(this.#stage.exactness)) return;
    this.#checking = true;
    this.#showChecks();
    try {
      await this.#stage.check();
    } finally {
      this.#checking = false;
      this.#showChecks();
    }
  }

  #fill() {
    if (!this.open) return;
    const { insight, manifest } = this.#stage;
    part(this.#root, "curves-wait").hidden = insight !== null;
    const plots = insight && manifest ? plotsOf(insight.traces, this.#recordings(), manifest) : [];
    this.#curves.draw(plots, this.#clock?.duration);
    this.#showChecks();
    this.#showNumbers();
    if (this.#clock) this.#curves.moveTo(this.#clock.time);
  }

  #recordings() {
    const { buffers, manifest, runtime } = this.#stage;
    const scene = runtime?.scene;
    if (!buffers || !manifest || !scene) return null;
    const control = controlOf(manifest);
    const of = (/** @type {ArrayBuffer | null} */ buffer) => buffer && new Recording(buffer, scene, control);
    return { left: of(buffers.left), right: of(buffers.right) };
  }

  #tick() {
    if (!this.open || !this.#clock) return;
    this.#curves.moveTo(this.#clock.time);
    const now = performance.now();
    if (this.#clock.playing && now - this.#shownAt < UPDATE_EVERY) return;
    this.#shownAt = now;
    this.#showNumbers();
  }

  #showChecks() {
    const mayCheck = MAY_CHECK.has(this.#stage.exactness) && this.#stage.engineMismatch === null;
    const button = part(this.#root, "check", HTMLButtonElement);
    button.hidden = this.#stage.exactness === "later";
    button.disabled = !mayCheck || this.#checking;
    part(this.#root, "check-results").replaceChildren(...this.#checkLines());
  }

  #checkLines() {
    const { exactness, checks, engineMismatch } = this.#stage;
    if (engineMismatch) {
      return [line(gettext("Recorded with MuJoCo %(recorded)s, but this page has %(here)s: the physics of two versions cannot be compared.", engineMismatch))];
    }
    if (this.#checking) return [line(gettext("Simulating both sides again…"))];
    const why = NOT_HERE[exactness];
    if (why) return [line(why)];
    return SIDES.flatMap((side) => {
      const check = checks?.[side];
      return check ? [line(sayCheck(side, check), check.verdict)] : [];
    });
  }

  #showNumbers() {
    const { replay, runtime, manifest } = this.#stage;
    if (!replay || !runtime || !manifest) return;
    const rows = [
      [gettext("Physics engine"), `MuJoCo ${runtime.engineVersion}`],
      [gettext("Rounded positions"), gettext("%(rate)s per second", { rate: manifest.view.rate_hz })],
      [gettext("Physics per frame"), gettext("%(ms)s ms", { ms: replay.cost.toFixed(2) })],
      [gettext("Rendering"), sayDrawing(replay)],
      ...(this.#secret ? [[gettext("Secret of the battle"), this.#secret]] : []),
    ];
    part(this.#root, "numbers").replaceChildren(...rows.flatMap(([name, value]) => [text("dt", name), text("dd", value)]));
  }
}

/** @param {Side} side @param {Verification} verification */
function sayCheck(side, { verdict, whole, step, record }) {
  const numbers = { whole: length(whole), step: length(step), record };
  const left = side === "left";
  if (verdict === "same") {
    return left
      ? gettext("Left: confirmed. Simulated again, everything stays within %(whole)s of the recording.", numbers)
      : gettext("Right: confirmed. Simulated again, everything stays within %(whole)s of the recording.", numbers);
  }
  if (verdict === "follows") {
    return left
      ? gettext("Left: every step follows from the one before, within %(step)s. Over the whole recording, rounding errors grew to %(whole)s.", numbers)
      : gettext("Right: every step follows from the one before, within %(step)s. Over the whole recording, rounding errors grew to %(whole)s.", numbers);
  }
  return left
    ? gettext("Left: the recording is not what physics computes. Step %(record)s is off by %(step)s.", numbers)
    : gettext("Right: the recording is not what physics computes. Step %(record)s is off by %(step)s.", numbers);
}

/** @param {Replay} replay */
function sayDrawing({ quality, frameTime }) {
  if (frameTime === null) return quality;
  return gettext("%(quality)s, %(fps)s frames per second", { quality, fps: Math.round(1 / frameTime) });
}

/** A length in readable units. @param {number} metres */
export function length(metres) {
  if (metres === 0) return "0 mm";
  if (!Number.isFinite(metres)) return "∞";
  if (metres >= 1) return gettext("more than 1 m");
  if (metres >= 1e-4) return `${(1000 * metres).toPrecision(2)} mm`;
  if (metres >= 1e-7) return `${(1e6 * metres).toPrecision(2)} µm`;
  return `${metres.toExponential(0)} m`;
}

/** @param {string} words */
function line(words, verdict = "") {
  return Object.assign(text("p", words), { className: `check-line check-${verdict}` });
}

/** @param {string} tag @param {string} words */
function text(tag, words) {
  return Object.assign(document.createElement(tag), { textContent: words });
}
