// The viewer's keys, in the order of the help sheet.

import { gettext } from "../i18n.js";

/**
 * @typedef {{keys: string[], label: () => string, act: (tools: import("./tools.js").Tools) => void, quiet?: boolean}} Shortcut
 *   `keys` as KeyboardEvent.key says them; `quiet`: left to a button or link that has the focus
 */

/** @type {Shortcut[]} */
export const VIEWER_SHORTCUTS = [
  { keys: [" "], label: () => gettext("Play or pause"), act: (tools) => tools.transport.act("toggle"), quiet: true },
  { keys: ["ArrowLeft"], label: () => gettext("One step back"), act: (tools) => tools.transport.act("back") },
  { keys: ["ArrowRight"], label: () => gettext("One step on"), act: (tools) => tools.transport.act("forward") },
  { keys: ["Home"], label: () => gettext("To the start"), act: (tools) => tools.transport.act("start") },
  { keys: ["End", "e"], label: () => gettext("To the end"), act: (tools) => tools.transport.act("end") },
  { keys: [","], label: () => gettext("Slower"), act: (tools) => tools.transport.act("slower") },
  { keys: ["."], label: () => gettext("Faster"), act: (tools) => tools.transport.act("faster") },
  { keys: ["l"], label: () => gettext("Repeat"), act: (tools) => tools.transport.act("loop") },
  { keys: ["t"], label: () => gettext("To the first touch"), act: (tools) => tools.transport.jump("touch") },
  { keys: ["g"], label: () => gettext("To the first grasp"), act: (tools) => tools.transport.jump("grasp") },
  { keys: ["d"], label: () => gettext("To where the sides part"), act: (tools) => tools.transport.jump("divergence") },
  { keys: ["c"], label: () => gettext("Next camera"), act: (tools) => tools.viewpoints.act("camera") },
  { keys: ["k"], label: () => gettext("Turn both pictures together, or each alone"), act: (tools) => tools.viewpoints.act("link") },
  { keys: ["v"], label: () => gettext("Side by side, or one at a time"), act: (tools) => tools.viewpoints.act("layout") },
  { keys: ["f"], label: () => gettext("Full screen"), act: (tools) => tools.viewpoints.act("fullscreen") },
  { keys: ["o"], label: () => gettext("What is drawn over the pictures"), act: (tools) => tools.viewpoints.act("overlays") },
  { keys: ["p"], label: () => gettext("Curves and physics"), act: (tools) => tools.insight.toggle() },
  { keys: ["y"], label: () => gettext("Check the record yourself"), act: (tools) => tools.insight.check() },
  { keys: ["i"], label: () => gettext("Save a picture"), act: (tools) => tools.saveImage() },
  { keys: ["w"], label: () => gettext("Save a clip, or stop filming"), act: (tools) => tools.saveClip() },
  { keys: ["?"], label: () => gettext("This list"), act: (tools) => tools.showHelp() },
];

/** The shortcut of a key, or undefined. */
export function viewerShortcut(key) {
  return VIEWER_SHORTCUTS.find(({ keys }) => keys.includes(key) || keys.includes(key.toLowerCase()));
}

const CAPS = { " ": () => gettext("space"), ArrowLeft: () => "←", ArrowRight: () => "→" };

/** @param {HTMLElement} list a `dl` @param {{keys: string[], label: () => string}[]} shortcuts */
export function listShortcuts(list, shortcuts) {
  list.replaceChildren(
    ...shortcuts.flatMap(({ keys, label }) => {
      const term = document.createElement("dt");
      term.append(...keys.map((key) => Object.assign(document.createElement("kbd"), { textContent: capOf(key) })));
      return [term, Object.assign(document.createElement("dd"), { textContent: label() })];
    }),
  );
}

const capOf = (key) => CAPS[key]?.() ?? (key.length === 1 ? key.toUpperCase() : key);
