// @ts-check
// Starts the search of a site that something else built; a page may name the script twice.

import { reader } from "../reader/reader.js";
import { defineSearchElement } from "./element.js";

if (!customElements.get("noctule-search")) {
  window.noctuleReader = reader;
  defineSearchElement();
}
