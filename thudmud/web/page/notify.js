/**
 * Notifications of this browser: the switch in the settings, and what it does.
 *
 * The server knows the browser by what its push service has given it, which is sent to the server as
 * a command. What is shown, also while no page is open, is shown by `worker.js`.
 */

import { fill, h } from "./dom.js";
import { WORKER } from "./offline.js";

/** @typedef {{key: string | null, mails: boolean, mail: string | null, browsers: number}} Notify */

/** Whether this browser can be notified at all. */
function canPush() {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** Return where the switch of a member is put, once it is known what the server does. */
export function notifyHost() {
  return h("fieldset", { id: "notify", hidden: true });
}

/**
 * Show the switch.
 *
 * @param {Notify} known the `Thud.Notify`
 * @param {(line: string) => void} tell sends a command that is not shown
 */
export async function showNotify(known, tell) {
  const host = document.getElementById("notify");
  if (!host) return;
  const mail = known.mail
    ? `Emails go to ${known.mail}.`
    : known.mails
      ? "To be notified by email, type “notify mail” and your address."
      : "";
  const isOn = (await subscription()) !== null && known.browsers > 0;
  host.hidden = !(known.key || mail);
  fill(
    host,
    h("legend", {}, "While you are away"),
    known.key && canPush() && box(known, isOn, tell),
    known.key && !canPush() && h("p.hint", {}, "Notifications are not supported in this browser."),
    h("p.hint", { id: "notify-said", role: "status" }, ""),
    h("p.hint", {}, mail, " “help notify” tells more."),
  );
}

/**
 * @param {Notify} known
 * @param {boolean} isOn
 * @param {(line: string) => void} tell
 */
function box(known, isOn, tell) {
  const change = async (/** @type {Event} */ event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    input.disabled = true;
    const problem = input.checked ? await switchOn(String(known.key), tell) : await switchOff();
    input.disabled = false;
    if (problem) input.checked = !input.checked;
    say(problem || (input.checked ? "Notifications are on in this browser." : "Notifications are off in this browser."));
  };
  return h(
    "label.switch",
    {},
    h("input", { type: "checkbox", checked: isOn, change }),
    "Notify me in this browser when it is my turn",
  );
}

/** @param {string} sentence */
function say(sentence) {
  const host = document.getElementById("notify-said");
  if (host) host.textContent = sentence;
}

/** Return the browser's subscription, if it has any. */
async function subscription() {
  if (!canPush()) return null;
  const worker = await navigator.serviceWorker.getRegistration(WORKER);
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/**
 * Return why it cannot be switched on, as a sentence; nothing if it is.
 *
 * @param {string} key the public key of the server, in base64url
 * @param {(line: string) => void} tell
 */
async function switchOn(key, tell) {
  if ((await Notification.requestPermission()) !== "granted")
    return "Notifications are blocked. Allow them in the browser’s settings for this page.";
  try {
    await navigator.serviceWorker.register(WORKER);
    const { pushManager } = await navigator.serviceWorker.ready;
    await (await pushManager.getSubscription())?.unsubscribe(); // which may be for another key
    const made = await pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: bytes(key),
    });
    const { endpoint, keys } = made.toJSON();
    tell(`notify browser ${endpoint} ${keys?.p256dh} ${keys?.auth}`);
    return "";
  } catch (error) {
    return `Notifications failed: ${error instanceof Error ? error.message : error}`;
  }
}

/** The server learns it from the push service, when it tells something the next time. */
async function switchOff() {
  await (await subscription())?.unsubscribe();
  return "";
}

/** @param {string} text in base64url */
function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0));
}
