// What was said on a call, as a list.

import { gettext } from "../core/i18n.js";

/**
 * @import { SaidLine } from "./api.js"
 */

/** Adds a line, and keeps the end in sight. @param {HTMLElement} list @param {SaidLine} line @param {string} agent its name */
export function addLine(list, { role, text }, agent) {
  const item = document.createElement("li");
  item.dataset.role = role;
  const who = document.createElement("b");
  who.textContent = role === "agent" ? agent : gettext("You");
  item.append(who, text);
  list.append(item);
  const box = list.closest(".said-lines") ?? list;
  box.scrollTop = box.scrollHeight;
}

/** @param {HTMLElement} list @param {SaidLine[]} lines @param {string} agent its name */
export function showLines(list, lines, agent) {
  list.replaceChildren();
  for (const line of lines) addLine(list, line, agent);
  (list.closest(".said-lines") ?? list).scrollTop = 0;
}
