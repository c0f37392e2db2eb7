// @ts-check
// Pages that are folders: opened from a disk their links need the name of the file, from a server none does.

import { reader } from "../reader/reader.js";

const FILE = "index.html";

export function nameFolders() {
  if (document.documentElement.dataset.folders === undefined) return;
  const { protocol, origin, pathname, search, hash } = window.location;
  if (protocol === "file:") document.querySelectorAll("a[href]").forEach(nameFile);
  else if (pathname.endsWith(`/${FILE}`))
    window.history.replaceState(
      window.history.state,
      "",
      origin + pathname.slice(0, -FILE.length) + search + hash,
    );
}

/** @param {Element} link */
function nameFile(link) {
  const url = new URL(link.getAttribute("href") || "", window.location.href);
  if (!url.href.startsWith(reader.root) || !url.pathname.endsWith("/")) return;
  url.pathname += FILE;
  link.setAttribute("href", url.href);
}
