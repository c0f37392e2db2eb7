// @ts-check
// The preview's script: the server puts it into each page it sends, and no file holds it.
(() => {
  "use strict";
  const own = /** @type {HTMLScriptElement} */ (document.currentScript);
  const place = `preview-scroll:${location.pathname}`;
  const css = `
    :host { all: initial; color-scheme: inherit; }
    section { position: fixed; inset: auto 0 0 0; max-height: 60vh; overflow: auto; z-index: 2147483647;
      box-sizing: border-box; padding: 1rem 1.25rem; font: 15px/1.5 system-ui, sans-serif;
      color: light-dark(#3b0d0c, #ffe9e7); background: light-dark(#fff1f0, #3a1513);
      border-top: 3px solid light-dark(#c0271f, #ff7b72); }
    h2 { margin: 0 0 .5rem; font-size: 1rem; }
    ol { margin: 0; padding-left: 1.25rem; } li + li { margin-top: .75rem; }
    code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; } p { margin: .15rem 0; }
    output { position: fixed; right: .75rem; bottom: .75rem; padding: .25rem .75rem; border-radius: 1rem;
      font: 13px/1.5 system-ui, sans-serif; color: light-dark(#1f2328, #f0f3f6);
      background: light-dark(#eceff2, #30363d); border: 1px solid light-dark(#8c959f, #6e7681); }
    [hidden] { display: none; }`;

  /** @param {string} name @param {string} text @param {Element} [into] */
  function put(name, text, into) {
    const made = document.createElement(name);
    made.textContent = text;
    into?.append(made);
    return made;
  }

  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  shadow.adoptedStyleSheets = [sheet];
  const overlay = document.createElement("section");
  overlay.setAttribute("role", "alert");
  overlay.setAttribute("aria-label", "Preview");
  overlay.hidden = true;
  const status = put("output", "building …");
  status.hidden = true;
  shadow.append(overlay, status);
  document.documentElement.append(host);

  /** @param {{what: string, where: string, line: number, hint: string}[]} problems */
  function show(problems) {
    overlay.replaceChildren();
    overlay.hidden = !problems.length;
    if (!problems.length) return;
    put("h2", "The page is as it was before this:", overlay);
    const list = put("ol", "", overlay);
    for (const problem of problems) {
      const item = put("li", "", list);
      put("p", problem.what, item);
      if (problem.where) put("code", problem.where + (problem.line ? `:${problem.line}` : ""), item);
      if (problem.hint) put("p", problem.hint, item);
    }
  }

  async function lookAgain() {
    const found = await fetch(location.pathname, { method: "HEAD", cache: "no-store" }).catch(() => null);
    const digest = found?.headers.get("X-Page-Digest");
    if (!digest || digest === own.dataset.digest) return;
    sessionStorage.setItem(place, String(scrollY));
    location.reload();
  }

  const kept = sessionStorage.getItem(place);
  if (kept !== null) {
    sessionStorage.removeItem(place);
    history.scrollRestoration = "manual";
    const back = () => scrollTo({ top: Number(kept), behavior: "instant" });
    back();
    addEventListener("load", () => {
      back();
      history.scrollRestoration = "auto";
    });
  }

  const events = new EventSource("/_live/events");
  events.addEventListener("message", (event) => {
    const state = JSON.parse(event.data);
    show(state.problems);
    status.hidden = !state.building;
    lookAgain();
  });
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  // What was saved since the site was built stands above the dialog's results, which know the older text.
  let asked = 0;
  /** @type {Set<string>} */
  let edited = new Set();
  const saved = document.createElement("div");
  saved.setAttribute("role", "group");
  saved.setAttribute("aria-label", "Saved just now");

  function dropOld() {
    for (const link of document.querySelectorAll("#SearchList a[href]")) {
      const path = new URL(/** @type {HTMLAnchorElement} */ (link).href).pathname;
      const group = link.closest(".hit-group") || link;
      /** @type {HTMLElement} */ (group).hidden = edited.has(path);
    }
  }

  /** @param {{title: string, section: string, url: string, excerpt: string}} hit */
  function hitLink(hit) {
    const link = document.createElement("a");
    link.className = "hit hit-page";
    link.href = hit.url;
    put("span", hit.title, link).className = "hit-title";
    put("span", hit.section || "saved just now", link).className = "hit-facts";
    put("span", hit.excerpt, link).className = "hit-excerpt";
    return link;
  }

  document.addEventListener("input", async (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const list = document.getElementById("SearchList");
    if (input.id !== "SearchInput" || !list) return;
    const turn = ++asked;
    const answer = await fetch(`/_live/search?q=${encodeURIComponent(input.value)}`).catch(() => null);
    if (!answer?.ok || turn !== asked) return;
    const found = await answer.json();
    edited = new Set(found.pages);
    saved.replaceChildren(...found.hits.map(hitLink));
    list.before(saved);
    dropOld();
    new MutationObserver(dropOld).observe(list, { childList: true });
  });
})();
