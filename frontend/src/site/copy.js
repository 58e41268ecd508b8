// Buttons that copy the text of a field.

/** @param {ParentNode} root */
export function enableCopying(root) {
  for (const button of root.querySelectorAll("button[data-copies]")) {
    if (button instanceof HTMLButtonElement) button.addEventListener("click", () => copy(button));
  }
}

/** @param {HTMLButtonElement} button */
async function copy(button) {
  const field = document.getElementById(button.dataset.copies ?? "");
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = button.dataset.said ?? "";
  } catch {
    field.focus(); // Browsers deny the clipboard to pages without HTTPS; what is selected can be copied by hand.
  }
}
