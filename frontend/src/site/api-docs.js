// What Swagger UI lacks: it follows the site's switch of light and dark, and names what it leaves without a name.

import { gettext } from "../core/i18n.js";

const root = document.documentElement;
const device = matchMedia("(prefers-color-scheme: dark)");

function follow() {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme === "dark" || (theme !== "light" && device.matches));
}

follow();
device.addEventListener("change", follow);
document.addEventListener("themechange", follow);

/** @param {Element} part */
function nameOf(part) {
  const parameter = part.closest("[data-param-name]")?.getAttribute("data-param-name");
  return parameter ?? gettext("Body of the request");
}

function complete() {
  for (const field of document.querySelectorAll("#swagger-ui :is(textarea, select, input):not([aria-label])"))
    field.setAttribute("aria-label", nameOf(field));
  // One of these per call: as landmarks they would all have the same name.
  for (const table of document.querySelectorAll("#swagger-ui table[role=region]")) table.removeAttribute("role");
  for (const text of document.querySelectorAll("#swagger-ui pre:not([tabindex])")) text.setAttribute("tabindex", "0");
}

const page = document.getElementById("swagger-ui");
if (page) new MutationObserver(complete).observe(page, { childList: true, subtree: true });
