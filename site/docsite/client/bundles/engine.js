var noctule=(function(noctule){"use strict";

const ESCAPE = 0xe000;
function unpacked(length, packed) {
const bytes = new Uint8Array(length + 1);
let at = 0;
for (let i = 0; i < packed.length && at < length; i++) {
let unit = packed.charCodeAt(i);
if (unit === ESCAPE) {
unit = packed.charCodeAt(++i);
unit = unit === 0xeb00 ? ESCAPE : unit < 0xe900 ? unit - 0xe100 + 0xd800 : unit - 0xea00;
}
bytes[at++] = unit & 255;
bytes[at++] = unit >> 8;
}
return bytes.subarray(0, length);
}
async function inflated(bytes) {
const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream();
const plain = stream.pipeThrough(new DecompressionStream("gzip"));
return new Uint8Array(await new Response(plain).arrayBuffer());
}
function columnsOf(bytes) {
const reader = { bytes, at: 0 };
const sizes = Array.from({ length: nextNumber(reader) }, () => nextNumber(reader));
return sizes.map((size) => bytes.subarray(reader.at, (reader.at += size)));
}
function nextNumber(reader) {
let value = 0;
for (let shift = 1; ; shift *= 128) {
const byte = reader.bytes[reader.at++];
value += (byte & 127) * shift;
if (byte < 128) return value;
}
}
function numbersOf(bytes) {
let count = 0;
for (let i = 0; i < bytes.length; i++) if (bytes[i] < 128) count++;
const values = new Int32Array(count);
for (let i = 0, at = 0, value = 0, shift = 0; i < bytes.length; i++) {
value |= (bytes[i] & 127) << shift;
shift += 7;
if (bytes[i] < 128) {
values[at++] = value;
value = shift = 0;
}
}
return values;
}
function wordsOf(shared, sizes, rest) {
const decoder = new TextDecoder();
const kept = numbersOf(shared);
const buffer = new Uint8Array(4096);
let at = 0;
return Array.from(numbersOf(sizes), (size, i) => {
buffer.set(rest.subarray(at, (at += size)), kept[i]);
return decoder.decode(buffer.subarray(0, kept[i] + size));
});
}
function floatsOf(bytes) {
return new Float32Array(bytes.slice().buffer);
}
function valueOf(bytes) {
return JSON.parse(new TextDecoder().decode(bytes));
}
function codesOf(bytes, widths, rows) {
const size = Math.ceil(widths.reduce((sum, width) => sum + width, 0) / 8);
const codes = new Uint8Array(rows * widths.length);
for (let row = 0, to = 0; row < rows; row++) {
for (let i = 0, bit = row * size * 8; i < widths.length; i++, to++) {
for (let each = 0; each < widths[i]; each++, bit++) {
codes[to] |= ((bytes[bit >> 3] >> (bit & 7)) & 1) << each;
}
}
}
return codes;
}

function searchError(code, message) {
return Object.assign(new Error(message), { code });
}
const MESSAGES = {
missing: "A part of the search index could not be loaded. Check your connection and try again.",
damaged: "A part of the search index is damaged. Reload the page; if it stays so, tell the site's owner.",
"other-build": "This site was updated while you were reading. Reload the page to search it.",
};
const handed = new WeakMap();
noctule.part = function (name, length, packed) {
const script = document.currentScript;
if (script) handed.set(script, { name, length, packed });
};
class Parts {
constructor(base) {
this.base = base;
this.build = "";
this.requests = 0;
this.bytes = 0;
this.loaded = new Map();
}
load(name) {
let found = this.loaded.get(name);
if (!found) {
found = this.fetched(name, "");
found.catch(() => this.loaded.delete(name));
this.loaded.set(name, found);
}
return found;
}
async fetched(name, query) {
const part = await this.script(name, query);
if (part.name !== name) throw searchError("other-build", MESSAGES["other-build"]);
try {
return columnsOf(await inflated(unpacked(part.length, part.packed)));
} catch {
throw searchError("damaged", MESSAGES.damaged);
}
}
script(name, query) {
const script = document.createElement("script");
script.src = `${this.base}${name}.js${query}`;
script.async = true;
this.requests++;
return new Promise((resolve, reject) => {
script.onload = () => {
const part = handed.get(script);
script.remove();
if (!part) return reject(searchError("damaged", MESSAGES.damaged));
this.bytes += 2 * (part.packed.length + 40);
resolve(part);
};
script.onerror = async () => {
script.remove();
const code = (await this.isOutdated()) ? "other-build" : "missing";
reject(searchError(code, MESSAGES[code]));
};
document.head.append(script);
});
}
async isOutdated() {
const build = this.build;
if (!build) return false;
this.build = "";
try {
const [header] = await this.fetched("manifest", `?${Date.now()}`);
return valueOf(header).build !== build;
} catch {
return false;
} finally {
this.build = build;
}
}
}

const SHORT = /[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|past$/;
const FIRST_REGION =
/^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers|[^aeiouy]*[aeiouy]+[^aeiouy])/;
const SECOND_REGION = /^[^aeiouy]*[aeiouy]+[^aeiouy]/;
const UNCHANGED = new Set(["andes", "atlas", "bias", "cosmos", "howe", "news", "sky"]);
const SPECIAL = {
gently: "gentl", idly: "idl", singly: "singl", early: "earli", only: "onli", ugly: "ugli",
skis: "ski", skies: "sky",
};
const STEP_2 = {
tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", fulli: "ful", lessli: "less",
ousli: "ous", izer: "ize", ization: "ize", ational: "ate", ation: "ate", ator: "ate", alism: "al",
aliti: "al", alli: "al", fulness: "ful", ousness: "ous", iveness: "ive", iviti: "ive", biliti: "ble",
bli: "ble", ogist: "og", ogi: "og", li: "",
};
const STEP_3 = {
tional: "tion", ational: "ate", alize: "al", icate: "ic", iciti: "ic", ical: "ic", ative: "", ness: "",
ful: "",
};
const SUFFIX_2 = new RegExp(
"(?:ational|ization|fulness|iveness|ousness|tional|biliti|lessli|alism|aliti|ation|entli|fulli|iviti|" +
"ogist|ousli|abli|alli|anci|ator|enci|izer|bli|ogi|li)$",
);
const SUFFIX_3 = /(?:ational|tional|alize|ative|icate|iciti|ical|ness|ful)$/;
const SUFFIX_4 =
/(?:ement|able|ance|ence|ible|ment|ant|ate|ent|ion|ism|iti|ive|ize|ous|al|er|ic)$/;
function stemEnglish(word) {
if (word.length < 3 || UNCHANGED.has(word)) return word;
if (Object.hasOwn(SPECIAL, word)) return SPECIAL[word];
let w = word.replace(/^'/, "").replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
const first = (FIRST_REGION.exec(w) || [""])[0].length;
const more = first ? (SECOND_REGION.exec(w.slice(first)) || [""])[0].length : 0;
const p1 = first || w.length;
const p2 = more ? first + more : w.length;
w = plural(w.replace(/(?:'s'|'s|')$/, ""));
w = participle(w, p1);
w = w.replace(/(.[^aeiouy])[yY]$/, "$1i");
w = derived(w, p1);
w = adjective(w, p1, p2);
const suffix = (SUFFIX_4.exec(w) || [""])[0];
const stem = w.slice(0, w.length - suffix.length);
if (suffix && stem.length >= p2 && (suffix !== "ion" || /[st]$/.test(stem))) w = stem;
return last(w, p1, p2).replace(/Y/g, "y");
}
function plural(w) {
if (w.endsWith("sses")) return w.slice(0, -2);
if (/ie[ds]$/.test(w)) return w.slice(0, w.length > 4 ? -2 : -1);
if (/[us]s$/.test(w)) return w;
return /[aeiouy].+s$/.test(w) ? w.slice(0, -1) : w;
}
function participle(w, p1) {
const suffix = (/(?:eedly|ingly|edly|eed|ing|ed)$/.exec(w) || [""])[0];
const stem = w.slice(0, w.length - suffix.length);
if (!suffix) return w;
if (suffix.startsWith("eed")) {
return stem.length >= p1 && !["succ", "proc", "exc"].includes(stem) ? stem + "ee" : w;
}
if (suffix === "ing" && /^[^aeiouy]y$/.test(stem)) return stem.slice(0, -1) + "ie";
if (suffix === "ing" && ["even", "cann", "inn", "earr", "herr", "out"].includes(stem)) return w;
if (!/[aeiouy]/.test(stem)) return w;
if (/(?:at|bl|iz)$/.test(stem)) return stem + "e";
if (/^[aeo](?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem;
if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem.slice(0, -1);
return stem.length === p1 && SHORT.test(stem) ? stem + "e" : stem;
}
function derived(w, p1) {
const suffix = (SUFFIX_2.exec(w) || [""])[0];
const stem = w.slice(0, w.length - suffix.length);
if (!suffix || stem.length < p1) return w;
if (suffix === "ogi" && !stem.endsWith("l")) return w;
if (suffix === "li" && !/[cdeghkmnrt]$/.test(stem)) return w;
return stem + STEP_2[suffix];
}
function adjective(w, p1, p2) {
const suffix = (SUFFIX_3.exec(w) || [""])[0];
const stem = w.slice(0, w.length - suffix.length);
if (!suffix || stem.length < p1 || (suffix === "ative" && stem.length < p2)) return w;
return stem + STEP_3[suffix];
}
function last(w, p1, p2) {
const stem = w.slice(0, -1);
if (w.endsWith("e")) return w.length > p2 || (w.length > p1 && !SHORT.test(stem)) ? stem : w;
return w.endsWith("ll") && w.length > p2 ? stem : w;
}

const CJK =
"\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uac00-\\ud7af\\u{20000}-\\u{2fa1f}";
const LOOSE_MARKS =
"\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7" +
"\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06ea-\\u06ed";
const FIRM_MARKS =
"\\u0900-\\u0963\\u0966-\\u0dff\\u0e31\\u0e34-\\u0e3a\\u0e47-\\u0e4e\\u0eb1\\u0eb4-\\u0ebc\\u0ec8-\\u0ecd" +
"\\u102b-\\u103e\\u17b4-\\u17d3";
const LETTER = "\\p{L}\\p{N}";
const IN_WORD = `[${LETTER}_${LOOSE_MARKS}${FIRM_MARKS}]`;
const IN_PART = `[${LETTER}${LOOSE_MARKS}${FIRM_MARKS}]`;
const TOKEN = `[a-z](?:\\+\\+|#)(?![${LETTER}_])|${IN_WORD}+(?:[.'’]${IN_WORD}+)*`;
const TOKENS = new RegExp(TOKEN, "gu");
const TOKENS_AS_WRITTEN = new RegExp(TOKEN, "giu");
const PARTS_OF_TOKEN = new RegExp(`${IN_PART}+(?:['’]${IN_PART}+)*`, "gu");
const CJK_RUN = new RegExp(`[${CJK}]+`, "gu");
const HAS_CJK = new RegExp(`[${CJK}]`, "u");
const LOOSE_MARK = new RegExp(`[${LOOSE_MARKS}]`, "gu");
const MOST_CHARS = 64;
function folded(text) {
if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
return text
.replace(/\u1e9e/g, "ss")
.replace(/[\u1c80-\u1c88\u1f80-\u1ffc]/g, (letter) => letter.toUpperCase())
.toLowerCase()
.replace(/ß/g, "ss")
.replace(/ς/g, "σ")
.replace(/\u0345/g, "ι")
.replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, (letter) => letter.toUpperCase())
.normalize("NFKC");
}
function withoutAccents(word) {
if (/^[\x00-\x7f]*$/.test(word)) return word;
return word.normalize("NFD").replace(LOOSE_MARK, "").normalize("NFC");
}
function tokensOf(text) {
return folded(text).match(TOKENS) || [];
}
function shortened(word) {
return word.length <= MOST_CHARS ? word : Array.from(word).slice(0, MOST_CHARS).join("");
}
function stemmed(word, stemmer) {
const plain = word.replace(/’/g, "'");
return shortened(withoutAccents(stemmer && !/\p{Nd}/u.test(plain) ? stemmer(plain) : plain));
}
function expanded(token, stemmer) {
return termsOf(token, stemmer).filter(Boolean);
}
function termsOf(token, stemmer) {
if (HAS_CJK.test(token)) return mixed(token, stemmer);
if (/[+#]$/.test(token)) return [token];
const parts = (token.match(PARTS_OF_TOKEN) || []).map((part) => stemmed(part, stemmer));
if (parts.length <= 1) return parts;
return [...new Set([shortened(withoutAccents(token.replace(/^_+|_+$/g, ""))), ...parts])];
}
function mixed(token, stemmer) {
const found = [];
const words = (/** @type {string} */ text) => {
for (const part of text.match(PARTS_OF_TOKEN) || []) found.push(stemmed(part, stemmer));
};
let at = 0;
for (const run of token.matchAll(CJK_RUN)) {
words(token.slice(at, run.index));
const characters = Array.from(run[0]);
if (characters.length === 1) found.push(run[0]);
for (let i = 0; i + 1 < characters.length; i++) found.push(characters[i] + characters[i + 1]);
at = run.index + run[0].length;
}
words(token.slice(at));
return found;
}
function stemmersFor(languages) {
const english = languages.filter((language) => /^en(?![a-z])/i.test(language));
const found = english.length ? [stemEnglish] : [];
return english.length < languages.length ? [...found, null] : found;
}

const MOST_QUERY_CHARS = 1000;
function takenApart(text) {
const read = text.slice(0, MOST_QUERY_CHARS).replace(/[“”„«»]/g, '"').replace(/\0/g, " ").trimStart();
const typed = { plain: "", phrases: [], excluded: [], prefixes: [], partial: "" };
const plain = [];
for (const [token, minus, phrase, word] of read.matchAll(/((?<!\S)-)?(?:"([^"]*)"?|([^\s"]+))/g)) {
const value = (phrase ?? word ?? "").trim();
const prefix = /^([\p{L}\p{N}_]{2,})\*$/u.exec(token);
if (!/[\p{L}\p{N}]/u.test(value)) plain.push(token);
else if (minus && (phrase !== undefined || /^[\p{L}][\p{L}\p{N}_]+$/u.test(value))) typed.excluded.push(value);
else if (prefix) typed.prefixes.push(prefix[1]);
else {
if (phrase !== undefined) typed.phrases.push(value);
plain.push(phrase === undefined ? token : value);
}
}
if (!plain.length && !typed.prefixes.length) return { ...typed, plain: read, excluded: [] };
const partial = /[\p{L}\p{N}_]+$/u.exec(read);
typed.partial = partial && !typed.excluded.some((value) => read.endsWith(value)) ? partial[0] : "";
return { ...typed, plain: plain.join(" ") };
}

const FORMAT = 3;
const NAME_BYTES = 4;
class Manifest {
constructor(columns) {
const header = valueOf(columns[0]);
if (header.format !== FORMAT) throw searchError("other-build", MESSAGES["other-build"]);
this.build = header.build;
this.documents = header.documents;
this.passages = header.passages;
this.ceiling = header.ceiling;
this.ranking = { rrf_k: null, boosts: [], ...header.ranking };
this.levels = header.posting_levels;
this.ownStep = header.own_step;
this.dimensions = header.dimensions;
this.aliases = header.aliases;
this.stemmers = stemmersFor(header.languages);
this.names = filesOf(header.files, columns[1]);
this.firstTerms = wordsOf(columns[2], columns[3], columns[4]);
this.firstLetters = wordsOf(columns[5], columns[6], columns[7]);
this.shelves = new Starts(columns[8], columns[9]);
this.flags = columns[10];
this.linkSteps = header.link_steps;
this.pieceWeight = header.piece_weight;
this.listOf = columns.slice(11, 13);
this.codes = this.dimensions ? new Codes(header.levels, this.names.lists.length, columns.slice(13)) : null;
}
isSingle(document) {
return (this.flags[document] & 1) === 1;
}
listOfDocument(document) {
return this.listOf[0][document] + 256 * this.listOf[1][document];
}
weighing({ keyword = 1, semantic = 1, links = 1, support = 1 }) {
const { ranking } = this;
const changed = {
...ranking,
keyword: ranking.keyword * keyword,
passage: ranking.passage * semantic,
document: ranking.document * semantic,
links: ranking.links * links,
support: ranking.support * support,
};
return Object.assign(Object.create(this), { ranking: changed });
}
linkFactor(document) {
return 1 + (this.ranking.links * (this.flags[document] >> 1)) / this.linkSteps;
}
idf(frequency) {
return Math.log1p((this.passages - frequency + 0.5) / (frequency + 0.5));
}
shardOf(term) {
return Math.max(0, placeOf(this.firstTerms, term));
}
wordFileOf(word) {
return placeOf(this.firstLetters, Array.from(withoutAccents(word))[0] || "");
}
}
class Starts {
constructor(documents, ordinals) {
this.documents = numbersOf(documents);
for (let i = 1; i < this.documents.length; i++) this.documents[i] += this.documents[i - 1];
this.ordinals = numbersOf(ordinals);
}
placeOf(document, ordinal) {
let place = placeOf(this.documents, document);
while (this.documents[place] === document && this.ordinals[place] > ordinal) place--;
return place;
}
}
function namesOf(bytes) {
const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
return hex.match(new RegExp(`.{${2 * NAME_BYTES}}`, "g")) || [];
}
function filesOf(counts, bytes) {
const names = namesOf(bytes);
const found = {};
for (const family of ["shards", "tails", "lists", "shelves", "words", "near", "facets"]) {
found[family] = names.splice(0, counts[family]);
}
return found;
}
function placeOf(sorted, value) {
let low = 0;
let high = sorted.length;
while (low < high) {
const middle = (low + high) >> 1;
if (sorted[middle] <= value) low = middle + 1;
else high = middle;
}
return low - 1;
}
function summed(sizes) {
const starts = new Int32Array(sizes.length + 1);
for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i] + sizes[i];
return starts;
}

const POSTING_COLUMNS = 7;
class Block {
constructor(columns) {
this.columns = columns;
this.all = null;
this.firstPair = new Int32Array(0);
}
list(place) {
this.all = this.all || this.read();
const { documents, kinships, starts, ordinals, impacts, own } = this.all;
const first = this.firstPair[place];
const end = this.firstPair[place + 1];
const [from, to] = [starts[first], starts[end]];
return {
documents: documents.subarray(first, end),
kinships: kinships.subarray(first, end),
starts: starts.subarray(first, end + 1).map((start) => start - from),
ordinals: ordinals.subarray(from, to),
impacts: impacts.subarray(from, to),
own: own.subarray(from, to),
};
}
read() {
const [sizes, gaps, more, steps] = this.columns.slice(0, 4).map(numbersOf);
const [impacts, kinships, changes] = this.columns.slice(4);
this.firstPair = summed(sizes);
const starts = summed(more.map((count) => count + 1));
for (let pair = 0; pair < gaps.length; pair++) {
for (let at = starts[pair] + 1; at < starts[pair + 1]; at++) steps[at] += steps[at - 1] + 1;
}
const own = Int8Array.from(changes, (step) => (step & 1 ? -(step + 1) / 2 : step / 2));
for (let list = 0; list < sizes.length; list++) {
for (let pair = this.firstPair[list] + 1; pair < this.firstPair[list + 1]; pair++) {
gaps[pair] += gaps[pair - 1] + 1;
}
}
return { documents: gaps, kinships, starts, ordinals: steps, impacts, own };
}
}

const LENGTH_STEPS = 256;
const VECTOR_LEVELS = 7;
class Shard {
constructor(columns, manifest) {
this.manifest = manifest;
this.words = wordsOf(columns[0], columns[1], columns[2]);
this.frequencies = numbersOf(columns[3]);
this.documents = numbersOf(columns[4]);
this.impacts = columns[5];
this.kinships = new Int8Array(columns[6].slice().buffer);
this.lengths = columns[7];
this.vectors = columns[8];
this.pieces = piecesOf(numbersOf(columns[9]));
this.tails = tailsOf(numbersOf(columns[10]));
this.aliases = new Map(valueOf(columns[11]).map((/** @type {string[]} */ [word, ...terms]) => [word, terms]));
this.block = new Block(columns.slice(12, 12 + POSTING_COLUMNS));
const withVector = Int32Array.from(this.words, (_, place) => (manifest.dimensions && this.steps(place) ? 1 : 0));
this.vectorPlace = summed(withVector);
}
find(word) {
const place = placeOf(this.words, word);
return place >= 0 && this.words[place] === word ? this.term(place) : null;
}
beginningWith(prefix, limit) {
const places = [];
for (let place = 0; place < this.words.length; place++) {
if (this.words[place].startsWith(prefix)) places.push(place);
}
places.sort((a, b) => this.frequencies[b] - this.frequencies[a] || a - b);
return places.slice(0, limit).map((place) => this.term(place));
}
term(place) {
const count = this.words.length;
const { manifest } = this;
const idf = manifest.idf(this.frequencies[place]);
const steps = this.steps(place);
const length = steps ? 2 ** (steps / LENGTH_STEPS - 32) : 0;
const levels = manifest.levels[32 - Math.clz32(this.frequencies[place])];
const best = (idf * manifest.ceiling) / 255;
return {
term: this.words[place],
idf,
frequency: this.frequencies[place],
documents: this.documents[place],
impact: scale(this.impacts[place] * best, this.impacts[place + count] * best, levels),
kinship: scale(
(this.kinships[place] * length) / 127,
(this.kinships[place + count] * length) / 127,
levels,
),
step: (manifest.ownStep * length) / levels,
length,
vector: this.vector(place, length),
pieces: steps ? [] : this.madeOf(place),
tails: this.tails.get(place) || [],
place,
shard: this,
};
}
steps(place) {
return this.lengths[place] + 256 * this.lengths[place + this.words.length];
}
madeOf(place) {
let at = 0;
return (this.pieces[place - this.vectorPlace[place]] || []).map(([skipped, length]) => {
at += skipped + length;
return this.words[place].slice(at - length, at);
});
}
vector(place, length) {
const { dimensions } = this.manifest;
if (!length) return null;
const rows = this.vectorPlace[this.words.length];
const row = this.vectorPlace[place];
const step = ((this.vectors[row] / 255) * length) / VECTOR_LEVELS;
const size = Math.ceil(dimensions / 2);
const found = new Float32Array(dimensions);
for (let i = 0; i < dimensions; i++) {
const byte = this.vectors[rows + row * size + (i >> 1)];
found[i] = ((i & 1 ? byte >> 4 : byte & 15) - 8) * step;
}
return found;
}
}
function scale(low, high, levels) {
return Float64Array.from({ length: levels + 1 }, (_, level) => low + ((high - low) * level) / levels);
}
function tailsOf(numbers) {
const found = new Map();
for (let at = 0; at < numbers.length; ) {
const place = numbers[at++];
const tails = [];
for (let left = numbers[at++]; left > 0; left--) {
tails.push({ file: numbers[at++], place: numbers[at++], size: numbers[at++] });
}
found.set(place, tails);
}
return found;
}
function piecesOf(numbers) {
const found = [];
for (let at = 0; at < numbers.length; ) {
const pieces = [];
for (let left = numbers[at++]; left > 0; left--) pieces.push([numbers[at++], numbers[at++]]);
found.push(pieces);
}
return found;
}

class Quantized {
constructor(levels, mean, deviation, widths) {
this.mean = mean || new Float32Array(widths.length);
this.deviation = floatsOf(deviation);
this.widths = widths;
this.steps = levels.map((half) => Float64Array.from([...half.map((x) => -x).reverse(), ...half]));
this.steps[0] = Float64Array.of(0);
}
products(vector, codes) {
const count = vector.length;
const tables = Array.from(this.widths, (width, i) =>
this.steps[width].map((step) => (this.mean[i] + step * this.deviation[i]) * vector[i]),
);
const found = new Float64Array(codes.length / count);
for (let row = 0, at = 0; row < found.length; row++) {
let sum = 0;
for (let i = 0; i < count; i++) sum += tables[i][codes[at++]];
found[row] = sum;
}
return found;
}
}
class Codes {
constructor(levels, lists, [mean, deviation, widths, deviations, bits, centroids]) {
this.coarse = new Quantized(levels, floatsOf(mean), deviation, widths);
this.fine = new Quantized(levels, null, deviations, bits);
this.centroids = codesOf(centroids, widths, lists);
}
products(vector) {
return this.coarse.products(vector, this.centroids);
}
}
class List {
constructor([documents, scale, centroid, rows], codes) {
this.codes = codes;
this.documents = numbersOf(documents);
for (let i = 1; i < this.documents.length; i++) this.documents[i] += this.documents[i - 1] + 1;
const [unit] = floatsOf(scale);
this.centroid = Float32Array.from(new Int8Array(centroid.slice().buffer), (level) => level * unit);
this.rows = codesOf(rows, codes.fine.widths, this.documents.length);
}
products(vector) {
const around = product(vector, this.centroid);
return this.codes.fine.products(vector, this.rows).map((part) => around + part);
}
}
function product(a, b) {
let sum = 0;
for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
return sum;
}
function queryVector(terms, dimensions) {
const sum = new Float32Array(dimensions);
let cut = 0;
for (const { vector, length } of terms) {
cut += length * length;
for (let i = 0; vector && i < dimensions; i++) sum[i] += vector[i];
if (vector) cut -= Math.min(length * length, product(vector, vector));
}
return { sum, length: Math.sqrt(product(sum, sum) + cut) };
}
function nearestLists(products, count) {
const order = Array.from(products.keys()).sort((a, b) => products[b] - products[a] || a - b);
return order.slice(0, count);
}

class Slots {
constructor({ asked, allowed, nearby }, manifest) {
this.of = new Int32Array(manifest.documents).fill(-1);
const documents = [];
const widths = [];
const widen = (/** @type {number} */ document, /** @type {number} */ width) => {
let slot = this.of[document];
if (slot === -1) {
slot = this.of[document] = allowed && !allowed(document) ? -2 : documents.length;
if (slot >= 0) {
documents.push(document);
widths.push(width);
}
}
if (slot >= 0 && widths[slot] < width) widths[slot] = width;
};
for (const { lists } of asked) {
for (const { documents: found, starts, ordinals } of lists) {
for (let p = 0; p < found.length; p++) widen(found[p], ordinals[starts[p + 1] - 1] + 1);
}
}
for (const list of nearby) for (const document of list.documents) widen(document, 0);
this.documents = Int32Array.from(documents);
this.starts = summed(Int32Array.from(widths));
const size = this.starts[documents.length];
this.keyword = new Float64Array(size);
this.meant = new Uint8Array(size);
this.own = new Float64Array(size);
this.held = new Float64Array(documents.length);
this.around = new Float64Array(documents.length);
this.single = this.documents.map((document) => (manifest.isSingle(document) ? 1 : 0));
this.banned = new Uint8Array(size);
}
forEach({ documents, starts, ordinals }, each) {
for (let pair = 0; pair < documents.length; pair++) {
const slot = this.of[documents[pair]];
if (slot < 0) continue;
const first = this.starts[slot];
const end = this.starts[slot + 1];
for (let row = starts[pair]; row < starts[pair + 1]; row++) {
if (first + ordinals[row] < end) each(slot, first + ordinals[row], row);
}
}
}
}
class Meanings {
constructor({ asked, nearby }, manifest) {
const { codes, dimensions } = manifest;
const terms = asked.map(({ term }) => term);
this.length = Math.max(queryVector(terms, dimensions).length, 1e-9);
this.manifest = manifest;
this.byList = terms.map(({ vector }) => vector && codes && codes.products(vector));
this.row = new Map();
for (const list of nearby) for (const document of list.documents) this.row.set(document, this.row.size);
this.byRow = terms.map(({ vector }) => vector && joined(nearby.map((list) => list.products(vector))));
}
estimate(term, document) {
const row = this.row.get(document);
const [rows, lists] = [this.byRow[term], this.byList[term]];
if (!rows || !lists) return 0;
return row === undefined ? lists[this.manifest.listOfDocument(document)] : rows[row];
}
}
function joined(parts) {
return Float64Array.from(parts.flatMap((part) => Array.from(part)));
}
function leastOfBest(values, count) {
const heap = new Float64Array(count);
for (const value of values) {
if (value <= heap[0]) continue;
let at = 0;
for (;;) {
let child = 2 * at + 1;
if (child >= count) break;
if (child + 1 < count && heap[child + 1] < heap[child]) child++;
if (heap[child] >= value) break;
heap[at] = heap[child];
at = child;
}
heap[at] = value;
}
return Math.max(heap[0], Number.MIN_VALUE);
}

function fusedByRank(slots, alone, manifest) {
const { candidates, keyword, passage, document, rrf_k: k } = manifest.ranking;
const count = slots.own.length;
const owner = ownersOf(slots);
const allowed = (/** @type {number} */ at) => at >= count || !slots.banned[at];
const words = orderOf(slots.keyword, candidates).filter(allowed);
const near = manifest.dimensions ? orderOf(alone, candidates).filter(allowed) : [];
const around = (/** @type {number} */ at) => slots.around[owner[at]];
const found = Array.from(new Set([...words, ...near])).sort((a, b) => around(b) - around(a) || a - b);
const parts = new Map(found.map((at) => [at, { keyword: 0, semantic: 0 }]));
const give = (/** @type {"keyword" | "semantic"} */ part, /** @type {number} */ weight) => (/** @type {number} */ at, /** @type {number} */ i) => {
const own = parts.get(at);
if (own) own[part] += weight / ((k || 0) + i + 1);
};
words.forEach(give("keyword", keyword));
near.forEach(give("semantic", passage));
if (manifest.dimensions) found.filter((at) => around(at) > 0).forEach(give("semantic", document));
const bySlot = new Map();
for (const [at, own] of parts) {
const slot = owner[at];
const ordinal = at < count ? at - slots.starts[slot] : -1;
const list = bySlot.get(slot) || [];
list.push({ ordinal, score: own.keyword + own.semantic, ...own, chance: 1 });
bySlot.set(slot, list);
}
return bySlot;
}
function ownersOf({ starts, documents, own }) {
const found = new Int32Array(own.length + documents.length);
for (let slot = 0; slot < documents.length; slot++) {
found.fill(slot, starts[slot], starts[slot + 1]);
found[own.length + slot] = slot;
}
return found;
}
function orderOf(values, count) {
const least = leastOfBest(values, count);
return Array.from(values.keys()).filter((at) => values[at] >= least).sort((a, b) => values[b] - values[a] || a - b).slice(0, count);
}

const ELSEWHERE = 0.71;
const NOWHERE = 0.84;
const BEST_WITHOUT = 0.89;
const CHANCE_WIDTH = 0.02;
const LEAST_CHANCE = 0.05;
const BEST_CHANCE = 0.5;
const LEAST_SHARE = 0.5;
function rank(question, manifest) {
const slots = new Slots(question, manifest);
const meanings = new Meanings(question, manifest);
const most = addWords(slots, question);
addKinships(slots, question, meanings, manifest);
ban(slots, question);
const ranked = manifest.ranking.rrf_k === null ? documentsOf(slots, meanings, most, manifest) : documentsByRank(slots, manifest);
const meant = !question.asked.some(({ weight }) => weight);
return { ranked, matching: meant ? Int32Array.from(ranked, ({ document }) => document) : matching(slots, question) };
}
function addWords(slots, { asked }) {
const most = new Map();
for (const { term, lists, weight, group } of asked) {
const alone = asked.filter((other) => other.group === group).length === 1;
const top = weight * term.impact[term.impact.length - 1];
most.set(group, Math.max(most.get(group) || 0, top));
if (!weight) for (const list of lists) slots.forEach(list, (_, place) => (slots.meant[place] = 1));
if (!alone) continue;
for (const list of lists) {
slots.forEach(list, (_, place, row) => (slots.keyword[place] += weight * term.impact[list.impacts[row]]));
}
}
for (const group of most.keys()) addBest(slots, asked.filter((each) => each.group === group));
return [...most.values()].reduce((sum, value) => sum + value, 0) || 1;
}
function addBest(slots, same) {
if (same.length < 2) return;
const best = new Float64Array(slots.keyword.length);
for (const { term, lists, weight } of same) {
for (const list of lists) {
slots.forEach(list, (_, place, row) => {
best[place] = Math.max(best[place], weight * term.impact[list.impacts[row]]);
});
}
}
for (let place = 0; place < best.length; place++) slots.keyword[place] += best[place];
}
function addKinships(slots, { asked }, meanings, manifest) {
if (!manifest.dimensions) return;
const { around, documents, held, own, single, starts } = slots;
for (let term = 0; term < asked.length; term++) {
for (let slot = 0; slot < documents.length; slot++) around[slot] += meanings.estimate(term, documents[slot]) / meanings.length;
}
asked.forEach(({ term, lists }, number) => {
for (const list of lists) {
for (let pair = 0; pair < list.documents.length; pair++) {
const slot = slots.of[list.documents[pair]];
if (slot < 0) continue;
const kinship = term.kinship[list.kinships[pair]];
around[slot] += (kinship - meanings.estimate(number, documents[slot])) / meanings.length;
held[slot] += kinship / meanings.length;
const more = single[slot] ? 0 : (1 - ELSEWHERE) * kinship;
for (let row = list.starts[pair]; row < list.starts[pair + 1]; row++) {
const place = starts[slot] + list.ordinals[row];
if (place < starts[slot + 1]) own[place] += (more + term.step * list.own[row]) / meanings.length;
}
}
}
});
for (let slot = 0; slot < documents.length; slot++) {
const usual = single[slot] ? around[slot] : ELSEWHERE * held[slot] + NOWHERE * (around[slot] - held[slot]);
for (let place = starts[slot]; place < starts[slot + 1]; place++) own[place] += usual;
}
}
function without({ around, single }, slot) {
return (single[slot] ? 1 : BEST_WITHOUT) * around[slot];
}
function ban(slots, { banned }) {
for (const lists of banned) {
for (const list of lists) {
slots.forEach(list, (slot, place) => {
slots.banned[place] = 1;
slots.around[slot] = 0;
});
}
}
}
function documentsOf(slots, meanings, most, manifest) {
const { candidates, keyword, passage, document } = manifest.ranking;
const meaning = manifest.dimensions ? passage + document : 0;
const total = keyword + meaning || 1;
const words = leastOfBest(slots.keyword, candidates);
const alone = aloneOf(slots);
const share = passage / (passage + document || 1);
const near = leastOfBest(alone, candidates);
const found = [];
for (let slot = 0; slot < slots.documents.length; slot++) {
const passages = [];
const take = (ordinal, score, cosine, chance) => {
const part = [(keyword * score) / most / total, (meaning * Math.max(0, cosine)) / total];
passages.push({ ordinal, score: part[0] + part[1], keyword: part[0], semantic: part[1], chance });
};
for (let place = slots.starts[slot]; place < slots.starts[slot + 1]; place++) {
const score = slots.keyword[place];
if (slots.banned[place] || !(score || slots.meant[place])) continue;
const chance = score >= words ? 1 : chanceOf(alone[place] - near);
if (chance < LEAST_CHANCE) continue;
take(place - slots.starts[slot], score, share * alone[place] + (1 - share) * slots.around[slot], chance);
}
const untouched = slots.starts[slot] === slots.starts[slot + 1];
if (untouched && slots.around[slot] > 0 && without(slots, slot) >= near) {
take(-1, 0, share * without(slots, slot) + (1 - share) * slots.around[slot], 1);
}
if (passages.some(({ chance }) => chance >= BEST_CHANCE)) found.push(documentOf(slots.documents[slot], passages, manifest));
}
return inOrder(found);
}
function documentsByRank(slots, manifest) {
const found = fusedByRank(slots, aloneOf(slots), manifest);
return inOrder(Array.from(found, ([slot, passages]) => documentOf(slots.documents[slot], passages, manifest)));
}
function inOrder(found) {
return found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.document - b.document);
}
function aloneOf(slots) {
const found = new Float64Array(slots.own.length + slots.around.length);
found.set(slots.own);
for (let slot = 0; slot < slots.around.length; slot++) found[slots.own.length + slot] = without(slots, slot);
return found;
}
function chanceOf(over) {
return 1 / (1 + Math.exp(-over / CHANCE_WIDTH));
}
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
function matching(slots, { asked }) {
const covered = new Float64Array(slots.documents.length);
const total = asked.reduce((sum, { term, weight }) => sum + (weight && term.idf), 0);
for (const { term, lists, weight } of asked) {
for (const { documents } of weight ? lists : []) {
for (const document of documents) {
if (slots.of[document] >= 0) covered[slots.of[document]] += term.idf;
}
}
}
return slots.documents.filter((_, slot) => covered[slot] > 0 && covered[slot] >= LEAST_SHARE * total);
}

const MS_A_DAY = 86_400_000;
const yearOf = (day) => (day ? new Date((day - 1) * MS_A_DAY).getUTCFullYear() : 0);
class Facets {
constructor(columns) {
const names = valueOf(columns[0]);
this.values = { ...names, community: names.community.map((/** @type {any[]} */ each) => each[0]) };
this.labels = new Map(names.community);
const [collection, language, section, community] = columns.slice(1, 5).map(numbersOf);
this.days = numbersOf(columns[6]);
const years = Array.from(this.days, yearOf);
this.values.date = Array.from(new Set(years)).filter(Boolean).sort((a, b) => b - a);
const placeOf = new Map(this.values.date.map((year, place) => [year, place]));
this.of = {
collection: (document) => [collection[document]],
language: (document) => [language[document]],
section: (document) => [section[document]],
community: (document) => (community[document] ? [community[document] - 1] : []),
tag: (document) => this.tags.subarray(this.firstTag[document] + 1, this.firstTag[document + 1]),
date: (document) => (years[document] ? [placeOf.get(years[document]) ?? 0] : []),
};
this.tags = numbersOf(columns[5]);
this.firstTag = new Int32Array(collection.length + 1);
for (let i = 0; i < collection.length; i++) {
this.firstTag[i + 1] = this.firstTag[i] + 1 + this.tags[this.firstTag[i]];
}
}
allowed(filters) {
const wanted = Object.entries(filters)
.map(([kind, value]) => ({ kind: /** @type {Kind} */ (kind), asked: [value ?? []].flat() }))
.filter(({ kind, asked }) => asked.length && this.of[kind])
.map(({ kind, asked }) => ({
of: this.of[kind],
places: new Set(asked.map((value) => this.values[kind].findIndex((known) => String(known) === String(value)))),
}));
if (!wanted.length) return null;
return (document) => wanted.every(({ of, places }) => Array.from(of(document)).some((place) => places.has(place)));
}
counts(documents) {
const found = /** @type {Record<Kind, Count[]>} */ ({});
for (const kind of /** @type {Kind[]} */ (Object.keys(this.of))) {
const counts = new Int32Array(this.values[kind].length);
for (const document of documents) for (const place of Array.from(this.of[kind](document))) counts[place]++;
const present = Array.from(counts.keys()).filter((place) => counts[place]);
if (kind !== "date") present.sort((a, b) => counts[b] - counts[a] || a - b);
found[kind] = present.map((place) => this.count(kind, place, counts[place]));
}
return found;
}
count(kind, place, count) {
const value = this.values[kind][place];
return kind === "community" ? { value, label: this.labels.get(Number(value)) || "", count } : { value, count };
}
}

function boosted(ranked, boosts, facets, now) {
for (const boost of boosts) {
const factor = boost.kind === "community" ? inCommunities(ranked, boost, facets) : lately(boost, facets, now);
ranked = inOrder(ranked.map((each, at) => times(each, factor(each.document, at))));
}
return ranked;
}
function times(ranked, factor) {
return { ...ranked, score: ranked.score * factor, boost: ranked.boost * factor };
}
function inCommunities(ranked, { seeds, factor }, facets) {
const communities = new Set(ranked.slice(0, seeds).flatMap(({ document }) => Array.from(facets.of.community(document))));
return (document, at) => (at >= seeds && Array.from(facets.of.community(document)).some((each) => communities.has(each)) ? factor : 1);
}
function lately({ tiers }, facets, now) {
const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / MS_A_DAY + 1;
return (document) => {
const age = today - facets.days[document];
return facets.days[document] && age >= 0 ? (tiers.find(([days]) => age <= days) || [0, 1])[1] : 1;
};
}

const LEAST_SPELT = 4;
function readWords(columns) {
return { words: wordsOf(columns[0], columns[1], columns[2]), common: columns[3] };
}
function edits(word) {
return word.length < 3 ? 0 : word.length < 6 ? 1 : 2;
}
function distance(a, b, most) {
if (Math.abs(a.length - b.length) > most) return most + 1;
let before = new Uint8Array(0);
let last = Uint8Array.from({ length: b.length + 1 }, (_, i) => i);
for (let i = 1; i <= a.length; i++) {
const row = new Uint8Array(b.length + 1);
let least = (row[0] = i);
for (let j = 1; j <= b.length; j++) {
const same = a[i - 1] === b[j - 1];
row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
least = Math.min(least, row[j]);
}
if (least > most) return most + 1;
[before, last] = [last, row];
}
return last[b.length];
}
function nearestWords(files, word, limit) {
const most = edits(word);
const found = [];
for (const { words, common } of files) {
words.forEach((other, i) => {
const apart = most ? distance(word, other, most) : 1;
if (apart > 0 && apart <= most) found.push({ word: other, edits: apart, common: common[i] });
});
}
found.sort((a, b) => a.edits - b.edits || b.common - a.common || (a.word < b.word ? -1 : 1));
return found.slice(0, limit).map((each) => each.word);
}
function completions({ words, common }, prefix, limit) {
const places = Array.from(words.keys()).filter((i) => withoutAccents(words[i]).startsWith(prefix));
places.sort((a, b) => common[b] - common[a] || words[a].length - words[b].length || a - b);
return places.slice(0, limit).map((i) => words[i]);
}

const EXCERPT_CHARS = 280;
function readGroup(columns) {
return valueOf(columns[0]).map(
(/** @type {any[]} */ [title, page, crumbs, modified, ordinal, sections, passages]) => ({
title, page, crumbs, modified, ordinal, sections, passages,
}),
);
}
function slugOf(title) {
return title.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "").trim().replace(/ /g, "-");
}
function matchesIn(text, wanted, stemmers) {
const found = [];
for (const match of text.matchAll(TOKENS_AS_WRITTEN)) {
const token = folded(match[0]);
if (wanted.has(token) || stemmers.some((stemmer) => expanded(token, stemmer).some((term) => wanted.has(term)))) {
found.push([match.index, match.index + match[0].length]);
}
}
return found;
}
function excerptOf(text, wanted, stemmers) {
const spans = matchesIn(text, wanted, stemmers);
const start = bestStart(text, spans);
const end = wordEnd(text, start);
const prefix = start > 0 ? "… " : "";
const shift = prefix.length - start;
const marks = spans.filter(([from, to]) => from >= start && to <= end);
return {
excerpt: prefix + text.slice(start, end) + (end < text.length ? " …" : ""),
marks: marks.map(([from, to]) => [from + shift, to + shift]),
};
}
function bestStart(text, spans) {
if (text.length <= EXCERPT_CHARS) return 0;
let best = { start: 0, distinct: 0 };
for (const start of [0, ...spans.map(([from]) => wordStart(text, from - EXCERPT_CHARS / 5))]) {
const inside = spans.filter(([from, to]) => from >= start && to <= start + EXCERPT_CHARS);
const distinct = new Set(inside.map(([from, to]) => text.slice(from, to).toLowerCase())).size;
if (distinct > best.distinct || (distinct === best.distinct && start < best.start)) best = { start, distinct };
}
return best.start;
}
function wordStart(text, at) {
if (at <= 0) return 0;
const space = text.slice(at, at + 40).search(/\s/);
return space < 0 ? at : at + space + 1;
}
function wordEnd(text, start) {
const end = start + EXCERPT_CHARS;
if (end >= text.length) return text.length;
const window = text.slice(start, end);
const space = Math.max(window.lastIndexOf(" "), window.lastIndexOf("\n"));
return space > EXCERPT_CHARS / 2 ? start + space : end;
}
function holdsPhrase(text, phrase, stemmer) {
const sequence = (/** @type {string} */ each) => tokensOf(each).map((token) => expanded(token, stemmer)[0]);
const wanted = sequence(phrase);
const words = sequence(text);
return wanted.length > 0 && words.some((_, at) => wanted.every((word, i) => words[at + i] === word));
}
function addressOf(base, page, slug) {
const path = page.split("/").map(encodeURIComponent).join("/");
return new URL(`../${path}${slug ? `#${encodeURIComponent(slug)}` : ""}`, base).href;
}
function sectionOf(shown, number, text, { base, wanted, stemmers }) {
const [title, given, above] = shown.sections[number] || ["", "", ""];
const slug = given === 0 ? slugOf(title) : String(given);
return {
url: addressOf(base, shown.page, slug),
title: title || shown.title,
breadcrumb: [...shown.crumbs, shown.title, ...(above ? above.split(" › ") : [])],
...excerptOf(text, wanted, stemmers),
};
}

class Store {
constructor(parts, manifest) {
this.parts = parts;
this.manifest = manifest;
this.read = new Map();
}
part(family, number, reader) {
return this.named(family, this.manifest.names[family][number], reader);
}
async named(family, name, reader) {
const key = `${family} ${name}`;
if (!this.read.has(key)) {
const columns = await this.parts.load(name);
if (!this.read.has(key)) this.read.set(key, reader(columns));
}
return this.read.get(key);
}
async shard(term) {
if (!this.manifest.firstTerms.length) return null;
return this.part("shards", this.manifest.shardOf(term), (columns) => new Shard(columns, this.manifest));
}
facets() {
return this.part("facets", 0, (columns) => new Facets(columns));
}
async words(word) {
const number = word ? this.manifest.wordFileOf(word) : -1;
return number < 0 ? null : this.part("words", number, readWords);
}
async shown(document, ordinal) {
const passage = Math.max(0, ordinal);
const shelf = await this.part("shelves", this.manifest.shelves.placeOf(document, passage), readShelf);
const place = shelf.starts.placeOf(document, passage);
const pieces = await this.named("groups", shelf.names[place], readGroup);
return pieces[document - shelf.starts.documents[place]];
}
}
function readShelf([names, documents, ordinals]) {
return { names: namesOf(names), starts: new Starts(documents, ordinals) };
}

const MOST_TERMS = 64;
const SPELT_WEIGHT = 0.8;
const BEGINNINGS = 8;
const NEAR_FILES = 2;
class Reader {
constructor(store) {
this.store = store;
}
async suggest(prefix) {
const word = folded(prefix.trim());
const file = await this.store.words(word);
if (!file) return [];
const found = completions(file, withoutAccents(word), BEGINNINGS);
return found.length ? found : nearestWords([file], word, BEGINNINGS);
}
async understood({ plain, prefixes, partial }) {
const tokens = [...new Set(tokensOf(plain))];
const found = (await Promise.all(tokens.map((token) => this.lookedUp(token)))).slice(0, MOST_TERMS);
for (const prefix of prefixes) found.push(await this.begun(folded(prefix)));
const spelling = [];
for (const [i, read] of found.entries()) {
if (read.terms.length) continue;
if (partial && i === found.length - 1 && folded(partial) === read.token) found[i] = await this.begun(read.token);
if (found[i].terms.length) continue;
const [to] = await this.respelt(read.token);
if (!to) continue;
found[i] = { ...(await this.lookedUp(to)), weight: SPELT_WEIGHT };
spelling.push({ from: read.token, to });
}
return { reads: withoutRepeats(found), spelling };
}
async lookedUp(token) {
const names = new Set(this.store.manifest.stemmers.flatMap((stemmer) => expanded(token, stemmer)));
if (this.store.manifest.aliases) {
for (const term of (await this.store.shard(token))?.aliases.get(token) || []) names.add(term);
}
const terms = await Promise.all([...names].map(async (name) => (await this.store.shard(name))?.find(name)));
return { token, terms: /** @type {Term[]} */ (terms.filter(Boolean)), weight: 1, either: false };
}
async begun(prefix) {
const begin = withoutAccents(prefix);
const shard = await this.store.shard(begin);
let terms = shard ? shard.beginningWith(begin, BEGINNINGS) : [];
const next = this.store.manifest.shardOf(begin) + 1;
if (!terms.length && this.store.manifest.firstTerms[next]?.startsWith(begin)) {
terms = (await this.store.shard(this.store.manifest.firstTerms[next]))?.beginningWith(begin, BEGINNINGS) || [];
}
return { token: prefix, terms, weight: 1, either: true };
}
async respelt(word) {
if (word.length < LEAST_SPELT || !/^\p{L}+$/u.test(word)) return [];
const file = await this.store.words(word);
return file ? nearestWords([file], word, 1) : [];
}
async near(reads) {
const found = [];
for (const { token } of reads.slice(0, NEAR_FILES)) {
const number = this.store.manifest.wordFileOf(token);
if (number < 0) continue;
const near = await this.store.part("near", number, (columns) => valueOf(columns[0]));
if (Object.hasOwn(near, token)) found.push(...near[token]);
}
return [...new Set(found)].filter((word) => !reads.some(({ token }) => token === word));
}
}
function withoutRepeats(reads) {
const seen = new Set();
return reads.map((read) => ({
...read,
unknown: !read.terms.length,
terms: read.terms.filter(({ term }) => !seen.has(term) && seen.add(term)),
}));
}

const LEAST_PIECE = 3;
const MOST_PIECE = 20;
const PIECE_PASSAGES = 3;
const PIECE_COST = 0.5;
const LETTER_COST = 1;
const LOST_SHARE = 0.4;
const MOST_PIECE_SHARDS = 16;
async function takenToPieces(word, store, shards) {
const most = LOST_SHARE * word.length;
const costs = Float64Array.from({ length: word.length + 1 }, (_, at) => (at ? Infinity : 0));
const before = new Int32Array(word.length + 1);
const estimate = (/** @type {number} */ at) => costs[at] + leastCost(word.length - at);
const open = new Set([0]);
while (open.size && shards.size <= MOST_PIECE_SHARDS) {
const at = [...open].reduce((best, each) => ((estimate(each) - estimate(best) || best - each) < 0 ? each : best));
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
async function piecesFrom(word, at, store, shards) {
const ends = [];
for (let end = Math.min(word.length, at + MOST_PIECE); end >= at + LEAST_PIECE; end--) ends.push(end);
for (const end of ends) shards.add(store.manifest.shardOf(word.slice(at, end)));
if (shards.size > MOST_PIECE_SHARDS) return [];
const found = await Promise.all(ends.map(async (end) => (await store.shard(word.slice(at, end)))?.find(word.slice(at, end))));
return ends.filter((_, i) => found[i]?.vector && Number(found[i]?.frequency) >= PIECE_PASSAGES);
}
function leastCost(letters) {
return letters < LEAST_PIECE ? letters * LETTER_COST : PIECE_COST;
}
function walked(word, before) {
const found = [];
for (let end = word.length; end; end = before[end]) {
if (end - before[end] > 1) found.unshift(word.slice(before[end], end));
}
return found;
}

const NEAREST_LISTS = 2;
const TERM_BYTES = 105_000;
const TAIL_BYTES = 90_000;
const TAIL_BYTES_FILTERED = 120_000;
const SHARD_BYTES = 2_500;
class Gatherer {
constructor(store, reader) {
this.store = store;
this.reader = reader;
}
async question(reads, { excluded }, filters) {
const flat = reads.flatMap(({ terms, weight, either }, group) =>
terms.map((term, i) => ({ term, weight, group: either ? -1 - group : group * MOST_TERMS + i })),
);
const allowed = Object.values(filters).some((value) => [value ?? []].flat().length)
? (await this.store.facets()).allowed(filters)
: null;
const pieces = await this.pieces(reads);
const [lists, nearby, banned] = await Promise.all([
this.postings(flat.map(({ term }) => term), allowed ? TAIL_BYTES_FILTERED : tailBytes(flat)),
this.nearby([...flat.map(({ term }) => term), ...pieces]),
this.banned(excluded),
]);
const asked = flat.map((each, i) => ({ ...each, lists: lists[i] }));
for (const term of pieces) {
asked.push({ term, weight: 0, group: Infinity, lists: [term.shard.block.list(term.place)] });
}
return { asked, banned, nearby, allowed };
}
async pieces(reads) {
const asked = new Set(reads.flatMap(({ terms }) => terms.map(({ term }) => term)));
const parts = reads.filter(({ terms }) => terms.every(({ vector }) => !vector)).flatMap(({ terms }) => terms[0]?.pieces || []);
const shards = new Set();
for (const { token, unknown } of reads) if (unknown) parts.push(...(await this.taken(token, shards)));
const names = new Set(parts.filter((piece) => !asked.has(piece)));
const { pieceWeight } = this.store.manifest;
const found = await Promise.all([...names].map(async (name) => (await this.store.shard(name))?.find(name)));
return found.flatMap((term) => (term?.vector ? [weighed(term, pieceWeight)] : []));
}
async taken(token, shards) {
const { stemmers, dimensions } = this.store.manifest;
const [word] = expanded(token, stemmers[0]);
return word && dimensions ? takenToPieces(word, this.store, shards) : [];
}
postings(terms, budget) {
const found = terms.map((term) => [Promise.resolve(term.shard.block.list(term.place))]);
const all = terms.flatMap((term, i) => term.tails.map((tail, tier) => ({ ...tail, i, tier })));
all.sort((a, b) => terms[b.i].idf / (1 + b.tier) - terms[a.i].idf / (1 + a.tier) || a.tier - b.tier);
for (const { file, place, size, i, tier } of all) {
if (size > budget || found[i].length !== tier + 1) continue;
budget -= size;
found[i].push(this.store.part("tails", file, (columns) => new Block(columns)).then((block) => block.list(place)));
}
return Promise.all(found.map((lists) => Promise.all(lists)));
}
async nearby(terms) {
const { codes, dimensions } = this.store.manifest;
const { sum, length } = queryVector(terms, dimensions);
if (!codes || !length || !product(sum, sum)) return [];
const numbers = nearestLists(codes.products(sum), NEAREST_LISTS);
return Promise.all(numbers.map((number) => this.store.part("lists", number, (columns) => new List(columns, codes))));
}
async banned(excluded) {
const words = excluded.filter((value) => tokensOf(value).length === 1).map((value) => this.reader.lookedUp(folded(value)));
const terms = (await Promise.all(words)).flatMap((read) => read.terms.slice(0, 1));
return this.postings(terms, TAIL_BYTES_FILTERED);
}
}
function weighed(term, weight) {
const vector = term.vector && term.vector.map((x) => weight * x);
return { ...term, length: weight * term.length, step: weight * term.step, kinship: term.kinship.map((x) => weight * x), vector };
}
function tailBytes(asked) {
return Math.min(TAIL_BYTES, TERM_BYTES - SHARD_BYTES * new Set(asked.map(({ term }) => term.shard)).size);
}

const SECTIONS = 3;
const PHRASE_STEP = 12;
const PHRASE_DEPTH = 48;
const FEW_HITS = 3;
noctule.open = async function ({ base }) {
if (typeof DecompressionStream === "undefined") {
throw searchError("missing", "This browser is too old for the search of this site.");
}
const parts = new Parts(new URL(base, document.baseURI).href);
const manifest = new Manifest(await parts.load("manifest"));
parts.build = manifest.build;
return new Engine(parts, manifest);
};
class Engine {
constructor(parts, manifest) {
this.parts = parts;
this.manifest = manifest;
this.store = new Store(parts, manifest);
this.reader = new Reader(this.store);
this.gatherer = new Gatherer(this.store, this.reader);
}
suggest(prefix) {
return this.reader.suggest(prefix);
}
warm(prefix) {
const tokens = tokensOf(takenApart(prefix).plain).slice(-4);
for (const stemmer of this.manifest.stemmers) {
for (const token of tokens) this.store.shard(expanded(token, stemmer)[0] || token).catch(() => undefined);
}
}
async search(query, { limit = 10, filters = {}, weights = {}, signal } = {}) {
const before = { ms: performance.now(), bytes: this.parts.bytes, requests: this.parts.requests };
const typed = takenApart(query);
const facets = this.store.facets();
facets.catch(() => undefined);
const { reads, spelling } = await this.reader.understood(typed);
signal?.throwIfAborted();
const question = await this.gatherer.question(reads, typed, filters);
signal?.throwIfAborted();
const { ranked: found, matching } = rank(question, this.manifest.weighing(weights));
const { boosts } = this.manifest.ranking;
const ranked = boosts.length ? boosted(found, boosts, await facets, new Date()) : found;
const hits = await this.hits(ranked, reads, typed, limit, signal);
signal?.throwIfAborted();
return {
hits,
total: hits.length < limit ? hits.length : Math.max(matching.length, hits.length),
facets: (await facets).counts(matching),
spelling,
near: hits.length < FEW_HITS || spelling.length ? await this.reader.near(reads) : [],
took: {
ms: performance.now() - before.ms,
bytes: this.parts.bytes - before.bytes,
requests: this.parts.requests - before.requests,
},
};
}
async hits(ranked, reads, { phrases }, limit, signal) {
const wanted = new Set(reads.flatMap(({ token, terms }) => [token, ...terms.map(({ term }) => term)]));
const words = reads.filter(({ terms }) => terms.length).map(({ token }) => token);
const how = { base: this.parts.base, wanted, stemmers: this.manifest.stemmers };
const kept = phrases.length ? await this.withPhrases(ranked, phrases, limit, signal) : ranked;
const hits = [];
const seen = new Set();
for (let at = 0; hits.length < limit && at < kept.length; ) {
const next = kept.slice(at, (at += limit - hits.length));
const shown = await Promise.all(next.map(({ document, passages }) => this.store.shown(document, passages[0].ordinal)));
next.forEach((each, i) => {
const key = keyOf(each, shown[i]);
if (!seen.has(key)) hits.push(hitOf(each, shown[i], words, how));
seen.add(key);
});
}
return hits;
}
async withPhrases(ranked, phrases, limit, signal) {
const holds = (/** @type {Shown} */ page, /** @type {string} */ phrase) =>
[page.title, ...page.sections.map(([title]) => title), ...page.passages.map(([, text]) => text)].some((text) =>
this.manifest.stemmers.some((stemmer) => holdsPhrase(text, phrase, stemmer)),
);
const kept = [];
const keys = new Set();
for (let at = 0; at < Math.min(PHRASE_DEPTH, ranked.length) && keys.size < limit; ) {
signal?.throwIfAborted();
const some = ranked.slice(at, (at += PHRASE_STEP));
const shown = await Promise.all(some.map(({ document, passages }) => this.store.shown(document, passages[0].ordinal)));
some.forEach((each, i) => {
if (!phrases.every((phrase) => holds(shown[i], phrase))) return;
kept.push(each);
keys.add(keyOf(each, shown[i]));
});
}
return kept.length ? kept : ranked;
}
}
function keyOf({ passages }, shown) {
return `${shown.title}\n${passageOf(shown, passages[0])?.[1]}`;
}
function passageOf(shown, { ordinal }) {
return shown.passages[Math.max(0, ordinal) - shown.ordinal];
}
function hitOf(ranked, shown, terms, how) {
const { score, links, support, boost, passages } = ranked;
const best = new Map();
for (const passage of passages) {
const [section, text] = passageOf(shown, passage) || [-1, ""];
if (section >= 0 && best.size < SECTIONS && !best.has(section)) best.set(section, text);
}
const { keyword, semantic } = passages[0];
return {
url: addressOf(how.base, shown.page, ""),
title: shown.title,
breadcrumb: shown.crumbs,
score,
...(shown.modified ? { modified: shown.modified } : {}),
why: { keyword, semantic, links, support, boost, terms },
sections: Array.from(best, ([section, text]) => sectionOf(shown, section, text, how)),
};
}
return noctule;})(self.noctule||{});
