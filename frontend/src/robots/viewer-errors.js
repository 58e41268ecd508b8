// Sentences on why the viewers show nothing, and what can be done.

import { ApiError } from "../core/api.js";
import { gettext } from "../core/i18n.js";
import { explainError } from "../core/words.js";
import { MissingFile } from "../viewer/runtime.js";
import { NoWebGL } from "../viewer/renderer.js";

export class NoWebAssembly extends Error {}

/** Whether a retry may help: a feature that the browser lacks stays missing. @param {unknown} error */
export function maySucceedAgain(error) {
  return !(error instanceof NoWebGL || error instanceof NoWebAssembly);
}

/** @param {unknown} error */
export function whyNoPictures(error) {
  if (error instanceof NoWebGL) {
    return gettext(
      "This browser cannot show 3-D graphics (WebGL is off). Turn on hardware acceleration or open this page in another browser.",
    );
  }
  if (error instanceof NoWebAssembly) {
    return gettext(
      "This browser cannot run the physics engine (WebAssembly is off). Allow it for this page or open the page in another browser.",
    );
  }
  if (error instanceof ApiError) return gettext("The scene could not be loaded. %(reason)s", { reason: explainError(error) });
  if (error instanceof MissingFile) {
    return gettext("A part of the scene could not be loaded (%(file)s). Check the connection and try again.", { file: error.message });
  }
  return gettext("The physics engine could not be started (%(reason)s). If trying again does not help, use another browser.", {
    reason: error instanceof Error ? error.message : String(error),
  });
}
