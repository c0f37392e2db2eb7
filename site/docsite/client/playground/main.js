// @ts-check
// Starts the playground on the page that has a place for it.

import { compareWeights } from "./compare.js";

const place = document.getElementById("Playground");
if (place) compareWeights(place);
