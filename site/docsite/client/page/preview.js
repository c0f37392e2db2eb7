// @ts-check
// Shows title and summary of a linked page beside the pointer or the focus, before the link is followed.

import { reader } from "../reader/reader.js";

export function showPreviews() {
  const count = Number(document.documentElement.dataset.previews || 0);
  const OPEN_AFTER = 350;
  const CLOSE_AFTER = 200;
  /** @type {Map<string, [string, string]>} */
  const known = new Map();
  const content = document.querySelector("main");
  let timer = 0;
  /** @type {HTMLElement | null} */
  let box = null;
  /** @type {HTMLAnchorElement | null} */
  let shownFor = null;

  window.noctulePreviews = (table) => {
    for (const [page, preview] of Object.entries(table)) known.set(page, preview);
  };

  /** @param {string} address @returns {number} FNV-1a, as in noctule.docsite.pages.previews */
  function shardOf(address) {
    let state = 0x811c9dc5;
    for (let i = 0; i < address.length; i++) {
      state = Math.imul(state ^ address.charCodeAt(i), 0x01000193) >>> 0;
    }
    return state % count;
  }

  /**
   * @param {HTMLAnchorElement} link
   * @returns {string} the page's address below the site; nothing for other links
   */
  function pageOf(link) {
    const address = link.href.split("#")[0].split("?")[0];
    const here = window.location.href.split("#")[0].split("?")[0];
    if (!address.startsWith(reader.root) || address === here) return "";
    const page = address.slice(reader.root.length);
    return page === "" || page.endsWith("/") ? `${page}index.html` : page;
  }

  /** @param {HTMLAnchorElement} link @returns {Promise<[string, string] | undefined>} */
  async function previewOf(link) {
    const note =
      (link.closest("sup") || link.matches(".annotation")) &&
      document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (note) return ["", (note.textContent || "").trim()];
    const page = pageOf(link);
    if (!page.endsWith(".html")) return undefined;
    if (!known.has(page)) await reader.load(`_previews/${shardOf(page)}.js`);
    return known.get(page);
  }

  /** @param {HTMLElement} shown @param {DOMRect} at */
  function place(shown, at) {
    const below = at.bottom + 8 + shown.offsetHeight < window.innerHeight;
    const left = Math.min(Math.max(8, at.left), window.innerWidth - shown.offsetWidth - 8);
    shown.style.left = `${left + window.scrollX}px`;
    const top = below ? at.bottom + 8 : Math.max(8, at.top - 8 - shown.offsetHeight);
    shown.style.top = `${top + window.scrollY}px`;
  }

  /** @param {HTMLAnchorElement} link */
  async function open(link) {
    const preview = await previewOf(link).catch(() => undefined);
    if (shownFor !== link || !preview || !(preview[0] || preview[1])) return;
    box?.remove();
    const parts = [];
    if (preview[0]) parts.push(reader.element("p", { class: "preview-title", dir: "auto" }, preview[0]));
    if (preview[1]) parts.push(reader.element("p", { dir: "auto" }, preview[1]));
    box = reader.element("div", { class: "preview", role: "tooltip", id: "Preview" }, ...parts);
    box.addEventListener("pointerenter", stay);
    box.addEventListener("pointerleave", closeSoon);
    content?.append(box);
    link.setAttribute("aria-describedby", "Preview");
    place(box, link.getBoundingClientRect());
  }

  function close() {
    window.clearTimeout(timer);
    shownFor?.removeAttribute("aria-describedby");
    box?.remove();
    box = shownFor = null;
  }

  function closeSoon() {
    window.clearTimeout(timer);
    timer = window.setTimeout(close, CLOSE_AFTER);
  }

  /** A link that the pointer comes back to keeps its box. */
  function stay() {
    if (box) window.clearTimeout(timer);
  }

  /** @param {Event} event */
  function begin(event) {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    if (link === shownFor && box) return stay();
    close();
    shownFor = link;
    timer = window.setTimeout(() => open(link), OPEN_AFTER);
  }

  if (!content || !count) return;
  content.addEventListener("pointerover", (event) => {
    // A finger has no way to point without following.
    if (event.pointerType !== "touch") begin(event);
  });
  content.addEventListener("pointerout", closeSoon);
  content.addEventListener("focusin", begin);
  content.addEventListener("focusout", closeSoon);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
}
