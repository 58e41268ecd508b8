// The current instruction, and tabs for the battle's turns if there are several.

import { cloneOf, closest, part } from "./dom.js";
import { gettext } from "./i18n.js";
import { sayStart, sayState, wasStopped } from "./starts.js";

/**
 * @import { BattleJson, TurnJson } from "./wire.d.ts"
 * @import { Kind } from "./kind.d.ts"
 */

export class TurnTabs {
  #root;
  #headline;
  #list;
  #idleHeadline;
  #sayFork;
  #more;
  #drawn = "";

  /** @param {HTMLElement} root @param {Kind["sayFork"]} sayFork @param {(turnId: string) => void} choose */
  constructor(root, sayFork, choose) {
    this.#root = root;
    this.#headline = part(root, "headline");
    this.#list = part(root, "turns");
    this.#idleHeadline = this.#headline.textContent;
    this.#sayFork = sayFork;
    this.#more = part(root, "headline-more");
    this.#more.addEventListener("click", () => this.#unfold(this.#more.getAttribute("aria-expanded") === "false"));
    new ResizeObserver(() => this.#offerMore()).observe(this.#headline);
    this.#list.addEventListener("click", (event) => {
      const { turn } = closest(event, "[data-turn]")?.dataset ?? {};
      if (turn) choose(turn);
    });
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} shown */
  render(battle, shown) {
    this.#tell(shown);
    const fork = shown?.exploration;
    const note = part(this.#root, "exploration-note");
    note.hidden = !fork;
    const what = fork && this.#sayFork(fork, battle.turns);
    note.textContent = what ? gettext("%(what)s: it never counts", { what }) : "";
    const wanted = JSON.stringify([shown?.turn_id, battle.turns.map(({ turn_id, status }) => [turn_id, status])]);
    if (wanted !== this.#drawn) this.#draw(battle, shown);
    this.#drawn = wanted;
  }

  /** @param {TurnJson | undefined} shown */
  #tell(shown) {
    const text = (shown ? shown.instruction : this.#idleHeadline) ?? "";
    if (this.#headline.textContent !== text) this.#unfold(false);
    this.#headline.textContent = text;
    this.#headline.title = shown ? text : "";
    this.#headline.dataset.quoted = String(Boolean(shown));
    this.#offerMore();
  }

  /** @param {boolean} whole otherwise two lines at most */
  #unfold(whole) {
    this.#headline.dataset.whole = String(whole);
    this.#more.setAttribute("aria-expanded", String(whole));
    this.#more.textContent = whole ? gettext("Show less") : gettext("Show all");
  }

  /** Offers the whole instruction where two lines do not hold it. */
  #offerMore() {
    const { scrollHeight, clientHeight, dataset } = this.#headline;
    this.#more.hidden = dataset.whole !== "true" && scrollHeight <= clientHeight + 1;
  }

  /**
   * Rebuilds the tabs only if something changed, to keep the keyboard focus.
   * @param {BattleJson} battle @param {TurnJson | undefined} shown
   */
  #draw(battle, shown) {
    const turns = battle.turns.filter((turn) => turn === shown || !wasStopped(turn));
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.turn : undefined;
    this.#list.hidden = turns.length < 2;
    this.#list.replaceChildren(...turns.map((turn) => this.#tab(turn, battle, turn === shown)));
    const current = this.#tabWith("[aria-pressed=true]");
    if (current) this.#list.scrollLeft = current.offsetLeft - this.#list.offsetLeft;
    if (focused) this.#tabWith(`[data-turn="${focused}"]`)?.focus();
  }

  /** @param {string} selector @returns {HTMLElement | null} */
  #tabWith(selector) {
    return this.#list.querySelector(selector);
  }

  /** @param {TurnJson} turn @param {BattleJson} battle @param {boolean} current */
  #tab(turn, battle, current) {
    const item = cloneOf(this.#root, "turn-template");
    const button = /** @type {HTMLElement} */ (item.querySelector("[data-turn]"));
    button.dataset.turn = turn.turn_id;
    button.dataset.exploration = String(Boolean(turn.exploration));
    button.setAttribute("aria-pressed", String(current));
    const start = sayStart(turn, battle);
    const name = start ?? (turn.exploration ? gettext("What if") : gettext("Turn %(number)s", { number: turn.seq }));
    button.dataset.status = turn.status;
    part(button, "turn-seq").textContent = name;
    part(button, "turn-text").textContent = start ? sayState(turn) : turn.instruction;
    return item;
  }
}
