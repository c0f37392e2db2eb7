// @ts-check
// The menu of versions: those that lie beside this one, as the last of their builds listed them.

import { reader } from "../reader/reader.js";

export function offerVersions() {
  const menu = document.querySelector("[data-version]");
  if (!(menu instanceof HTMLElement)) return;
  const here = menu.dataset.version || "";
  const page = window.location.href.split(/[?#]/)[0].slice(reader.root.length) || "index.html";
  const front = (/** @type {string} */ name) => reader.address(`../${encodeURIComponent(name)}/index.html`);
  const same = (/** @type {string} */ name) => reader.address(`../${encodeURIComponent(name)}/${page}`);

  /** The same page of another version if there is one, else its front page; a disk cannot be asked. */
  async function lead(/** @type {MouseEvent} */ event, /** @type {string} */ name) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !/^http/.test(window.location.protocol)) return;
    event.preventDefault();
    const found = await fetch(same(name), { method: "HEAD" }).then(
      (answer) => answer.ok,
      () => false,
    );
    window.location.href = found ? same(name) : front(name);
  }

  /** @param {string} name @param {string} text @param {boolean} current */
  function link(name, text, current) {
    const made = reader.element("a", { href: front(name), "aria-current": current ? "true" : null }, text);
    made.addEventListener("click", (event) => lead(/** @type {MouseEvent} */ (event), name));
    return made;
  }

  function show() {
    const known = window.noctuleVersions || [];
    const items = known.map(({ version, title, aliases }) => {
      const text = aliases.length ? `${title} (${aliases.join(", ")})` : title;
      return reader.element("li", {}, link(version, text, version === here));
    });
    if (items.length) menu?.querySelector("ul")?.replaceChildren(...items);
    const latest = known.find(({ aliases }) => aliases.includes("latest"));
    if (latest && latest.version !== here && known.some(({ version }) => version === here))
      note(latest.title);
  }

  /** @param {string} latest */
  function note(latest) {
    const words = reader.say("page", "other_version", { version: here, latest });
    const way = link("latest", reader.say("page", "read_latest"), false);
    // Below everything, where it moves no text.
    document.body.append(reader.element("p", { class: "version-note" }, `${words} `, way));
  }

  reader.load("../versions.js").then(show, () => {});
}
