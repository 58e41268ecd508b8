import { BattlePage } from "../core/page.js";
import { RobotApi } from "./api.js";
import { debugHandle } from "./debug.js";
import { RobotKind } from "./kind.js";

const root = /** @type {HTMLElement} */ (document.querySelector("#battle"));
const api = new RobotApi(root.dataset.api ?? "/api/");
const kind = new RobotKind(root, api);
const page = new BattlePage(root, api, kind);
Object.assign(window, { vlaArena: debugHandle(page, kind.stage) });
page.start();
