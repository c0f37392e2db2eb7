// @ts-check
// The search engine, loaded the first time it is needed; an engine that cannot be loaded is tried again
// later.

import { reader } from "../reader/published.js";
import { Several, otherSites } from "./several.js";

/** @type {Promise<SearchEngine> | null} */
let opened = null;

/** @returns {Promise<SearchEngine>} */
async function open() {
  try {
    await reader.load("_search/engine.js");
  } catch (error) {
    throw Object.assign(/** @type {Error} */ (error), { code: "missing" });
  }
  if (!window.noctule) throw Object.assign(new Error("no search engine"), { code: "damaged" });
  const own = await window.noctule.open({ base: reader.address("_search/") });
  return otherSites().length ? new Several(own, otherSites()) : own;
}

/** @returns {Promise<SearchEngine>} */
export function engine() {
  opened = opened || open();
  opened.catch(() => {
    opened = null;
  });
  return opened;
}

export function forgetEngine() {
  opened = null;
}
