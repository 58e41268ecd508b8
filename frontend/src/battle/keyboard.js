// Keys for the whole page, silent while somebody types or uses a control that owns the key.

import { VOTE_KEYS } from "./vote.js";

const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const PRESSABLE = "button, a, summary, input, select";

/** @param {{clock: () => import("../viewer/clock.js").Clock | undefined, vote: (vote: string) => void}} page */
export function listenToKeys(page) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.(TYPING)) return;
    const act = action(event, page);
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

function action({ key, target }, page) {
  if (key in VOTE_KEYS) return () => page.vote(VOTE_KEYS[key]);
  const clock = page.clock();
  if (!clock) return null;
  if (key === " " && !target.closest?.(PRESSABLE)) return () => clock.toggle();
  return {
    ArrowLeft: () => clock.step(-1),
    ArrowRight: () => clock.step(1),
    Home: () => clock.seek(0),
    End: () => clock.seek(clock.duration),
  }[key];
}
