// The script of the battle page. The home page loads it, too, for what acts there: engine and viewer are fetched once.

import { BattlePage } from "../core/page.js";
import { RobotApi } from "./api.js";
import { debugHandle } from "./debug.js";
import { RobotKind } from "./kind.js";

export { act } from "./act.js";

const root = document.querySelector("#battle");
if (root instanceof HTMLElement) open(root);

/** @param {HTMLElement} root of the battle page */
function open(root) {
  const api = new RobotApi(root.dataset.api ?? "/api/");
  const kind = new RobotKind(root, api);
  const page = new BattlePage(root, api, kind);
  Object.assign(window, { vlaArena: debugHandle(page, kind.stage) });
  page.start();
}
