/** The service worker's registration, and what the page does when it is told of a newer version. */

export const WORKER = "/worker.js";

/**
 * Have a service worker keep the start page. Browsers have none without HTTPS, but on this machine.
 *
 * @param {(sentence: string) => void} say says that there is a newer version
 */
export function keepStartPage(say) {
  if (!("serviceWorker" in navigator)) return;
  addEventListener("load", () => {
    navigator.serviceWorker.register(WORKER).catch(() => {}); // then every visit loads the page
  });
  navigator.serviceWorker.addEventListener("message", ({ data }) => renew(String(data.newer), say));
  navigator.serviceWorker.startMessages();
  navigator.serviceWorker.controller?.postMessage("newer?");
}

/**
 * Load the newer version at once if nothing has been done yet. Servers of two versions at one address
 * don't keep a page reloading, since each version is loaded once.
 *
 * @param {string} version
 * @param {(sentence: string) => void} say
 */
function renew(version, say) {
  const key = `thud.newer.${version}`;
  const isUsed = navigator.userActivation?.hasBeenActive ?? true;
  if (isUsed || sessionStorage[key]) {
    say("There’s a newer version of this page: reload it when you like.");
    return;
  }
  sessionStorage[key] = "loaded";
  location.reload();
}
