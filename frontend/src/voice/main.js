// The script of the page of voice battles.

import { BattlePage } from "../core/page.js";
import { VoiceApi } from "./api.js";
import { VoiceKind } from "./kind.js";

const root = document.querySelector("#battle");
if (root instanceof HTMLElement) {
  const api = new VoiceApi(root.dataset.api ?? "/api/");
  new BattlePage(root, api, new VoiceKind(api, root.dataset)).start();
}
