// The viewer's keys, in the order of the help sheet.

import { gettext } from "../core/i18n.js";

/** @param {import("./tools.js").Tools} tools @returns {import("../core/shortcuts.js").Shortcut[]} */
export const viewerShortcuts = (tools) => [
  { keys: [" "], label: () => gettext("Play or pause"), act: () => tools.transport.act("toggle"), quiet: true },
  { keys: ["ArrowLeft"], label: () => gettext("One step back"), act: () => tools.transport.act("back") },
  { keys: ["ArrowRight"], label: () => gettext("One step forward"), act: () => tools.transport.act("forward") },
  { keys: ["Home"], label: () => gettext("To the start"), act: () => tools.transport.act("start") },
  { keys: ["End", "e"], label: () => gettext("To the end"), act: () => tools.transport.act("end") },
  { keys: [","], label: () => gettext("Slower"), act: () => tools.transport.act("slower") },
  { keys: ["."], label: () => gettext("Faster"), act: () => tools.transport.act("faster") },
  { keys: ["l"], label: () => gettext("Repeat"), act: () => tools.transport.act("loop") },
  { keys: ["t"], label: () => gettext("To the first touch"), act: () => tools.transport.jump("touch") },
  { keys: ["g"], label: () => gettext("To the first grasp"), act: () => tools.transport.jump("grasp") },
  { keys: ["d"], label: () => gettext("To where the sides diverge"), act: () => tools.transport.jump("divergence") },
  { keys: ["c"], label: () => gettext("Next camera"), act: () => tools.viewpoints.act("camera") },
  { keys: ["k"], label: () => gettext("Turn both views together, or each on its own"), act: () => tools.viewpoints.act("link") },
  { keys: ["v"], label: () => gettext("Side by side, or one at a time"), act: () => tools.viewpoints.act("layout") },
  { keys: ["q"], label: () => gettext("Picture quality: automatic, full or coarse"), act: () => tools.viewpoints.act("quality") },
  { keys: ["f"], label: () => gettext("Full screen"), act: () => tools.viewpoints.act("fullscreen") },
  { keys: ["o"], label: () => gettext("What is drawn over the views"), act: () => tools.viewpoints.act("overlays") },
  { keys: ["p"], label: () => gettext("Curves and physics"), act: () => tools.insight.toggle() },
  { keys: ["y"], label: () => gettext("Check the recording yourself"), act: () => tools.insight.check() },
  { keys: ["i"], label: () => gettext("Save a picture"), act: () => tools.saveImage() },
  { keys: ["w"], label: () => gettext("Save a clip, or stop recording"), act: () => tools.saveClip() },
];
