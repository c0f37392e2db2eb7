// @ts-check
// The dialog's elements: a combobox with its list of results (the pattern of the ARIA guide) in a native
// dialog.

import { reader } from "../reader/published.js";

const element = reader.element;
/** @param {string} key */
const say = (key) => reader.say("dialog", key);
const timers = new WeakMap();

/**
 * Two regions take turns, and each is emptied first: a screen reader then says the same words again.
 * @param {HTMLElement} region
 * @param {string} text
 */
export function announce(region, text) {
  const [first, second] = region.children;
  const [from, to] = first.textContent ? [first, second] : [second, first];
  window.clearTimeout(timers.get(region));
  from.textContent = "";
  timers.set(
    region,
    window.setTimeout(() => (to.textContent = text), 100),
  );
}

function input() {
  const attributes = {
    type: "search",
    class: "search-input",
    role: "combobox",
    dir: "auto",
    id: "SearchInput",
    "aria-label": say("input"),
    "aria-autocomplete": "list",
    "aria-controls": "SearchList",
    "aria-expanded": "false",
    autocomplete: "off",
    autocorrect: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    placeholder: say("placeholder"),
    maxlength: "300",
  };
  return /** @type {HTMLInputElement} */ (element("input", attributes));
}

/** @param {string} keys @param {string} what */
function hint(keys, what) {
  return element("span", { class: "search-key" }, element("kbd", {}, keys), ` ${say(what)}`);
}

/** @returns {DialogParts} */
export function buildDialog() {
  const header = document.querySelector(".site-header");
  const field = input();
  const close = element("button", { type: "button", class: "search-close" }, say("cancel"));
  const facets = element("div", { class: "search-facets", role: "group", "aria-label": say("filters") });
  const state = element("div", { class: "search-state" });
  const list = element("div", {
    id: "SearchList",
    class: "search-list",
    role: "listbox",
    "aria-label": say("results"),
  });
  const scroll = element(
    "div",
    { class: "search-scroll", tabindex: "0", role: "group", "aria-label": say("results") },
    state,
    list,
  );
  const count = element("p", { class: "search-count" });
  const why = element("button", { type: "button", class: "search-why", "aria-pressed": "false" }, say("why"));
  const keys = element(
    "p",
    { class: "search-keys", "aria-hidden": "true" },
    hint("↑ ↓", "keys_move"),
    hint("↵", "keys_open"),
    hint("esc", "keys_close"),
  );
  const live = element(
    "div",
    { class: "visually-hidden", role: "status", id: "SearchLive" },
    element("div"),
    element("div"),
  );
  const dialog = /** @type {HTMLDialogElement} */ (
    element(
      "dialog",
      {
        class: "search-dialog",
        id: "SearchDialog",
        "aria-label": say("label"),
        lang: header?.getAttribute("lang") || "en",
        dir: header?.getAttribute("dir") || "ltr",
      },
      element("div", { class: "search-bar" }, field, close),
      facets,
      scroll,
      element("div", { class: "search-foot" }, count, why, keys),
      live,
    )
  );
  (reader.host || document.body).append(dialog);
  return {
    dialog,
    input: field,
    list,
    facets,
    scroll,
    state,
    count,
    why: /** @type {HTMLButtonElement} */ (why),
    close: /** @type {HTMLButtonElement} */ (close),
  };
}
