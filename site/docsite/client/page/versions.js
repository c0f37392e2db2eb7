// @ts-check
// The menu of versions: those that lie beside this one, as the last of their builds listed them.

import { reader } from "../reader/reader.js";

export function offerVersions() {
  const menu = document.querySelector("[data-version]");
  if (!(menu instanceof HTMLElement)) return;
  const here = menu.dataset.version || "";
  const path = window.location.href.split(/[?#]/)[0].slice(reader.root.length);
  const page = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  const front = (/** @type {string} */ name) => reader.address(`../${encodeURIComponent(name)}/index.html`);
  const same = (/** @type {string} */ name) => reader.address(`../${encodeURIComponent(name)}/${page}`);

  /**
   * The same page of another version if its list has one, else its front page.
   * @param {MouseEvent} event
   * @param {string} name
   * @param {string} version
   */
  function lead(event, name, version) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const go = () => {
      const pages = (window.noctulePages || {})[version] || [];
      window.location.href = pages.includes(decodeURIComponent(page)) ? same(name) : front(name);
    };
    reader.load(`../pages-${encodeURIComponent(version)}.js`).then(go, go);
  }

  /** @param {string} name @param {string} version @param {string} text */
  function link(name, version, text) {
    const current = name === here;
    const made = reader.element("a", { href: front(name), "aria-current": current ? "true" : null }, text);
    made.addEventListener("click", (event) => lead(/** @type {MouseEvent} */ (event), name, version));
    return made;
  }

  function show() {
    const known = window.noctuleVersions || [];
    const items = known.map(({ version, title, aliases }) => {
      const text = aliases.length ? `${title} (${aliases.join(", ")})` : title;
      return reader.element("li", {}, link(version, version, text));
    });
    if (items.length) menu?.querySelector("ul")?.replaceChildren(...items);
    const latest = known.find(({ aliases }) => aliases.includes("latest"));
    if (latest && latest.version !== here && known.some(({ version }) => version === here)) note(latest);
  }

  /** @param {{ version: string, title: string }} latest */
  function note(latest) {
    const words = reader.say("page", "other_version", { version: here, latest: latest.title });
    const way = link("latest", latest.version, reader.say("page", "read_latest"));
    // Below everything, where it moves no text.
    document.body.append(reader.element("p", { class: "version-note" }, `${words} `, way));
  }

  reader.load("../versions.js").then(show, () => {});
}
