// Four buttons, one line that says why they are closed, and the reasons one may give.

import { gettext } from "../i18n.js";
import { hasSeveral } from "./starts.js";
import { VOTES } from "./words.js";

/** Key -> vote, in the order of the buttons on the page. */
export const VOTE_KEYS = { 1: "left_better", 2: "tie", 3: "both_bad", 4: "right_better" };
/** With shift held: the arrow points to the better side; up is a tie, down is both bad. */
export const VOTE_ARROWS = { ArrowLeft: "left_better", ArrowUp: "tie", ArrowDown: "both_bad", ArrowRight: "right_better" };

export class VotePanel {
  #root;
  #why;
  #busy = false;
  #open = false;

  /** @param {HTMLElement} root @param {(vote: string, reasons: object) => Promise<void>} cast */
  constructor(root, cast) {
    this.#root = root;
    this.#why = root.querySelector("[data-part=vote-why]");
    this.cast = async (vote) => {
      if (!this.#open || this.#busy) return;
      this.#busy = true;
      try {
        await cast(vote, this.reasons);
      } finally {
        this.#busy = false;
      }
    };
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-vote]");
      if (button) this.cast(button.dataset.vote);
    });
    root.querySelector("[data-part=vote-buttons]").addEventListener("keydown", (event) => this.#move(event));
  }

  /** {closer: "left", ...}: what was said, respects without a word left out. */
  get reasons() {
    return Object.fromEntries(new FormData(this.#root.querySelector("form")));
  }

  /** Another battle: nothing has been said of it. */
  forget() {
    this.#root.querySelector("form").reset();
  }

  /** @param {object} battle @param {string | null} closed why one cannot vote now */
  render(battle, closed) {
    this.#open = closed === null;
    this.#root.dataset.open = String(this.#open);
    const question = hasSeveral(battle)
      ? gettext("Which robot did it better, all three starts together?")
      : gettext("Which robot did it better?");
    const text = closed ?? question;
    if (this.#why.textContent !== text) this.#why.textContent = text;
    for (const button of this.#root.querySelectorAll("[data-vote]")) {
      button.setAttribute("aria-disabled", String(!this.#open));
      button.setAttribute("aria-pressed", String(battle.vote?.vote === button.dataset.vote));
    }
  }

  /** Arrows go from button to button, as in any group of buttons. */
  #move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.shiftKey) return;
    const buttons = [...this.#root.querySelectorAll("[data-vote]")];
    const next = buttons.indexOf(document.activeElement) + step;
    buttons[(next + buttons.length) % buttons.length].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

export const voteName = (vote) => VOTES[vote] ?? vote;
