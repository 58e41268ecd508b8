// The list of the visitor's own sessions, newest first, with the battles of the open one.

import { cloneOf, closest, opensElsewhere, part } from "./dom.js";
import { gettext, ngettext } from "./i18n.js";
import { ago, voteName } from "./words.js";

/** @import { BattleRow, SessionJson, SessionRow } from "./wire.d.ts" */

/** Wide enough to show the list beside the battle; else it starts folded above it. */
const BESIDE = "(min-width: 1101px)";

/** A shorter list has no search box. */
const SEARCH_FROM = 4;

export class SessionList {
  #root;
  #list;
  #search;
  #page;

  /** @param {HTMLElement} root @param {{open: (battleId: string) => void, start: () => void, page: string}} options */
  constructor(root, { open, start, page }) {
    this.#root = root;
    this.#page = page;
    this.#list = part(root, "sessions");
    this.#search = part(root, "session-search", HTMLInputElement);
    const beside = window.matchMedia(BESIDE);
    const details = /** @type {HTMLDetailsElement} */ (root.querySelector("details"));
    const fold = () => (details.open = beside.matches);
    beside.addEventListener("change", fold);
    fold();
    part(root, "new-session").addEventListener("click", start);
    this.#search.addEventListener("input", () => this.#hideOthers());
    this.#list.addEventListener("click", (event) => {
      const { battle } = closest(event, "[data-battle]")?.dataset ?? {};
      if (!battle || opensElsewhere(event)) return;
      event.preventDefault();
      open(battle);
    });
  }

  /**
   * @param {SessionRow[]} sessions @param {SessionJson | null} current the open session
   * @param {string | undefined} battleId
   */
  render(sessions, current, battleId) {
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && this.#list.contains(active) ? active.dataset.battle : undefined;
    this.#list.replaceChildren(...sessions.map((session) => this.#session(session, current, battleId)));
    if (focused) /** @type {HTMLElement | null} */ (this.#list.querySelector(`[data-battle="${focused}"]`))?.focus();
    part(this.#root, "no-sessions").hidden = sessions.length > 0;
    part(this.#root, "session-search-label").hidden = sessions.length < SEARCH_FROM;
    this.#hideOthers();
  }

  /** Hides sessions that do not match the search, and says so if none is left. */
  #hideOthers() {
    const sought = this.#search.value.trim();
    const items = /** @type {HTMLElement[]} */ ([...this.#list.children]);
    for (const item of items) item.hidden = !fits(item.textContent, sought);
    part(this.#root, "nothing-found").hidden = items.length === 0 || items.some((item) => !item.hidden);
  }

  /** @param {SessionRow} session @param {SessionJson | null} current @param {string | undefined} battleId */
  #session(session, current, battleId) {
    const item = cloneOf(this.#root, "session-template");
    const isCurrent = session.session_id === current?.session_id;
    this.#fillLink(item, session.last_battle_id ?? "", isCurrent && session.last_battle_id === battleId);
    part(item, "session-title").textContent = session.latest_title || gettext("No instruction yet");
    part(item, "session-meta").textContent = metaOf(session);
    item.dataset.current = String(isCurrent);
    const battles = isCurrent && current.battles.length > 1 ? current.battles : [];
    const list = part(item, "session-battles");
    list.hidden = battles.length === 0;
    list.replaceChildren(...battles.map((battle) => this.#battle(battle, battleId)));
    return item;
  }

  /** @param {BattleRow} battle @param {string | undefined} battleId */
  #battle(battle, battleId) {
    const item = cloneOf(this.#root, "session-battle-template");
    this.#fillLink(item, battle.battle_id, battle.battle_id === battleId);
    const title = battle.title || gettext("Battle %(number)s", { number: battle.seq });
    part(item, "session-battle-title").textContent = title;
    part(item, "session-battle-vote").textContent = resultOf(battle.status, battle.vote);
    return item;
  }

  /** @param {HTMLElement} item @param {string} battleId @param {boolean} current */
  #fillLink(item, battleId, current) {
    const link = /** @type {HTMLAnchorElement} */ (item.querySelector("[data-battle]"));
    link.dataset.battle = battleId;
    link.href = `${this.#page}/${battleId}`;
    if (current) link.setAttribute("aria-current", "page");
  }
}

/** @type {Record<string, string>} */
const STATUS = {
  ongoing: gettext("No vote yet"),
  voted: "",
  abandoned: gettext("Ended without a vote"),
};

/** @param {string | null} status @param {string | null} vote */
const resultOf = (status, vote) => (vote ? voteName(vote) : (STATUS[status ?? ""] ?? status ?? ""));

/** "Left is better · next battle open · 3 battles · 5 min ago" @param {SessionRow} session */
export function metaOf({ latest_title, latest_vote, battle_count, last_active_at, last_status, last_vote }) {
  const battles = battle_count > 1 ? ngettext("%(count)s battle", "%(count)s battles", battle_count) : "";
  const opened = latest_vote !== null && last_vote === null && last_status === "ongoing"; // a battle without an instruction
  const result = resultOf(opened ? "voted" : last_status, latest_vote);
  return [latest_title ? result : "", opened ? gettext("next battle open") : "", battles, ago(last_active_at)].filter(Boolean).join(" · ");
}

/** Whether the title contains every word of the search. @param {string} title @param {string} sought */
export function fits(title, sought) {
  const text = title.toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
