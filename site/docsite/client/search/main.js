// @ts-check
// What the engine's script defines: `noctule.open` for pages, and `noctule.part`, which the files of an index
// call.

import { open } from "./engine.js";
import { part } from "./parts.js";

window.noctule = Object.assign(window.noctule || {}, { open, part });
