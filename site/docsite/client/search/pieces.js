// @ts-check
// Words that nothing holds, taken to pieces: the known words that they are made of, as the search in Python
// does.

/** @import { Store } from "./store.js" */

const LEAST_PIECE = 3;
const MOST_PIECE = 20;
const PIECE_PASSAGES = 3;
// What a piece costs, and a letter that is in none; at most this share of a word's letters may be lost.
const PIECE_COST = 0.5;
const LETTER_COST = 1;
const LOST_SHARE = 0.4;
// A query looks for pieces in so many shards; words that would need more stay unknown.
const MOST_PIECE_SHARDS = 16;

/**
 * The known words that cover most of a word at the least cost. A place is looked at only if the way there,
 * and at the least one more piece, costs less than every other way: that needs the shards of two or three
 * beginnings, not of all.
 * @param {string} word
 * @param {Store} store
 * @param {Set<number>} shards
 * @returns {Promise<string[]>}
 */
export async function takenToPieces(word, store, shards) {
  const most = LOST_SHARE * word.length;
  const costs = Float64Array.from({ length: word.length + 1 }, (_, at) => (at ? Infinity : 0));
  const before = new Int32Array(word.length + 1);
  const estimate = (/** @type {number} */ at) => costs[at] + leastCost(word.length - at);
  const open = new Set([0]);
  while (open.size && shards.size <= MOST_PIECE_SHARDS) {
    const at = [...open].reduce((best, each) =>
      (estimate(each) - estimate(best) || best - each) < 0 ? each : best,
    );
    if (at === word.length) return walked(word, before);
    open.delete(at);
    const ends = await piecesFrom(word, at, store, shards);
    for (const [end, cost] of [[at + 1, LETTER_COST], ...ends.map((end) => [end, PIECE_COST])]) {
      if (costs[at] + cost >= costs[end] || costs[at] + cost + leastCost(word.length - end) >= most) continue;
      costs[end] = costs[at] + cost;
      before[end] = at;
      open.add(end);
    }
  }
  return [];
}

/**
 * Where the known words end that begin at a place of the word.
 * @param {string} word
 * @param {number} at
 * @param {Store} store
 * @param {Set<number>} shards
 * @returns {Promise<number[]>}
 */
async function piecesFrom(word, at, store, shards) {
  const ends = [];
  for (let end = Math.min(word.length, at + MOST_PIECE); end >= at + LEAST_PIECE; end--) ends.push(end);
  for (const end of ends) shards.add(store.manifest.shardOf(word.slice(at, end)));
  if (shards.size > MOST_PIECE_SHARDS) return [];
  const found = await Promise.all(
    ends.map(async (end) => (await store.shard(word.slice(at, end)))?.find(word.slice(at, end))),
  );
  return ends.filter((_, i) => found[i]?.vector && Number(found[i]?.frequency) >= PIECE_PASSAGES);
}

/**
 * What so many letters cost at the least.
 * @param {number} letters
 */
function leastCost(letters) {
  return letters < LEAST_PIECE ? letters * LETTER_COST : PIECE_COST;
}

/**
 * The pieces on the way from the end to the beginning; a step of one letter is a letter lost.
 * @param {string} word
 * @param {Int32Array} before
 * @returns {string[]}
 */
function walked(word, before) {
  /** @type {string[]} */
  const found = [];
  for (let end = word.length; end; end = before[end]) {
    if (end - before[end] > 1) found.unshift(word.slice(before[end], end));
  }
  return found;
}
