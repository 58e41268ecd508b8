// The leaderboard works without this. With it, sorting, searching and changing boards happen without leaving the page.

const PATIENCE = 250;
const PARTS = ["tabs", "board"];

const page = document.querySelector("[data-page=leaderboard]");
const form = page.querySelector("form");
let latest = 0;
let typing = null;

page.classList.add("enhanced");
form.addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  typing = setTimeout(() => show(addressOf(form)), target.type === "search" ? PATIENCE : 0);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  show(addressOf(form));
});
page.addEventListener("click", (event) => {
  const link = event.target.closest("[data-part=tabs] a, [data-part=board] a[href^='?'], a[data-sort]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(new URL(link.href), link.dataset.sort);
});

function addressOf(filters) {
  const address = new URL(location.href);
  const fields = new FormData(filters);
  for (const name of ["search", "organization", "family", "sort"]) {
    if (fields.get(name)) address.searchParams.set(name, fields.get(name));
    else address.searchParams.delete(name);
  }
  address.searchParams.delete("order");
  return address;
}

/** Takes the board out of the page that the address answers. The last wish wins. */
async function show(address, focusSort) {
  latest += 1;
  const wish = latest;
  part(page, "board").setAttribute("aria-busy", "true");
  const fresh = await fetchPage(address);
  if (wish !== latest) return;
  if (fresh === null) {
    location.assign(address);
    return;
  }
  for (const name of PARTS) part(page, name).replaceWith(part(fresh, name));
  syncForm(fresh.querySelector("form"));
  history.replaceState(null, "", address);
  part(page, "announce").textContent = `${page.querySelectorAll("[data-part=board] [data-model]").length} policies shown.`;
  if (focusSort) page.querySelector(`[data-sort=${focusSort}]`)?.focus();
}

async function fetchPage(address) {
  try {
    const response = await fetch(address);
    if (!response.ok) return null;
    const html = new DOMParser().parseFromString(await response.text(), "text/html");
    return html.querySelector("[data-page=leaderboard]");
  } catch {
    return null;
  }
}

/** The form stays, so that nobody's typing is lost; what a link changed is carried into it. */
function syncForm(fresh) {
  form.elements.sort.value = fresh.elements.sort.value;
  form.querySelectorAll("input[type=hidden]").forEach((field) => field.remove());
  form.prepend(...fresh.querySelectorAll("input[type=hidden]"));
  for (const name of ["search", "organization", "family"]) {
    if (document.activeElement !== form.elements[name]) form.elements[name].value = fresh.elements[name].value;
  }
}

function part(root, name) {
  return root.querySelector(`[data-part=${name}]`);
}
