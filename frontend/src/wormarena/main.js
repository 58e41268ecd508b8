// The pages of WormArena with a script. The replay: board, reasons of both sides, playback, keys, and a link to a moment.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { listenToKeys } from "../core/keyboard.js";
import { Board, element } from "./board.js";
import { openLive } from "./live.js";
import { deathsAt, decisiveOf, placeAsked, positionsOf } from "./replay.js";
import { moveText } from "./words.js";

/** @import { Replay, Shown } from "./replay.js" */

/** A round is shown for this long at speed 1 [ms]. */
const ROUND_MS = 800;

class Playback {
  /** @param {HTMLElement} page @param {Replay} replay @param {Board} board */
  constructor(page, replay, board) {
    this.page = page;
    this.board = board;
    this.shown = positionsOf(replay);
    this.decisive = decisiveOf(replay, this.shown);
    this.place = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.scrub = part(page, "scrub", HTMLInputElement);
    this.speed = part(page, "speed", HTMLSelectElement);
  }

  start() {
    this.scrub.max = String(this.shown.length - 1);
    this.markDeaths();
    this.connect();
    this.show(placeAsked(location.search, this.shown));
    part(this.page, "controls").hidden = false;
  }

  connect() {
    const press = (/** @type {string} */ name, /** @type {() => void} */ act) => {
      part(this.page, name).addEventListener("click", act);
    };
    press("play", () => this.toggle());
    press("back", () => this.step(-1));
    press("forward", () => this.step(1));
    press("decisive", () => this.jump(this.decisive));
    press("share", () => this.share());
    this.scrub.addEventListener("input", () => this.jump(Number(this.scrub.value)));
    listenToKeys([
      { keys: [" "], label: () => gettext("Play or pause"), act: () => this.toggle(), quiet: true },
      { keys: ["ArrowLeft"], label: () => gettext("One round back"), act: () => this.step(-1) },
      { keys: ["ArrowRight"], label: () => gettext("One round forward"), act: () => this.step(1) },
      { keys: ["d"], label: () => gettext("Decisive move"), act: () => this.jump(this.decisive) },
    ]);
  }

  markDeaths() {
    const last = Math.max(1, this.shown.length - 1);
    const marks = deathsAt(this.shown).map((place) =>
      element("rect", { class: "worm-mark", x: Math.min(99, (100 * place) / last - 0.5), y: 0, width: 1, height: 6 }),
    );
    this.page.querySelector("[data-part=marks]")?.replaceChildren(...marks);
  }

  get playing() {
    return this.timer !== undefined;
  }

  toggle() {
    if (this.playing) {
      this.pause();
      return;
    }
    if (this.place === this.shown.length - 1) this.show(0);
    this.goOn();
    this.tellPlaying();
  }

  goOn() {
    this.timer = setTimeout(() => {
      this.show(this.place + 1);
      if (this.place < this.shown.length - 1) this.goOn();
      else this.pause();
    }, ROUND_MS / Number(this.speed.value));
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.tellPlaying();
    part(this.page, "told").textContent = this.roundText();
  }

  tellPlaying() {
    const button = part(this.page, "play");
    button.setAttribute("aria-label", (this.playing ? button.dataset.pause : button.dataset.play) ?? "");
    button.classList.toggle("worm-playing", this.playing);
  }

  /** @param {number} by */
  step(by) {
    this.jump(this.place + by);
  }

  /** @param {number} place */
  jump(place) {
    if (this.playing) this.pause();
    this.show(place);
  }

  /** @param {number} place */
  show(place) {
    this.place = Math.min(Math.max(0, place), this.shown.length - 1);
    const now = this.shown[this.place];
    this.board.draw(now);
    this.scrub.value = String(this.place);
    const text = this.roundText();
    this.scrub.setAttribute("aria-valuetext", text);
    part(this.page, "round").textContent = text;
    for (const side of this.page.querySelectorAll("[data-slot]")) {
      if (side instanceof HTMLElement) this.tell(side, now);
    }
  }

  /** @param {HTMLElement} side @param {Shown} now */
  tell(side, now) {
    const slot = side.dataset.slot ?? "";
    const move = now.moves[slot];
    part(side, "score").textContent = String(now.state.scores?.[slot] ?? 0);
    part(side, "move").textContent = [move ? moveText(move.move) : "", slot in now.deaths ? gettext("dies") : ""].filter(Boolean).join(" · ");
    part(side, "reason").textContent = move?.rationale || (move ? gettext("It gave no reasons.") : "");
  }

  roundText() {
    const { round } = this.shown[this.place];
    if (round === null) return gettext("Start");
    return gettext("Round %(round)s of %(last)s", { round, last: this.shown[this.shown.length - 1].round });
  }

  async share() {
    const { round } = this.shown[this.place];
    const address = new URL(location.href);
    if (round === null) address.searchParams.delete("round");
    else address.searchParams.set("round", String(round));
    history.replaceState(null, "", address);
    const button = part(this.page, "share");
    try {
      await navigator.clipboard.writeText(address.href);
      button.textContent = button.dataset.said ?? "";
      part(this.page, "told").textContent = button.dataset.said ?? "";
    } catch {
      // Browsers deny the clipboard to pages without HTTPS; the address of the page is now the link.
    }
  }
}

/** @param {HTMLElement} page */
async function open(page) {
  const svg = /** @type {SVGSVGElement} */ (page.querySelector("[data-part=board]"));
  try {
    const response = await fetch(page.dataset.replay ?? "");
    if (!response.ok) throw new Error(String(response.status));
    const { replay, gameRow } = await response.json();
    new Playback(page, replay, new Board(svg, gameRow.boardWidth, gameRow.boardHeight)).start();
  } catch {
    part(page, "failure").hidden = false;
  }
}

/** @type {Record<string, (page: HTMLElement) => unknown>} */
const PAGES = { "worm-replay": open, "worm-live": openLive };
const page = document.querySelector("[data-page]");
if (page instanceof HTMLElement) PAGES[page.dataset.page ?? ""]?.(page);
