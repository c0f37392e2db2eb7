// @ts-check
// <noctule-search>: a button that opens the search dialog, in a shadow of its own, for sites that something
// else built.

import { reader } from "../reader/reader.js";

export function defineSearchElement() {
  const script =
    document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : window.location.href;
  const here = new URL("./", script).href;
  const apple = /Mac|iPhone|iPad/.test(navigator.platform);
  const EDITABLE = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

  // All files lie in one folder, the pages beside it.
  reader.root = new URL("../", here).href;
  reader.address = (path) => new URL(path.replace(/^_(assets|search)\//, ""), here).href;
  reader.parameter = "noctule";

  class NoctuleSearch extends HTMLElement {
    /** @type {HTMLButtonElement | null} */
    #button = null;
    /** @type {Promise<void> | null} */
    #styled = null;

    connectedCallback() {
      if (this.shadowRoot) return;
      const root = this.attachShadow({ mode: "open" });
      const style = /** @type {HTMLLinkElement} */ (
        reader.element("link", { rel: "stylesheet", href: reader.address("search.css") })
      );
      this.#styled = new Promise((resolve) => {
        style.onload = style.onerror = () => resolve();
      });
      const label = this.getAttribute("label") || reader.say("text", "search");
      const keys = reader.element("kbd", { "aria-hidden": "true" }, apple ? "⌘ K" : "Ctrl K");
      const attributes = {
        type: "button",
        part: "button",
        class: "open-search",
        "aria-haspopup": "dialog",
        "aria-keyshortcuts": "Control+K Meta+K /",
      };
      this.#button = /** @type {HTMLButtonElement} */ (reader.element("button", attributes, label, keys));
      this.#button.addEventListener("click", () => this.open(""));
      root.append(style, this.#button);
    }

    /**
     * Opens the dialog, and asks for `query` if there is one.
     * @param {string} query
     * @param {HTMLElement | null} [back]
     * @returns {void}
     */
    open(query, back = this.#button) {
      if (!this.shadowRoot || (reader.host && reader.host !== this.shadowRoot))
        return first()?.open(query, back);
      reader.host = this.shadowRoot;
      Promise.all([reader.load("dialog.js"), this.#styled]).then(
        () => reader.openDialog(query, back),
        () => this.#button?.setAttribute("title", reader.say("dialog", "failed")),
      );
    }
  }

  /** The element whose shadow has the dialog. @returns {NoctuleSearch | null} */
  function first() {
    const found = reader.host ? reader.host.host : document.querySelector("noctule-search");
    return found instanceof NoctuleSearch ? found : null;
  }

  /** The element that the event happened in, inside shadows too. @param {KeyboardEvent} event */
  function origin(event) {
    const [inner] = event.composedPath();
    return inner instanceof Element ? inner : null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const chord =
      (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!(chord || (slash && !origin(event)?.closest(EDITABLE))) || document.querySelector("dialog[open]"))
      return;
    const dialog = reader.host?.querySelector("dialog");
    if (dialog?.open) return;
    event.preventDefault();
    const selected = (window.getSelection()?.toString() || "").trim();
    first()?.open(chord && selected.length < 80 ? selected : "");
  });

  function start() {
    customElements.define("noctule-search", NoctuleSearch);
    // A page without the element gets one in its corner.
    if (!document.querySelector("noctule-search"))
      document.body.append(reader.element("noctule-search", { floating: true }));
    const asked = new URLSearchParams(window.location.search).get("noctule");
    if (asked) first()?.open(asked);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start, { once: true });
  else start();
}
