// After the vote: what was chosen, who they were, where to go next.

import { voteName } from "./vote.js";

export class Verdict {
  #root;

  /** @param {HTMLElement} root @param {() => void} next */
  constructor(root, next) {
    this.#root = root;
    this.#part("next").addEventListener("click", next);
  }

  render({ status, vote, left_model, right_model }) {
    this.#root.hidden = status === "ongoing";
    if (status === "ongoing") return;
    this.#part("verdict-title").textContent = vote ? `You voted: ${voteName(vote.vote)}` : "This battle was left without a vote";
    this.#part("verdict-names").hidden = !vote;
    if (!vote) return;
    this.#part("verdict-left").textContent = left_model.name;
    this.#part("verdict-right").textContent = right_model.name;
  }

  focus() {
    this.#part("verdict-title").focus({ preventScroll: true });
    this.#root.scrollIntoView({ block: "nearest" });
  }

  #part(name) {
    return this.#root.querySelector(`[data-part=${name}]`);
  }
}
