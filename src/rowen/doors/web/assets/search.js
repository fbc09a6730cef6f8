// Search as one types: a pause of 60 ms, the older request is cancelled, old hits stay until new ones are there.
import { times } from "./keys.js";

const field = document.querySelector("#q"), PAUSE_MS = 60, SLOW_MS = 300;
let waiting = 0, choosing = 0, running = null, reading = null;

async function page(address, signal) {
  const answer = await fetch(address, { signal, headers: { Accept: "text/html" } });
  if (!answer.ok && answer.status !== 400) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function put(found, id) {
  const fresh = found.getElementById(id), here = document.getElementById(id);
  if (!fresh || !here) return;
  here.replaceChildren(...fresh.childNodes);
  times(here);
}

async function ask() {
  const address = new URL(location.href), query = field.value.trim();
  for (const name of ["hit", "page", "done"]) address.searchParams.delete(name);
  query ? address.searchParams.set("q", query) : address.searchParams.delete("q");
  running?.abort();
  running = new AbortController();
  const slow = setTimeout(() => said("Searching …"), SLOW_MS);
  try {
    const asking = new URL(address);
    asking.searchParams.set("typing", "1");
    const found = await page(asking, running.signal);
    put(found, "results");
    document.title = found.title;
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") said("The server did not answer. What you see is from before.");
  } finally {
    clearTimeout(slow);
  }
}

function said(text) {
  const line = document.querySelector("#results [role=status]");
  if (line) line.textContent = text;
}

function typed() {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE_MS);
}
field?.addEventListener("input", typed);
// What was typed before this file had arrived.
if (field && field.value !== field.defaultValue) typed();

// The chosen hit in its place: only the pane changes.
document.addEventListener("rowen:chosen", ({ detail: row }) => {
  clearTimeout(choosing);
  if (!row.dataset.read || getComputedStyle(document.querySelector("#read")).display === "none") return;
  choosing = setTimeout(async () => {
    reading?.abort();
    reading = new AbortController();
    try {
      put(await page(row.dataset.read, reading.signal), "read");
    } catch { /* a newer choice is on its way, or the next one will tell */ }
  }, PAUSE_MS);
});
