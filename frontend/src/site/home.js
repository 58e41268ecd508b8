// The home page's two robots: a still picture first; engine and recordings once the page is idle and they are in view.
//
// The robots wait for a tap on phones, where the visitor asked for less data, and where they asked for less motion.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";

/**
 * @typedef {"still" | "loading" | "moving" | "paused" | "failed"} State of what is seen
 * @typedef {{time: number, duration: number, playing: boolean, loop: boolean, drawn: number}} ShownClock
 * @typedef {{play: () => void, pause: () => void, refreshTheme: () => void, clock: ShownClock}} Show
 */

const WORDS = {
  still: gettext("Play"),
  loading: gettext("Loading…"),
  moving: gettext("Pause"),
  paused: gettext("Play"),
  failed: gettext("Cannot be played here"),
};

class Act {
  #root;
  #button;
  /** @type {Promise<Show> | null} */
  #show = null;
  #wanted = false;
  #seen = false;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#button = part(root, "act-button", HTMLButtonElement);
    this.#button.hidden = false;
    this.#button.addEventListener("click", () => this.#toggle());
    const looking = new IntersectionObserver((entries) => this.#look(entries.some(({ isIntersecting }) => isIntersecting)));
    looking.observe(root);
    document.addEventListener("themechange", () => this.#refreshTheme());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#refreshTheme());
    this.#say("still");
  }

  /** Play while in view, from now on. */
  want() {
    this.#wanted = true;
    if (this.#seen) this.#play();
  }

  get #state() {
    return /** @type {State} */ (this.#root.dataset.state);
  }

  #toggle() {
    this.#wanted = this.#state !== "moving";
    if (this.#wanted) this.#play();
    else this.#pause("paused");
  }

  /** @param {boolean} seen */
  #look(seen) {
    this.#seen = seen;
    if (seen && this.#wanted) this.#play();
    else if (!seen && this.#state === "moving") this.#pause("paused");
  }

  async #play() {
    try {
      if (!this.#show) this.#say("loading");
      this.#show ??= this.#load();
      const show = await this.#show;
      if (!this.#wanted) return this.#say("paused");
      show.play();
      this.#say("moving");
    } catch (error) {
      console.warn(error); // the picture stays
      this.#show = null;
      this.#wanted = false;
      this.#say("failed");
    }
  }

  /** @param {State} state */
  async #pause(state) {
    (await this.#show)?.pause();
    this.#say(state);
  }

  /** The script of the battle page, which the first battle then finds in the browser's cache. @returns {Promise<Show>} */
  async #load() {
    const { act } = await import(new URL(this.#root.dataset.script ?? "", document.baseURI).href);
    const show = await act(this.#root, () => {
      this.#show = null;
      this.#say("failed");
    });
    Object.assign(window, { vlaAct: show }); // for tests and the curious
    return show;
  }

  async #refreshTheme() {
    (await this.#show)?.refreshTheme();
  }

  /** @param {State} state */
  #say(state) {
    this.#root.dataset.state = state;
    part(this.#root, "act-word").textContent = WORDS[state];
  }
}

/** Whether they may begin by themselves. */
function mayBegin() {
  const { connection } = /** @type {Navigator & {connection?: {saveData?: boolean}}} */ (navigator);
  const small = window.matchMedia("(max-width: 760px), (hover: none)").matches;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return !small && !calm && !connection?.saveData;
}

/** Calls back once the page has loaded and has nothing else to do. @param {() => void} callback */
function whenIdle(callback) {
  const wait = window.requestIdleCallback ?? ((/** @type {() => void} */ then) => setTimeout(then, 200));
  if (document.readyState === "complete") wait(callback);
  else window.addEventListener("load", () => wait(callback), { once: true });
}

/** When to ask again for a picture that a worker is still drawing [ms after the answer before]. */
const AGAIN = [1000, 2000, 4000, 8000, 16000];

/** @param {HTMLImageElement} picture */
function askAgain(picture, tries = 0) {
  if (tries === AGAIN.length) return;
  picture.dataset.drawing = "";
  setTimeout(() => {
    picture.addEventListener("error", () => askAgain(picture, tries + 1), { once: true });
    picture.addEventListener("load", () => delete picture.dataset.drawing, { once: true });
    picture.src = `${picture.src}`;
  }, AGAIN[tries]);
}

for (const picture of /** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll("[data-picture]"))) {
  if (picture.complete && picture.naturalWidth === 0) askAgain(picture);
  else if (!picture.complete) picture.addEventListener("error", () => askAgain(picture), { once: true });
}

const root = document.querySelector("[data-part=act]");
if (root instanceof HTMLElement) {
  const act = new Act(root);
  if (mayBegin()) whenIdle(() => act.want());
}
