// Keys for the whole page, silent while somebody types or uses a control that owns the key.

import { gettext } from "../i18n.js";
import { viewerShortcut } from "./shortcuts.js";
import { VOTE_ARROWS, VOTE_KEYS } from "./vote.js";

const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const PRESSABLE = "button, a, summary, input, select";

/** What the page itself listens to, for the help sheet. */
export const PAGE_SHORTCUTS = [
  { keys: ["1", "⇧ ←"], label: () => gettext("Left is better") },
  { keys: ["2", "⇧ ↑"], label: () => gettext("Tie") },
  { keys: ["3", "⇧ ↓"], label: () => gettext("Both bad") },
  { keys: ["4", "⇧ →"], label: () => gettext("Right is better") },
  { keys: ["n"], label: () => gettext("Next battle, once you have voted") },
  { keys: ["/"], label: () => gettext("Write an instruction") },
];

/**
 * @param {{tools: import("./tools.js").Tools, vote: (vote: string) => void, next: () => void, write: () => void}} page
 */
export function listenToKeys(page) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.(TYPING) || (document.querySelector("dialog[open]") && event.key !== "?")) return;
    const act = action(event, page);
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

function action({ key, shiftKey, target }, page) {
  if (shiftKey && key in VOTE_ARROWS) return () => page.vote(VOTE_ARROWS[key]);
  if (key.toLowerCase() === "n") return page.next;
  if (key === "/") return page.write;
  if (key in VOTE_KEYS) return () => page.vote(VOTE_KEYS[key]);
  const shortcut = viewerShortcut(key);
  if (!shortcut || (shortcut.quiet && target.closest?.(PRESSABLE))) return null;
  return () => shortcut.act(page.tools);
}
