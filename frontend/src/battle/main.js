import { Api } from "./api.js";
import { debugHandle } from "./debug.js";
import { BattlePage } from "./page.js";

const root = document.querySelector("#battle");
const page = new BattlePage(root, new Api(root.dataset.api));
window.vlaArena = debugHandle(page);
page.start();
