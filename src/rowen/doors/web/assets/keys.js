// Keys, times in the reader's zone, and filters that act as one types. Each page shows all it has without this.
const $ = (s, at = document) => at.querySelector(s), all = (s) => [...document.querySelectorAll(s)];
const KEYS = {
  "/": "search, from anywhere", "↓ ↑ or j k": "next, previous row, hit or change", Enter: "open it; in the field: the first hit",
  o: "open the original page", d: "what changed in it", v: "diff: side by side or one column", "[ ]": "generation before, after",
  "g s, g h": "sources, handoffs", "?": "this list", Esc: "out of the field; what you typed stays",
};
const OFF = "rowen.letters-off";
const store = { get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* private window: lasts for this page */ } } };
let lettersOff = store.get(OFF) === "1", before = "";

// The focus itself moves, so that screen readers speak and Enter and Ctrl+Enter are the browser's own.
export function choose(row) {
  $(".sel")?.classList.remove("sel");
  row.classList.add("sel");
  document.dispatchEvent(new CustomEvent("rowen:chosen", { detail: row }));
}
function step(by) {
  const rows = all("[data-row]").filter((row) => row.offsetParent), at = rows.findIndex((row) => row.contains(document.activeElement));
  if (at === 0 && by < 0 && $("#hits")) return $("#q").focus();
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  if (!next) return;
  choose(next);
  next.scrollIntoView({ block: "nearest" });
  $("a.name, h2 a, a", next)?.focus({ preventScroll: true });
}
const follow = (selector) => () => $(selector)?.click();

function help() {
  const box = document.createElement("dialog"), list = document.createElement("dl");
  const put = (tag, text, into) => into.appendChild(Object.assign(document.createElement(tag), { textContent: text }));
  put("h2", "Keys", box);
  for (const [key, does] of Object.entries(KEYS)) { put("dt", key, list); put("dd", does, list); }
  box.append(list);
  const label = put("label", "", box), tick = Object.assign(document.createElement("input"), { type: "checkbox", checked: !lettersOff });
  label.append(tick, " Single letters are keys");
  tick.addEventListener("change", () => { lettersOff = !tick.checked; store.set(OFF, lettersOff ? "1" : "0"); });
  const close = put("button", "Close", put("p", "", box));
  close.addEventListener("click", () => box.close());
  document.body.append(box);
  box.addEventListener("close", () => box.remove());
  box.showModal();
}
function view() {
  const one = $("#diff")?.classList.toggle("uni");
  $("[data-view]")?.setAttribute("aria-pressed", String(Boolean(one)));
}
$("[data-view]")?.addEventListener("click", view);

const commands = {
  "/": () => { $("#q")?.focus(); $("#q")?.select(); }, "?": help, j: () => step(1), k: () => step(-1), v: view,
  o: follow("[data-original]"), d: follow("[data-diff]"), "[": follow("[data-before]"), "]": follow("[data-after]"),
};
const places = { s: "/", h: "/handoffs" };
document.addEventListener("keydown", (e) => {
  if (e.isComposing || e.altKey || e.ctrlKey || e.metaKey || $("dialog[open]")) return;
  const typing = e.target.matches("input:not([type=checkbox]), select, textarea"), hits = $("#hits"), field = $("#q");
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key], letter = /^[a-z]$/.test(e.key), last = before;
  before = typing ? "" : e.key;
  if (by && hits && (!typing || e.target === field)) { e.preventDefault(); step(by); }
  else if (typing && e.key === "Escape") e.target.blur();
  else if (hits && e.target === field && e.key === "Enter" && $("a.name", hits)) { e.preventDefault(); $("a.name", hits).click(); }
  else if (typing || (letter && lettersOff)) return;
  else if (last === "g" && places[e.key]) location.assign(places[e.key]);
  else if (commands[e.key]) { e.preventDefault(); commands[e.key](); }
});

// The chart of runs is one tab stop; arrows move between its runs.
document.addEventListener("keydown", (e) => {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key], run = way && e.target.closest?.("a[data-run]");
  if (!run) return;
  const runs = all("a[data-run]"), next = runs[runs.indexOf(run) + way];
  e.preventDefault();
  if (!next) return;
  run.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

// A pointer chooses only when it moves: a page that scrolls below it must not.
document.addEventListener("pointermove", (e) => {
  const row = e.pointerType === "mouse" && (e.movementX || e.movementY) && e.target.closest?.("#hits [data-row]");
  if (row && !row.classList.contains("sel")) choose(row);
});

// Times come in UTC, and are shown where the reader is.
export function times(at = document) {
  const now = new Date(document.body.dataset.now);
  for (const one of at.querySelectorAll("time[data-at]")) {
    const when = new Date(one.dateTime), clock = when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    const day = `${when.getDate()} ${when.toLocaleString("en-GB", { month: "short" }).slice(0, 3)}`;
    const said = when.toDateString() === now.toDateString() ? clock
      : when.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${when.getFullYear()}`;
    if (one.textContent !== said) one.textContent = said;
  }
}
times();
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if ($("#zone") && zone && zone !== "UTC") $("#zone").textContent = `Times in your zone (${zone.split("/").pop().replaceAll("_", " ")})`;

$("#f")?.addEventListener("input", (e) => {
  const wanted = e.target.value.trim().toLowerCase();
  for (const row of all("tbody [data-row]")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
document.addEventListener("change", (e) => {
  if (e.target.matches("[data-go]")) e.target.form.requestSubmit();
  if (e.target.matches("[data-all]")) for (const box of e.target.closest("form, table").querySelectorAll("input[name=id]")) box.checked = e.target.checked;
});
// What is typed to confirm a removal.
for (const form of all("form[data-typed]")) {
  const button = $("button", form), field = $("input[name=typed]", form);
  button.disabled = true;
  field.addEventListener("input", () => { button.disabled = field.value.trim() !== form.dataset.typed; });
}
