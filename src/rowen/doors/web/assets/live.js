// News of the server, put where it belongs. A part is replaced as a whole: nothing is added up here.
import { times } from "./keys.js";

const line = document.querySelector("#live"), address = document.body.dataset.events;
const POLL_MS = 10_000, HIDDEN_MS = 60_000, MOST_ITEMS = 200, SPEAK_MS = 10_000;
let heard = new Date(), stream = null, polling = 0, broken = 0, spoken = 0, unseen = 0;

function clock(when) {
  return when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

function say(state, text) {
  if (!line || (line.dataset.state === state && state === "ok")) return;
  line.dataset.state = state;
  const shown = Object.assign(document.createElement("span"), { className: `st st-${state}`, textContent: text });
  line.replaceChildren(shown);
  if (state !== "ok") line.append(" ", Object.assign(document.createElement("a"), { href: location.href, textContent: "reload" }));
}

function stale() {
  say("wait", `No news since ${clock(heard)},`);
}

// Replace a part, unless a person is using it: a button must not move from under a finger.
function put(id, html) {
  const here = document.getElementById(id);
  if (!here || here.contains(document.activeElement) || here.matches(":hover:has(button:hover)")) return;
  const made = new DOMParser().parseFromString(`<table><template>${html}</template></table>`, "text/html").querySelector("template");
  here.replaceChildren(made.content);
  times(here);
}

// One polite line, at most every ten seconds.
function speak(text) {
  const status = document.querySelector("#spoken");
  if (!status || Date.now() - spoken < SPEAK_MS) return;
  spoken = Date.now();
  status.textContent = text;
}

function add(items) {
  const list = document.querySelector("#items");
  if (!list) return;
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const made = new DOMParser().parseFromString(items.join(""), "text/html");
  list.append(...made.body.childNodes);
  while (list.children.length > MOST_ITEMS) list.firstElementChild.remove();
  unseen = atEnd ? 0 : unseen + items.length;
  if (atEnd) list.scrollTop = list.scrollHeight;
  const more = document.querySelector("#unseen");
  if (more) { more.hidden = !unseen; more.textContent = `${unseen} new`; }
}
document.querySelector("#unseen")?.addEventListener("click", () => {
  const list = document.querySelector("#items");
  list.scrollTop = list.scrollHeight;
  unseen = 0;
  document.querySelector("#unseen").hidden = true;
});

// The whole state, from the page itself: after a break, and where there is no stream.
async function whole() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of found.querySelectorAll("[data-live]")) put(part.id, part.innerHTML);
    heard = new Date();
    return true;
  } catch {
    stale();
    return false;
  }
}

function poll() {
  clearTimeout(polling);
  polling = setTimeout(async () => { await whole(); if (!stream || stream.readyState !== EventSource.OPEN) poll(); },
    document.hidden ? HIDDEN_MS : POLL_MS);
}

function listen() {
  stream = new EventSource(address);
  stream.addEventListener("open", async () => {
    clearTimeout(polling);
    if (broken) await whole();
    broken = 0;
    heard = new Date();
    say("ok", "Live");
  });
  stream.addEventListener("parts", (e) => {
    heard = new Date();
    const { parts = {}, items = [], said = "" } = JSON.parse(e.data);
    for (const [id, html] of Object.entries(parts)) put(id, html);
    if (items.length) add(items);
    if (said) speak(said);
  });
  stream.addEventListener("beat", () => { heard = new Date(); });
  stream.addEventListener("over", async () => { stream.close(); await whole(); say("ok", "Ended"); });
  stream.addEventListener("error", () => {
    broken += 1;
    stale();
    // The browser tries again by itself unless the server refused.
    if (stream.readyState === EventSource.CLOSED) { setTimeout(listen, Math.min(30_000, 1000 * 2 ** broken)); }
    poll();
  });
}

if (address && "EventSource" in window) listen();
else if (address) { say("wait", `Read at ${clock(heard)},`); poll(); }
addEventListener("pagehide", () => stream?.close());
