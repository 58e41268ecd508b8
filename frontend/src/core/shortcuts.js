// Keyboard shortcuts and the sheet that lists them.

import { gettext } from "./i18n.js";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys as KeyboardEvent.key says them, or as the sheet shows them
 * @property {() => string} label
 * @property {() => void} act
 * @property {boolean} [quiet] left to a button or link that has the focus
 */

/** @param {Shortcut[]} shortcuts @param {string} key @returns {Shortcut | undefined} */
export function findShortcut(shortcuts, key) {
  return shortcuts.find(({ keys }) => keys.includes(key) || keys.includes(key.toLowerCase()));
}

/** @type {Record<string, () => string>} */
const CAPS = { " ": () => gettext("space"), ArrowLeft: () => "←", ArrowRight: () => "→" };

/** @param {HTMLElement} list a `dl` @param {Shortcut[]} shortcuts */
export function listShortcuts(list, shortcuts) {
  list.replaceChildren(
    ...shortcuts.flatMap(({ keys, label }) => {
      const term = document.createElement("dt");
      term.append(...keys.map((key) => Object.assign(document.createElement("kbd"), { textContent: capOf(key) })));
      return [term, Object.assign(document.createElement("dd"), { textContent: label() })];
    }),
  );
}

/** @param {string} key */
const capOf = (key) => CAPS[key]?.() ?? (key.length === 1 ? key.toUpperCase() : key);
