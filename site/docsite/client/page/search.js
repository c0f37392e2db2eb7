// @ts-check
// Opens the search dialog, whose scripts are loaded the first time: a page that nobody searches on pays
// nothing.

import { reader } from "../reader/reader.js";

export function offerSearch() {
  const button = document.querySelector("[data-search]");
  if (!(button instanceof HTMLAnchorElement)) return;
  const apple = /Mac|iPhone|iPad/.test(navigator.platform);
  const EDITABLE = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

  /** @returns {Promise<void>} */
  function ready() {
    if (!document.querySelector("link[data-dialog]")) {
      const style = reader.element("link", {
        rel: "stylesheet",
        href: reader.address("_assets/dialog.css"),
        "data-dialog": true,
      });
      document.head.append(style);
    }
    return reader.load("_assets/dialog.js");
  }

  /**
   * @param {string} query
   * @param {HTMLElement | null} from
   */
  function open(query, from) {
    ready().then(
      () => reader.openDialog(query, from),
      () => {
        // The list of words needs no script.
        if (button instanceof HTMLAnchorElement) window.location.href = button.href;
      },
    );
  }

  button.setAttribute("role", "button");
  button.setAttribute("aria-haspopup", "dialog");
  button.setAttribute("aria-keyshortcuts", "Control+K Meta+K /");
  button.append(reader.element("kbd", { "aria-hidden": "true" }, apple ? "⌘ K" : "Ctrl K"));
  button.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open("", button);
  });
  button.addEventListener("keydown", (event) => {
    if (event.key === " ") {
      event.preventDefault();
      open("", button);
    }
  });
  button.addEventListener("pointerenter", ready, { once: true });

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const chord =
      (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    const typing = event.target instanceof Element && event.target.closest(EDITABLE);
    if (!(chord || (slash && !typing)) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const selected = (window.getSelection()?.toString() || "").trim();
    const back = focused && focused !== document.body && !focused.closest("dialog") ? focused : button;
    open(chord && selected.length < 80 ? selected : "", back);
  });

  if (document.modelContext) reader.load("_assets/agent.js").catch(() => {});
  const asked = new URLSearchParams(window.location.search).get("q");
  if (asked) open(asked, button);
}
