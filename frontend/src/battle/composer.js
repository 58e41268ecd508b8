// The instruction box: suggestions, the start of a follow-up turn, and why sending is closed.

import { gettext } from "../i18n.js";
import { characters, sayTooLong } from "./words.js";

export class Composer {
  #form;
  #input;
  #button;
  #why;
  #restart;
  #starts;
  #sending = false;

  /** @param {HTMLFormElement} form @param {(instruction: string, how: {start: string, several: boolean}) => Promise<boolean>} send true: sent */
  constructor(form, send) {
    this.#form = form;
    this.#input = form.elements.instruction;
    this.#button = form.querySelector("[data-part=send]");
    this.#why = form.querySelector("[data-part=send-why]");
    this.#restart = form.querySelector("[data-part=restart]");
    this.#starts = form.querySelector("[data-part=starts]");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    form.addEventListener("click", ({ target }) => {
      const chip = target.closest("[data-suggestion]");
      if (chip) this.suggest(chip.dataset.suggestion);
    });
    this.#input.addEventListener("input", () => this.#input.setCustomValidity(""));
  }

  focus() {
    this.#input.focus();
  }

  suggest(text) {
    this.#input.value = text;
    this.#form.querySelector("details")?.removeAttribute("open");
    this.focus();
  }

  /** @param {{phase: string, several: boolean, canVote: boolean, blocked: string | null}} view */
  render({ phase, several, canVote, blocked }) {
    this.blocked = blocked;
    this.#button.setAttribute("aria-disabled", String(blocked !== null));
    this.#why.textContent = blocked ?? "";
    this.#restart.hidden = phase !== "settled" || several;
    this.#starts.hidden = !["idle", "voted", "abandoned"].includes(phase);
    const label = phase !== "settled" ? LABELS[phase] : several ? LABELS.after : canVote ? LABELS.settled : LABELS.again;
    this.#form.querySelector("[data-part=composer-label]").textContent = label ?? LABELS.idle;
  }

  /** What keeps an instruction from being sent, before the server has to say it; "" if nothing does. */
  #faultOf(instruction) {
    if (instruction === "") return gettext("Write what the robots should do, for instance: pick up the red cube.");
    const longest = Number(this.#input.dataset.longest);
    return characters(instruction) > longest ? sayTooLong(longest) : "";
  }

  async #submit(send) {
    const instruction = this.#input.value.trim();
    if (this.blocked !== null || this.#sending) return;
    const fault = this.#faultOf(instruction);
    if (fault !== "") {
      this.#input.setCustomValidity(fault);
      this.#input.reportValidity();
      return;
    }
    const again = !this.#restart.hidden && this.#form.elements.restart.checked;
    const several = !this.#starts.hidden && this.#form.elements.starts.checked;
    this.#sending = true;
    try {
      if (!(await send(instruction, { start: again ? "reset" : "continue", several }))) return;
      this.#input.value = "";
      this.#form.elements.restart.checked = false;
    } finally {
      this.#sending = false;
    }
  }
}

const LABELS = {
  idle: gettext("Tell both robots what to do"),
  settled: gettext("Not sure yet? Give both another instruction"),
  again: gettext("Give both another instruction"),
  after: gettext("The next instruction comes after your vote"),
  voted: gettext("Next battle: give two new robots an instruction"),
  abandoned: gettext("Next battle: give two new robots an instruction"),
};
