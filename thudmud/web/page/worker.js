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
  const newest = keepNewest(event, pages, kept);
  if (!kept) return newest;
  event.waitUntil(newest.catch(() => {})); // without a network, the page says so itself
  return kept;
}

/**
 * Keep the newest start page, and tell the page that is being opened if it is an older one.
 *
 * @param {any} event
 * @param {Cache} pages
 * @param {Response | undefined} kept
 */
async function keepNewest(event, pages, kept) {
  const response = await fetch(event.request);
  const version = response.headers.get("ETag");
  if (!response.ok || version === kept?.headers.get("ETag")) return response;
  await pages.put(START, response.clone());
  if (!kept) return response;
  const page = await worker.clients.get(event.resultingClientId);
  page?.postMessage({ newer: version });
  return response;
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
