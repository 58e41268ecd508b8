// The playback controls of the clock: play, pause, step, scrub, speed, loop and jumps.

import { closest, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { SPEEDS } from "../viewer/clock.js";

/**
 * @import { Clock } from "../viewer/clock.js"
 * @typedef {{time: number, kind: string, side: string}} Mark
 */

/** Interval of updates of the position while playing [ms]: an update costs as much as drawing a frame. */
const UPDATE_EVERY = 100;

export class Transport {
  #root;
  #scrub;
  #speed;
  /** @type {Clock | null} */
  #clock = null;
  /** @type {Record<string, number>} */
  #jumps = {};
  #shown = { at: 0, playing: false };
  #onChange = () => this.#showSometimes();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#scrub = part(root, "scrub", HTMLInputElement);
    this.#speed = part(root, "speed", HTMLSelectElement);
    root.addEventListener("click", (event) => {
      this.act(closest(event, "[data-transport]")?.dataset.transport);
      this.jump(closest(event, "[data-jump]")?.dataset.jump);
    });
    this.#scrub.addEventListener("input", () => this.#clock?.seek(Number(this.#scrub.value)));
    this.#speed.addEventListener("change", () => this.#clock?.setSpeed(Number(this.#speed.value)));
  }

  /** @param {Clock} clock */
  attach(clock) {
    this.detach();
    this.#clock = clock;
    clock.addEventListener("change", this.#onChange);
    this.#show();
  }

  detach() {
    this.#clock?.removeEventListener("change", this.#onChange);
    this.#clock = null;
  }

  /** @param {string | undefined} name of ACTIONS */
  act(name) {
    if (this.#clock && name) ACTIONS[name]?.(this.#clock);
  }

  /** @param {string | undefined} name "touch", "grasp", "divergence" or "end" */
  jump(name) {
    if (!this.#clock || !name) return;
    const time = name === "end" ? this.#clock.duration : this.#jumps[name];
    if (time === undefined) return;
    this.#clock.pause();
    this.#clock.seek(time);
  }

  /**
   * Sets the times of events [s]: `marks` on the scrub bar, and `jumps` of the buttons.
   * @param {{jumps: Record<string, number>, marks: Mark[]}} places
   */
  setPlaces({ jumps, marks }) {
    this.#jumps = jumps;
    for (const button of this.#controls("[data-jump]:not([data-needs-recording])")) {
      button.disabled = !(button.dataset.jump && button.dataset.jump in jumps);
    }
    const duration = this.#clock?.duration || 1;
    part(this.#root, "marks").replaceChildren(...marks.map((mark) => markElement(mark, duration)));
  }

  /** @param {string} selector @returns {HTMLButtonElement[]} */
  #controls(selector) {
    return [...this.#root.querySelectorAll(selector)].map((each) => /** @type {HTMLButtonElement} */ (each));
  }

  #showSometimes() {
    if (!this.#clock) return;
    const { playing } = this.#clock;
    const now = performance.now();
    if (playing && this.#shown.playing && now - this.#shown.at < UPDATE_EVERY) return;
    this.#shown = { at: now, playing };
    this.#show();
  }

  #show() {
    if (!this.#clock) return;
    const { time, duration, playing, loop, record, lastRecord, waiting, growing, live, speed } = this.#clock;
    const times = { time: time.toFixed(1), duration: duration.toFixed(1), record, last: lastRecord };
    const scrub = this.#scrub;
    scrub.max = String(duration);
    scrub.value = String(time);
    scrub.setAttribute("aria-valuetext", gettext("%(time)s of %(duration)s seconds, step %(record)s", times));
    scrub.style.setProperty("--played", duration > 0 ? `${(100 * time) / duration}%` : "0%");
    this.#root.dataset.playing = String(playing);
    this.#root.dataset.waiting = String(waiting);
    part(this.#root, "play").setAttribute("aria-label", playing ? gettext("Pause") : gettext("Play"));
    part(this.#root, "loop").setAttribute("aria-pressed", String(loop));
    this.#speed.value = String(speed);
    part(this.#root, "live").hidden = !growing;
    part(this.#root, "live").setAttribute("aria-pressed", String(live));
    part(this.#root, "time").textContent = gettext("%(time)s / %(duration)s s", times);
    part(this.#root, "step").textContent = gettext("step %(record)s of %(last)s", times);
    for (const control of this.#controls("[data-needs-recording]")) control.disabled = duration === 0;
  }
}

/** @type {Record<string, (clock: Clock) => void>} */
const ACTIONS = {
  toggle: (clock) => clock.toggle(),
  back: (clock) => clock.step(-1),
  forward: (clock) => clock.step(1),
  start: (clock) => clock.seek(0),
  end: (clock) => clock.seek(clock.duration),
  loop: (clock) => clock.setLoop(!clock.loop),
  live: (clock) => clock.follow(),
  slower: (clock) => clock.setSpeed(neighbour(clock.speed, -1)),
  faster: (clock) => clock.setSpeed(neighbour(clock.speed, 1)),
};

/** @param {number} speed @param {number} way */
function neighbour(speed, way) {
  const place = SPEEDS.indexOf(speed) + way;
  return SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)];
}

/** @param {Mark} mark @param {number} duration */
function markElement({ time, kind, side }, duration) {
  const mark = document.createElement("i");
  mark.className = `mark mark-${kind} mark-${side}`;
  mark.style.left = `${(100 * time) / duration}%`;
  return mark;
}
