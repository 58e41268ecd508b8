// Suggests only what can be done in this battle: a seed leaves out some things of its scene.

/** @import { BattleJson } from "../core/wire.d.ts" */

/** So many stand in the row beside "Random task". */
const IN_THE_ROW = 6;

export class SuggestionFilter {
  #form;
  #leftOut;
  /** @type {string | null} the battle whose things are shown, or asked for */
  #of = null;

  /** @param {HTMLElement} form @param {(battleId: string) => Promise<string[] | null>} leftOut of a battle */
  constructor(form, leftOut) {
    this.#form = form;
    this.#leftOut = leftOut;
  }

  /** Before it is known what is there, suggestions about single things are not shown. @param {BattleJson} battle */
  async render({ battle_id, status }) {
    if (this.#of === battle_id || status !== "ongoing" || !this.#form.querySelector("[data-things]")) return;
    this.#of = battle_id;
    this.#show(() => false);
    const missing = new Set(await this.#leftOut(battle_id));
    if (this.#of !== battle_id) return;
    this.#show((things) => things.every((name) => !missing.has(name)));
    this.#fillRow();
  }

  /** @param {(things: string[]) => boolean} fits */
  #show(fits) {
    for (const chip of this.#form.querySelectorAll("[data-of-category]")) chip.remove();
    for (const chip of this.#chips("[data-things]")) chip.hidden = !fits((chip.dataset.things ?? "").split(" "));
    for (const category of /** @type {NodeListOf<HTMLElement>} */ (this.#form.querySelectorAll(".category"))) {
      category.hidden = category.querySelector("[data-suggestion]:not([hidden])") === null;
    }
  }

  /** Puts one suggestion of each category into the row, as long as there is room, and one into the empty box. */
  #fillRow() {
    const row = this.#form.querySelector(".suggestions .chips");
    const shown = this.#chips(".suggestions [data-suggestion]:not([hidden])");
    const said = new Set(shown.map(({ dataset }) => dataset.suggestion));
    for (const category of this.#form.querySelectorAll(".category:not([data-free], [hidden])")) {
      if (said.size >= IN_THE_ROW) break;
      const chips = [...category.querySelectorAll("[data-suggestion]:not([hidden])")];
      const chip = /** @type {HTMLElement} */ (chips[Math.floor(chips.length / 2)]);
      if (said.has(chip.dataset.suggestion)) continue;
      said.add(chip.dataset.suggestion);
      const copy = /** @type {HTMLElement} */ (chip.cloneNode(true));
      copy.dataset.ofCategory = "";
      row?.append(copy);
    }
    const [first] = said;
    if (first) /** @type {HTMLInputElement} */ (this.#form.querySelector("#instruction")).placeholder = first;
  }

  /** @param {string} selector */
  #chips(selector) {
    return /** @type {HTMLElement[]} */ ([...this.#form.querySelectorAll(selector)]);
  }
}
