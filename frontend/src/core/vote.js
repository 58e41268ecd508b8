// The four vote buttons, the explanation if they are disabled, and the optional reasons.

import { closest, part } from "./dom.js";
import { hasSeveral } from "./starts.js";
import { ofKind } from "./words.js";

/** @import { BattleJson } from "./wire.d.ts" */

export class VotePanel {
  #root;
  #form;
  #busy = false;
  #open = false;
  #cast;

  /**
   * @param {HTMLElement} root
   * @param {(vote: string, reasons: Record<string, FormDataEntryValue>) => Promise<void>} cast
   */
  constructor(root, cast) {
    this.#root = root;
    this.#cast = cast;
    this.#form = /** @type {HTMLFormElement} */ (root.querySelector("form"));
    root.addEventListener("click", (event) => {
      const { vote } = closest(event, "[data-vote]")?.dataset ?? {};
      if (vote) this.cast(vote);
    });
    part(root, "vote-buttons").addEventListener("keydown", (event) => this.#move(event));
  }

  /** Sends the vote with the selected reasons. @param {string} vote */
  async cast(vote) {
    if (!this.#open || this.#busy) return;
    this.#busy = true;
    try {
      await this.#cast(vote, Object.fromEntries(new FormData(this.#form)));
    } finally {
      this.#busy = false;
    }
  }

  /** Clears the reasons for another battle. */
  forget() {
    this.#form.reset();
  }

  /** @param {BattleJson} battle @param {string | null} closed why one cannot vote now */
  render(battle, closed) {
    this.#open = closed === null;
    this.#root.dataset.open = String(this.#open);
    const text = closed ?? (hasSeveral(battle) ? ofKind().questionOfSeveral : ofKind().question);
    const why = part(this.#root, "vote-why");
    if (why.textContent !== text) why.textContent = text;
    for (const button of this.#buttons) {
      button.setAttribute("aria-disabled", String(!this.#open));
      button.setAttribute("aria-pressed", String(battle.vote?.vote === button.dataset.vote));
    }
  }

  /** @returns {HTMLElement[]} */
  get #buttons() {
    return [...this.#root.querySelectorAll("[data-vote]")].filter((each) => each instanceof HTMLElement);
  }

  /** Moves the focus by arrow keys, as in any toolbar. @param {KeyboardEvent} event */
  #move(event) {
    const step = STEPS.get(event.key);
    if (!step || event.shiftKey) return;
    const buttons = this.#buttons;
    const next = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step;
    buttons[(next + buttons.length) % buttons.length].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

const STEPS = new Map([
  ["ArrowLeft", -1],
  ["ArrowRight", 1],
]);
