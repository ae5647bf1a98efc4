/**
 * The service worker, which runs beside the page, and while no page is open. It keeps the start page,
 * so that a reload needs no round trip; says so when another page is opened without a network, since
 * nothing can be played then; and shows what the server tells members who are away.
 */

const worker = /** @type {any} */ (self);
const KEPT = "thud";
const OFFLINE = "/offline.html";
const START = "/";

worker.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(keepPages());
  worker.skipWaiting();
});
worker.addEventListener("activate", (/** @type {any} */ event) => {
  event.waitUntil(worker.clients.claim());
});

async function keepPages() {
  const kept = await caches.open(KEPT);
  await kept.add(new Request(OFFLINE, { cache: "reload" }));
  await kept.add(new Request(START, { cache: "force-cache" })); // the browser has just loaded it
}

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  if (event.request.mode !== "navigate") return;
  const { pathname, search } = new URL(event.request.url);
  event.respondWith(pathname === START && !search ? startPage(event) : otherPage(event.request));
});

/**
 * The start page as it is kept, and meanwhile its newest version for the next time.
 *
 * @param {any} event
 */
async function startPage(event) {
  const pages = await caches.open(KEPT);
  const kept = await pages.match(START);
  if (!kept) return keepNewest(event, pages, null);
  const before = kept.headers.get("ETag");
  const newer = keepNewest(event, pages, before)
    .then((response) => response.ok && response.headers.get("ETag"))
    .then((version) => (version === before ? null : version))
    .catch(() => null); // without a network, the page says so itself
  opened.set(event.resultingClientId, newer);
  event.waitUntil(newer);
  return kept;
}

/**
 * Keep the newest start page.
 *
 * @param {any} event
 * @param {Cache} pages
 * @param {string | null} before the version that is kept already
 */
async function keepNewest(event, pages, before) {
  const response = await fetch(event.request);
  if (response.ok && response.headers.get("ETag") !== before)
    await pages.put(START, response.clone());
  return response;
}

/** By page that was opened from what is kept, the newer version, if any. @type {Map<string, Promise<any>>} */
const opened = new Map();

// The page asks, since it can't hear anything before its script runs.
worker.addEventListener("message", (/** @type {any} */ event) => {
  event.waitUntil(tellNewer(event.source));
});

/** @param {any} page */
async function tellNewer(page) {
  const newer = await opened.get(page.id);
  opened.delete(page.id);
  if (newer) page.postMessage({ newer });
}

/** @param {Request} request */
async function otherPage(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(OFFLINE);
    if (kept) return kept;
    throw error;
  }
}

worker.addEventListener("push", (/** @type {any} */ event) => {
  const { title, body, path } = event.data?.json() ?? {};
  const shown = { body, tag: path, icon: "/icon.svg", data: path };
  event.waitUntil(worker.registration.showNotification(title ?? "Thud", shown));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(go(event.notification.data ?? "/"));
});

/** @param {string} path */
async function go(path) {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const open = pages.find((/** @type {any} */ each) => new URL(each.url).pathname === path);
  if (open) await open.focus();
  else await worker.clients.openWindow(path);
}
