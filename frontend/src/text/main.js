// The script of the page of text battles.

import { BattlePage } from "../core/page.js";
import { TextApi } from "./api.js";
import { TextKind } from "./kind.js";

const root = document.querySelector("#battle");
if (root instanceof HTMLElement) {
  const api = new TextApi(root.dataset.api ?? "/api/");
  new BattlePage(root, api, new TextKind(api)).start();
}
