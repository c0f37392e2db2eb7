// @ts-check
// Fusion: what matches of words count beside the meaning, and places in the lists in place of scores.

import { leastOfBest } from "./accumulators.js";
/** @import { Question } from "./rank.js" */
/** @import { Manifest } from "./manifest.js" */
/** @import { Passage } from "./rank.js" */
/** @import { PostingList } from "./postings.js" */
/** @import { Accumulators } from "./accumulators.js" */

/**
 * The best passages by words and by meaning, each with what its ranks come to (Cormack, Clarke, Buettcher
 * 2009). One by the meaning of its document alone stands for that document.
 * @param {Accumulators} sums
 * @param {Float64Array} alone
 * @param {Manifest} manifest
 * @returns {Map<number, Passage[]>}
 */
export function fusedByRank(sums, alone, manifest) {
  const { candidates, keyword, passage, document, rrf_k: k } = manifest.ranking;
  const count = sums.own.length;
  const owner = ownersOf(sums);
  const allowed = (/** @type {number} */ at) => at >= count || !sums.banned[at];
  const words = orderOf(sums.keyword, candidates).filter(allowed);
  const near = manifest.dimensions ? orderOf(alone, candidates).filter(allowed) : [];
  const around = (/** @type {number} */ at) => sums.around[owner[at]];
  const found = Array.from(new Set([...words, ...near])).sort((a, b) => around(b) - around(a) || a - b);
  const parts = new Map(found.map((at) => [at, { keyword: 0, semantic: 0 }]));
  const give =
    (/** @type {"keyword" | "semantic"} */ part, /** @type {number} */ weight) =>
    (/** @type {number} */ at, /** @type {number} */ i) => {
      const own = parts.get(at);
      if (own) own[part] += weight / ((k || 0) + i + 1);
    };
  words.forEach(give("keyword", keyword));
  near.forEach(give("semantic", passage));
  if (manifest.dimensions) found.filter((at) => around(at) > 0).forEach(give("semantic", document));
  /** @type {Map<number, Passage[]>} */
  const bySlot = new Map();
  for (const [at, own] of parts) {
    const slot = owner[at];
    const ordinal = at < count ? at - sums.starts[slot] : -1;
    const list = bySlot.get(slot) || [];
    list.push({ ordinal, score: own.keyword + own.semantic, ...own, chance: 1 });
    bySlot.set(slot, list);
  }
  return bySlot;
}

/**
 * The document of every passage, and after them of every document.
 * @param {Accumulators} sums
 */
function ownersOf({ starts, documents, own }) {
  const found = new Int32Array(own.length + documents.length);
  for (let slot = 0; slot < documents.length; slot++) {
    found.fill(slot, starts[slot], starts[slot + 1]);
    found[own.length + slot] = slot;
  }
  return found;
}

/**
 * The places of the highest values above 0, highest first.
 * @param {Float64Array} values
 * @param {number} count
 */
function orderOf(values, count) {
  const least = leastOfBest(values, count);
  return Array.from(values.keys())
    .filter((at) => values[at] >= least)
    .sort((a, b) => values[b] - values[a] || a - b)
    .slice(0, count);
}

/**
 * What the best match of words counts beside the meaning: the share that known words have of what the
 * question could score, as the scores say nothing of the others, and less in a small collection.
 * @param {Question} question
 * @param {Manifest} manifest
 */
export function worthOfWords({ asked, unknown }, manifest) {
  const most = (/** @type {PostingList} */ { levels }) => levels.impact.at(-1) || 0;
  const known = asked.reduce((sum, { lists, weight }) => sum + weight * Math.max(0, ...lists.map(most)), 0);
  return known ? (manifest.credibility * known) / (known + unknown * manifest.idf(0)) : 1;
}
