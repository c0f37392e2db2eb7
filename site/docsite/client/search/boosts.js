// @ts-check
// Boosts: factors on documents that were found, for the company that they keep and for their age.

import { MS_A_DAY } from "./facets.js";
import { inOrder } from "./rank.js";
/** @import { Facets } from "./facets.js" */
/** @import { Ranked } from "./rank.js" */

/**
 * @typedef {{kind: "community" | "recency", seeds: number, factor: number, tiers: [number, number][]}} Boost
 */

/**
 * The documents in their order once each boost has been given, one after the other.
 * @param {Ranked[]} ranked
 * @param {Boost[]} boosts
 * @param {Facets} facets
 * @param {Date} now
 * @returns {Ranked[]}
 */
export function boosted(ranked, boosts, facets, now) {
  for (const boost of boosts) {
    const factor =
      boost.kind === "community" ? inCommunities(ranked, boost, facets) : lately(boost, facets, now);
    ranked = inOrder(ranked.map((each, at) => times(each, factor(each.document, at))));
  }
  return ranked;
}

/**
 * @param {Ranked} ranked
 * @param {number} factor
 * @returns {Ranked}
 */
function times(ranked, factor) {
  return { ...ranked, score: ranked.score * factor, boost: ranked.boost * factor };
}

/**
 * A factor for documents in the communities of the best ones, which get none themselves.
 * @param {Ranked[]} ranked
 * @param {Boost} boost
 * @param {Facets} facets
 * @returns {(document: number, at: number) => number}
 */
function inCommunities(ranked, { seeds, factor }, facets) {
  const communities = new Set(
    ranked.slice(0, seeds).flatMap(({ document }) => Array.from(facets.of.community(document))),
  );
  return (document, at) =>
    at >= seeds && Array.from(facets.of.community(document)).some((each) => communities.has(each))
      ? factor
      : 1;
}

/**
 * The factor of the first tier whose days a document's age does not pass; none without a date, or with one to
 * come.
 * @param {Boost} boost
 * @param {Facets} facets
 * @param {Date} now
 * @returns {(document: number) => number}
 */
function lately({ tiers }, facets, now) {
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / MS_A_DAY + 1;
  return (document) => {
    const age = today - facets.days[document];
    return facets.days[document] && age >= 0 ? (tiers.find(([days]) => age <= days) || [0, 1])[1] : 1;
  };
}
