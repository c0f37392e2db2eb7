// @ts-check
// Ranking: the scores of passages, the documents that they make, in order. Nothing here loads anything.

import { fusedByRank, worthOfWords } from "./fuse.js";
import { TermProducts, Accumulators, leastOfBest } from "./accumulators.js";
/** @import { Manifest } from "./manifest.js" */
/** @import { InvertedList, QueryPart } from "./semantic.js" */
/** @import { PostingList } from "./postings.js" */
/** @import { Term } from "./terms.js" */

/**
 * A term of a query with the postings that were loaded; of terms in one `group` a passage counts the best.
 * @typedef {{term: Term, lists: PostingList[], weight: number, group: number}} Asked
 *
 * What a query comes to: `unseen` is what its words mean that no document holds, and `unknown` how many they
 * are; `allowed` says which documents may be found; no hit may hold a term of `banned`.
 * @typedef {{asked: Asked[], unseen: QueryPart[], unknown: number, banned: PostingList[][],
 *   nearby: InvertedList[], allowed: ((document: number) => boolean) | null}} Question
 *
 * A passage with the chance that it is among the candidates.
 * @typedef {{ordinal: number, score: number, keyword: number, semantic: number, chance: number}} Passage
 *
 * A document, its passages best first, and what its score consists of.
 * @typedef {{document: number, score: number, links: number, support: number, boost: number,
 *   passages: Passage[]}} Ranked
 *
 * @typedef {{ranked: Ranked[], matching: Int32Array}} Ranks
 */

// A passage of several is not quite its document. Of what a word adds to the document's cosine it adds to
// that of a passage without it: so much on average where another passage holds it, where none does, and to
// the best of a document that holds none of the words. Measured on MDN.
const ELSEWHERE = 0.71;
const NOWHERE = 0.84;
const BEST_WITHOUT = 0.89;
// How sharply a passage's cosine, of which a part is guessed, tells whether it is among the candidates; from
// which chance on a passage is weighed at all, and from which on it can be the best of its document.
const CHANCE_WIDTH = 0.02;
const LEAST_CHANCE = 0.05;
const BEST_CHANCE = 0.5;
// A document is counted as a match from this share of the query's weight on.
const LEAST_SHARE = 0.5;

/**
 * The documents that answer a question best.
 * @param {Question} question
 * @param {Manifest} manifest
 * @returns {Ranks}
 */
export function rank(question, manifest) {
  const sums = new Accumulators(question, manifest);
  const products = new TermProducts(question, manifest);
  addWords(sums, question);
  addContributions(sums, question, products, manifest);
  ban(sums, question);
  const ranked =
    manifest.ranking.rrf_k === null
      ? documentsOf(sums, manifest, worthOfWords(question, manifest))
      : documentsByRank(sums, manifest);
  const semanticOnly = !question.asked.some(({ weight }) => weight);
  return {
    ranked,
    matching: semanticOnly ? Int32Array.from(ranked, ({ document }) => document) : matching(sums, question),
  };
}

/**
 * Adds up the scores of words.
 * @param {Accumulators} sums
 * @param {Question} question
 */
function addWords(sums, { asked }) {
  for (const { lists, weight, group } of asked) {
    const alone = asked.filter((other) => other.group === group).length === 1;
    if (!weight) for (const list of lists) sums.forEach(list, (_, place) => (sums.semanticOnly[place] = 1));
    if (!alone) continue;
    for (const list of lists) {
      sums.forEach(list, (_, place, row) => {
        sums.keyword[place] += weight * list.levels.impact[list.impacts[row]];
      });
    }
  }
  for (const group of new Set(asked.map((each) => each.group))) {
    const same = asked.filter((each) => each.group === group);
    addBest(sums, same);
  }
}

/**
 * Of several terms that stand for one word, each passage counts the best.
 * @param {Accumulators} sums
 * @param {Asked[]} same
 */
function addBest(sums, same) {
  if (same.length < 2) return;
  const best = new Float64Array(sums.keyword.length);
  for (const { lists, weight } of same) {
    for (const list of lists) {
      sums.forEach(list, (_, place, row) => {
        best[place] = Math.max(best[place], weight * list.levels.impact[list.impacts[row]]);
      });
    }
  }
  for (let place = 0; place < best.length; place++) sums.keyword[place] += best[place];
}

/**
 * The cosines of every document and of every passage: what postings say, and an estimate of the rest.
 * @param {Accumulators} sums
 * @param {Question} question
 * @param {TermProducts} products
 * @param {Manifest} manifest
 */
function addContributions(sums, { asked }, products, manifest) {
  if (!manifest.dimensions) return;
  const { around, documents, held, own, single, starts } = sums;
  for (let term = 0; term < products.count; term++) {
    for (let slot = 0; slot < documents.length; slot++)
      around[slot] += products.estimate(term, documents[slot]) / products.length;
  }
  asked.forEach(({ term, lists }, number) => {
    for (const list of lists) {
      const { levels } = list;
      for (let pair = 0; pair < list.documents.length; pair++) {
        const slot = sums.of[list.documents[pair]];
        if (slot < 0) continue;
        const contribution = term.share * levels.contribution[list.contributions[pair]];
        around[slot] += (contribution - products.estimate(number, documents[slot])) / products.length;
        held[slot] += contribution / products.length;
        const more = single[slot] ? 0 : (1 - ELSEWHERE) * contribution;
        for (let row = list.starts[pair]; row < list.starts[pair + 1]; row++) {
          const place = starts[slot] + list.ordinals[row];
          if (place < starts[slot + 1])
            own[place] += (more + term.share * levels.step * list.changes[row]) / products.length;
        }
      }
    }
  });
  for (let slot = 0; slot < documents.length; slot++) {
    const usual = single[slot]
      ? around[slot]
      : ELSEWHERE * held[slot] + NOWHERE * (around[slot] - held[slot]);
    for (let place = starts[slot]; place < starts[slot + 1]; place++) own[place] += usual;
  }
}

/**
 * The cosine of a passage of a document that holds none of the words.
 * @param {Accumulators} sums
 * @param {number} slot
 */
function without({ around, single }, slot) {
  return (single[slot] ? 1 : BEST_WITHOUT) * around[slot];
}

/**
 * @param {Accumulators} sums
 * @param {Question} question
 */
function ban(sums, { banned }) {
  for (const lists of banned) {
    for (const list of lists) {
      sums.forEach(list, (slot, place) => {
        sums.banned[place] = 1;
        sums.around[slot] = 0;
      });
    }
  }
}

/**
 * The candidates of both lists, scored, and made into documents.
 * @param {Accumulators} sums
 * @param {Manifest} manifest
 * @param {number} worth
 * @returns {Ranked[]}
 */
function documentsOf(sums, manifest, worth) {
  const { candidates, keyword, passage, document } = manifest.ranking;
  const meaning = manifest.dimensions ? passage + document : 0;
  const total = keyword + meaning || 1;
  const best = sums.keyword.reduce((high, score, at) => Math.max(high, sums.banned[at] ? 0 : score), 0) || 1;
  const words = leastOfBest(sums.keyword, candidates);
  const alone = aloneOf(sums);
  const share = passage / (passage + document || 1);
  const near = leastOfBest(alone, candidates);
  /** @type {Ranked[]} */
  const found = [];
  for (let slot = 0; slot < sums.documents.length; slot++) {
    /** @type {Passage[]} */
    const passages = [];
    /** @type {(ordinal: number, score: number, cosine: number, chance: number) => void} */
    const take = (ordinal, score, cosine, chance) => {
      const part = [(keyword * worth * score) / best / total, (meaning * Math.max(0, cosine)) / total];
      passages.push({ ordinal, score: part[0] + part[1], keyword: part[0], semantic: part[1], chance });
    };
    for (let place = sums.starts[slot]; place < sums.starts[slot + 1]; place++) {
      const score = sums.keyword[place];
      if (sums.banned[place] || !(score || sums.semanticOnly[place])) continue;
      const chance = score >= words ? 1 : chanceOf(alone[place] - near);
      if (chance < LEAST_CHANCE) continue;
      const cosine = share * alone[place] + (1 - share) * sums.around[slot];
      take(place - sums.starts[slot], score, cosine, chance);
    }
    const untouched = sums.starts[slot] === sums.starts[slot + 1];
    if (untouched && sums.around[slot] > 0 && without(sums, slot) >= near) {
      take(-1, 0, share * without(sums, slot) + (1 - share) * sums.around[slot], 1);
    }
    if (passages.some(({ chance }) => chance >= BEST_CHANCE))
      found.push(documentOf(sums.documents[slot], passages, manifest));
  }
  return inOrder(found);
}

/**
 * The same by ranks in place of scores.
 * @param {Accumulators} sums
 * @param {Manifest} manifest
 * @returns {Ranked[]}
 */
function documentsByRank(sums, manifest) {
  const found = fusedByRank(sums, aloneOf(sums), manifest);
  return inOrder(
    Array.from(found, ([slot, passages]) => documentOf(sums.documents[slot], passages, manifest)),
  );
}

/** @param {Ranked[]} found */
export function inOrder(found) {
  return found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.document - b.document);
}

/**
 * The cosines of all passages, then that of a passage of each document that holds none of the words.
 * @param {Accumulators} sums
 * @returns {Float64Array}
 */
function aloneOf(sums) {
  const found = new Float64Array(sums.own.length + sums.around.length);
  found.set(sums.own);
  for (let slot = 0; slot < sums.around.length; slot++) found[sums.own.length + slot] = without(sums, slot);
  return found;
}

/**
 * The chance that a passage is among the candidates, by how far its cosine lies above the least of theirs.
 * @param {number} over
 */
function chanceOf(over) {
  return 1 / (1 + Math.exp(-over / CHANCE_WIDTH));
}

/**
 * A document is worth its best passage, more where a second confirms it and where others link to it.
 * @param {number} document
 * @param {Passage[]} passages
 * @param {Manifest} manifest
 * @returns {Ranked}
 */
function documentOf(document, passages, manifest) {
  passages.sort((a, b) => b.score - a.score || a.ordinal - b.ordinal);
  while (passages[0].chance < BEST_CHANCE) passages.shift();
  const best = passages[0].score;
  const alone = manifest.isSingle(document) || passages[0].ordinal < 0;
  let second = alone ? best : 0;
  for (let i = 1, left = 1; !alone && i < passages.length; i++) {
    second += left * passages[i].chance * passages[i].score;
    left *= 1 - passages[i].chance;
  }
  const support = 1 + (manifest.ranking.support * second) / (best || 1);
  const links = manifest.linkFactor(document);
  return { document, score: best * support * links, links, support, boost: 1, passages };
}

/**
 * The documents that hold at least half of what the query says, by the rarity of its words.
 * @param {Accumulators} sums
 * @param {Question} question
 * @returns {Int32Array}
 */
function matching(sums, { asked }) {
  const covered = new Float64Array(sums.documents.length);
  const total = asked.reduce((sum, { term, weight }) => sum + (weight && term.idf), 0);
  for (const { term, lists, weight } of asked) {
    for (const { documents } of weight ? lists : []) {
      for (const document of documents) {
        if (sums.of[document] >= 0) covered[sums.of[document]] += term.idf;
      }
    }
  }
  return sums.documents.filter((_, slot) => covered[slot] > 0 && covered[slot] >= LEAST_SHARE * total);
}
