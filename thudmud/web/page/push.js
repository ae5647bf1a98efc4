/**
 * What the browser runs while no page is open: it shows what the server tells, and opens the page
 * where that is. Nothing is played without a network, which a page says that is opened then.
 */

const worker = /** @type {any} */ (self);
const KEPT = "thud";
const OFFLINE = "/offline.html";

worker.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(keepOffline());
  worker.skipWaiting();
});

async function keepOffline() {
  const kept = await caches.open(KEPT);
  await kept.add(new Request(OFFLINE, { cache: "reload" }));
}

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  if (event.request.mode === "navigate") event.respondWith(page(event.request));
});

/** @param {Request} request */
async function page(request) {
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
