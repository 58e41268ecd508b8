// The four vote buttons, the seconds in which a vote can be undone, the reasons, and why one cannot vote now.

import { closest, part } from "./dom.js";
import { VoteHold } from "./hold.js";
import { gettext, ngettext } from "./i18n.js";
import { hasSeveral } from "./starts.js";
import { ofKind, voteName } from "./words.js";

/**
 * @import { BattleJson } from "./wire.d.ts"
 * @import { Held } from "./hold.js"
 * @typedef {Held & {reasons: Record<string, FormDataEntryValue>}} Ballot
 * @typedef {object} Post
 * @property {(ballot: Ballot) => Promise<boolean>} send resolves to whether the vote was accepted
 * @property {(ballot: Ballot) => void} leave sends it from a page that is being left, without waiting for an answer
 * @property {() => void} dropped a held vote can no longer be sent, since the battle has changed
 */

export class VotePanel {
  #root;
  #form;
  #post;
  #hold;
  #sending = false;
  #open = false;
  #battleId = "";

  /** @param {HTMLElement} root with the seconds of holding in its data attributes @param {Post} post */
  constructor(root, post) {
    this.#root = root;
    this.#post = post;
    this.#form = /** @type {HTMLFormElement} */ (root.querySelector("form"));
    const seconds = Number(root.dataset.undoSeconds);
    root.style.setProperty("--undo-time", `${seconds}s`);
    this.#hold = new VoteHold(seconds, { send: (held) => this.#send(held), changed: () => this.#renderHold() });
    root.addEventListener("click", (event) => {
      const { vote } = closest(event, "[data-vote]")?.dataset ?? {};
      if (vote) this.cast(vote);
    });
    part(root, "undo").addEventListener("click", () => this.undo());
    part(root, "send-now").addEventListener("click", () => this.flush());
    part(root, "vote-buttons").addEventListener("keydown", (event) => this.#move(event));
    window.addEventListener("pagehide", () => this.#leave());
  }

  /** Holds the vote, which is sent after some seconds unless it is undone. @param {string} vote */
  cast(vote) {
    if (!this.#open || this.#sending) return;
    if (this.#hold.held?.vote === vote) return;
    this.#hold.hold({ battleId: this.#battleId, vote });
    part(this.#root, "undo-said").textContent = sayHeld(vote, this.#hold.left); // once: the countdown is not read out
  }

  /** Takes a held vote back. The focus stays with the vote. */
  undo() {
    const held = this.#hold.held;
    if (!held) return;
    const focused = part(this.#root, "undo-bar").contains(document.activeElement);
    this.#hold.take();
    part(this.#root, "undo-said").textContent = gettext("Undone. Nothing was sent.");
    if (focused) this.#buttons.find(({ dataset }) => dataset.vote === held.vote)?.focus();
  }

  /** Sends a held vote now. @returns {Promise<boolean | null>} whether it was accepted; null if none was held */
  flush() {
    return this.#hold.flush();
  }

  /** Clears the reasons for another battle. */
  forget() {
    this.#form.reset();
    part(this.#root, "undo-said").textContent = "";
  }

  /** @param {BattleJson} battle @param {string | null} closed why one cannot vote now */
  render(battle, closed) {
    this.#battleId = battle.battle_id;
    this.#open = closed === null;
    this.#root.dataset.open = String(this.#open);
    const text = closed ?? (hasSeveral(battle) ? ofKind().questionOfSeveral : ofKind().question);
    const why = part(this.#root, "vote-why");
    if (why.textContent !== text) why.textContent = text;
    for (const button of this.#buttons) button.setAttribute("aria-disabled", String(!this.#open));
    if (!this.#open && this.#hold.held?.battleId === battle.battle_id) {
      this.#hold.take();
      this.#post.dropped();
    }
    this.#renderHold();
  }

  #renderHold() {
    const { held, left } = this.#hold;
    const bar = part(this.#root, "undo-bar");
    bar.hidden = held === null;
    this.#root.toggleAttribute("data-held", held !== null);
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(held?.vote === button.dataset.vote));
    if (!held) return;
    const text = gettext("%(vote)s · sending in %(seconds)s s", { vote: voteName(held.vote), seconds: left });
    const line = part(this.#root, "undo-text");
    if (line.textContent !== text) line.textContent = text;
    if (bar.dataset.shown === held.vote) return;
    bar.dataset.shown = held.vote; // another vote: its bar runs from the start
    part(this.#root, "undo-time").replaceWith(part(this.#root, "undo-time").cloneNode());
  }

  /** @param {Held} held */
  #ballot(held) {
    return { ...held, reasons: Object.fromEntries(new FormData(this.#form)) };
  }

  /** @param {Held} held */
  async #send(held) {
    const focused = this.#root.contains(document.activeElement) || document.activeElement === document.body;
    this.#sending = true;
    try {
      const accepted = await this.#post.send(this.#ballot(held));
      if (!accepted && focused) this.#buttons.find(({ dataset }) => dataset.vote === held.vote)?.focus({ preventScroll: true });
      return accepted;
    } finally {
      this.#sending = false;
    }
  }

  #leave() {
    const held = this.#hold.take();
    if (held) this.#post.leave(this.#ballot(held));
  }

  /** @returns {HTMLElement[]} */
  get #buttons() {
    return [...this.#root.querySelectorAll("[data-vote]")].filter((each) => each instanceof HTMLButtonElement);
  }

  /** Moves the focus by arrow keys, as in any toolbar. @param {KeyboardEvent} event */
  #move(event) {
    const step = STEPS.get(event.key);
    if (!step || event.shiftKey) return;
    const buttons = this.#buttons;
    const next = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + step;
    buttons[(next + buttons.length) % buttons.length].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

/** @param {string} vote @param {number} seconds */
const sayHeld = (vote, seconds) =>
  ngettext(
    "%(vote)s. Your vote will be sent in %(count)s second, unless you undo it.",
    "%(vote)s. Your vote will be sent in %(count)s seconds, unless you undo it.",
    seconds,
    { vote: voteName(vote) },
  );

const STEPS = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
]);
