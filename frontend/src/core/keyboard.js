// Keyboard shortcuts of the whole page, inactive while the visitor types or a control uses the key.

import { gettext } from "./i18n.js";
import { findShortcut } from "./shortcuts.js";

/** @import { Shortcut } from "./shortcuts.js" */

const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const PRESSABLE = "button, a, summary, input, select";
const HELP = "?";
/** With Shift: the arrow points to the better side; up is a tie, down is both bad. */
const SHIFTED = new Map([
  ["ArrowLeft", "⇧ ←"],
  ["ArrowUp", "⇧ ↑"],
  ["ArrowDown", "⇧ ↓"],
  ["ArrowRight", "⇧ →"],
]);

/**
 * @param {{vote: (vote: string) => void, undo: () => void, next: () => void, write: () => void}} page
 * @returns {Shortcut[]} votes in the order of their buttons
 */
export const pageShortcuts = ({ vote, undo, next, write }) => [
  { keys: ["1", "⇧ ←"], label: () => gettext("Left is better"), act: () => vote("left_better") },
  { keys: ["2", "⇧ ↑"], label: () => gettext("Tie"), act: () => vote("tie") },
  { keys: ["3", "⇧ ↓"], label: () => gettext("Both bad"), act: () => vote("both_bad") },
  { keys: ["4", "⇧ →"], label: () => gettext("Right is better"), act: () => vote("right_better") },
  { keys: ["u"], label: () => gettext("Undo the vote before it is sent"), act: undo },
  { keys: ["n"], label: () => gettext("Next battle, once you have voted"), act: next },
  { keys: ["/"], label: () => gettext("Write an instruction"), act: write },
];

/** @param {() => void} show @returns {Shortcut} */
export const helpShortcut = (show) => ({ keys: [HELP], label: () => gettext("This list"), act: show });

/** @param {Shortcut[]} shortcuts */
export function listenToKeys(shortcuts) {
  announceKeys();
  document.addEventListener("shortcutschange", announceKeys);
  document.addEventListener("keydown", (event) => {
    const { key, shiftKey, target } = event;
    if (!areOn()) return;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = target instanceof Element ? target : null;
    if (focused?.closest(TYPING) || (document.querySelector("dialog[open]") && key !== HELP)) return;
    const shortcut = findShortcut(shortcuts, (shiftKey && SHIFTED.get(key)) || key);
    if (!shortcut || (shortcut.quiet && focused?.closest(PRESSABLE))) return;
    event.preventDefault();
    shortcut.act();
  });
}

/** Whether the visitor wants shortcuts: a preference that the server keeps, and site/main.js changes. */
const areOn = () => document.documentElement.dataset.shortcuts !== "off";

/** Tells assistive technology of the keys in `data-keys`, as long as they do something. */
function announceKeys() {
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-keys]"))) {
    if (areOn()) control.setAttribute("aria-keyshortcuts", control.dataset.keys ?? "");
    else control.removeAttribute("aria-keyshortcuts");
  }
}
