// @ts-check
// The service worker: keeps what was visited, asks the network first, and answers from what it kept where
// there is none. A file of the search index is named by its content, so a copy of it is never out of date and
// is not asked for again. Another build has another worker, by a line that stands before this one; it renews
// the copies while it is installed.

const worker = /** @type {any} */ (self);
/** @type {string} */
const scope = worker.registration.scope;
const PAGES = `noctule pages ${scope}`;
const PARTS = `noctule parts ${scope}`;
const OWN = `noctule own ${scope}`;
const MOST_PAGES = 400;
const MOST_PARTS = 1000;
const PATIENCE_MS = 4000;
const PART = /^_search\/[0-9a-f]{8,}\.js$/;
const NO_NETWORK = `${scope}_offline.html`;
/** How often the copies of parts were forgotten: what was asked for before is not kept either. */
let forgotten = 0;

/** The address without query and fragment: a file has one copy. @param {string} url */
function plain(url) {
  return url.split(/[?#]/)[0];
}

/** The copy of a file; hosts call a page with or without its ending. @param {string} url */
async function copyOf(url) {
  const bare = plain(url)
    .replace(/\/index\.html$/, "/")
    .replace(/\.html$/, "");
  const cache = await caches.open(PAGES);
  for (const name of [plain(url), bare, bare.endsWith("/") ? `${bare}index.html` : `${bare}.html`]) {
    const found = await cache.match(name);
    if (found) return found;
  }
  return undefined;
}

/**
 * What the network said becomes the copy; a page that is gone has none.
 * @param {string} url
 * @param {Response} found
 * @param {number} when how often parts had been forgotten when it was asked for
 */
async function settle(url, found, when = forgotten) {
  const name = plain(url);
  if (found.status === 404 || found.status === 410)
    return void (await (await caches.open(PAGES)).delete(name));
  if (found.status !== 200 || found.type === "opaque") return;
  const part = PART.test(name.slice(scope.length));
  // A host that answers everything with some page must not fill the index with it.
  if (part && !/javascript/.test(found.headers.get("content-type") || "")) return;
  // Whole before it is put: a cache that waits for the rest of a file answers nothing meanwhile. And what was
  // redirected may not answer a visit.
  const copy = new Response(await found.blob(), { headers: found.headers });
  const cache = await caches.open(part ? PARTS : PAGES);
  await cache.put(name, copy);
  if (part && when !== forgotten) await cache.delete(name);
}

/**
 * The network's answer, and its copy kept.
 * @param {any} event
 * @param {number} [when] how often parts had been forgotten when it was asked for
 * @returns {Promise<Response>}
 */
function asked(event, when) {
  // What a browser takes for fresh may be of the build before: files that did not change keep their old
  // times.
  const visit = event.request.mode === "navigate";
  const answer = fetch(visit ? new Request(event.request, { cache: "no-cache" }) : event.request);
  // A full disk costs the copy and not the answer.
  event.waitUntil(answer.then((found) => settle(event.request.url, found.clone(), when)).catch(() => {}));
  return answer;
}

/** @param {any} event @returns {Promise<Response>} */
async function part(event) {
  const when = forgotten;
  return (await (await caches.open(PARTS)).match(plain(event.request.url))) || asked(event, when);
}

/** @param {any} event @returns {Promise<Response>} */
async function page(event) {
  const answer = asked(event);
  const url = event.request.url;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)).then(
    async () => (await copyOf(url)) || answer,
  );
  try {
    const found = await Promise.race([answer, late]);
    return found.status < 500 ? found : (await copyOf(url)) || found;
  } catch {
    const copy = await copyOf(url);
    if (copy) return copy;
    const known = event.request.mode === "navigate" && (await (await caches.open(OWN)).match(NO_NETWORK));
    if (!known) return Response.error();
    // Its addresses are relative, so it is shown where it lies.
    return plain(url) === NO_NETWORK ? known : Response.redirect(NO_NETWORK);
  }
}

/** The oldest copies go where there are too many. @param {string} name @param {number} most */
async function trim(name, most) {
  const cache = await caches.open(name);
  const kept = await cache.keys();
  for (const each of kept.slice(0, Math.max(0, kept.length - most))) await cache.delete(each);
}

/** Copies of the files that a page loaded before the worker was there. @param {string[]} urls */
async function keep(urls) {
  for (const url of urls) {
    if (!url.startsWith(scope) || (await caches.match(plain(url)))) continue;
    const when = forgotten;
    await fetch(plain(url))
      .then((found) => settle(url, found, when))
      .catch(() => {});
  }
  await trim(PAGES, MOST_PAGES);
  await trim(PARTS, MOST_PARTS);
}

/**
 * Copies of the build before are asked for again. What the search has fits together, so it waits until it is
 * used.
 */
async function renew() {
  for (const { url } of await (await caches.open(PAGES)).keys()) {
    if (!url.startsWith(`${scope}_search/`)) await settle(url, await fetch(url, { cache: "no-cache" }));
  }
}

/** @param {{keep?: string[], forget?: boolean}} told */
async function follow({ keep: urls = [], forget = false }) {
  if (!forget) return keep(urls);
  forgotten++;
  await caches.delete(PARTS);
}

worker.addEventListener("install", (/** @type {any} */ event) => {
  // The worker before goes on until its pages are closed: the two differ in a line, and a visit amid an
  // exchange could fail.
  const own = caches.open(OWN).then((cache) => cache.add(new Request(NO_NETWORK, { cache: "reload" })));
  // Where the network goes away in the middle, a visit renews what is left.
  event.waitUntil(own.then(() => renew().catch(() => {})));
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("message", (/** @type {any} */ event) =>
  event.waitUntil(follow(event.data).catch(() => {})),
);
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  if (method !== "GET" || !url.startsWith(scope)) return;
  event.respondWith(PART.test(plain(url).slice(scope.length)) ? part(event) : page(event));
});
