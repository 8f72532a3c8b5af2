// Keeps the list fresh while the server says that something changed, copies texts, sends filters at once, and each form
// only once.
"use strict";

const MOST_ROWS = 200;
let newest = 0; // position of the latest change
let busy = false; // rows are being loaded

const list = () => document.querySelector("#rows[data-live]");
const drawn = () => Number(document.getElementById("live")?.dataset.position ?? 0);

// One request at a time: what happens meanwhile comes with the next one.
async function refresh() {
  const rows = list();
  if (busy || !rows || newest <= drawn() || document.hidden) return;
  busy = true;
  let pause = 2000; // milliseconds until the next request, after a failure
  try {
    const url = new URL(rows.dataset.live, location);
    url.searchParams.set("after", drawn());
    url.searchParams.set("drawn", [...rows.children].map((row) => row.id).join("."));
    const answer = await fetch(url);
    if (!answer.ok || !rows.isConnected) return;
    draw(rows, new DOMParser().parseFromString(await answer.text(), "text/html"));
    pause = 250;
    await refreshEntry();
  } finally {
    busy = false;
    // Also after a failure, and if the browser loaded another view meanwhile: perhaps no other change follows.
    if (list() && newest > drawn()) setTimeout(refresh, pause);
  }
}

// Adds the new rows, and replaces those that are on the page and have changed.
function draw(rows, answer) {
  const fresh = [];
  for (const row of answer.querySelectorAll("li")) {
    const old = document.getElementById(row.id);
    if (!old) {
      if (!("changed" in row.dataset)) fresh.push(row);
      continue;
    }
    const focused = old.contains(document.activeElement);
    old.replaceWith(row);
    if (focused) row.querySelector("a").focus();
  }
  rows.prepend(...fresh);
  const extra = [...rows.children].slice(MOST_ROWS);
  for (const old of extra) old.remove();
  count(answer.getElementById("live"), extra.length);
  mark();
  htmx.process(rows);
}

// Adds up how many entries are not on the page.
function count(live, removed) {
  const old = document.getElementById("live");
  const missed = Number(old.dataset.missed) + Number(live.dataset.missed) + removed;
  live.dataset.missed = live.querySelector("b").textContent = missed;
  live.hidden = missed === 0;
  old.replaceWith(live);
}

// Marks the row of the open entry.
function mark() {
  for (const link of document.querySelectorAll("#rows a[aria-current]")) link.removeAttribute("aria-current");
  const name = document.getElementById("detail")?.dataset.entry;
  document.getElementById(name)?.querySelector("a")?.setAttribute("aria-current", "true");
}

// Shows the open entry as it is now, unless someone types into its forms. Parts that were open stay open.
async function refreshEntry() {
  const detail = document.querySelector("#detail[data-entry]");
  if (!detail || detail.contains(document.activeElement) || detail.querySelector("[data-dirty]")) return;
  const answer = await fetch(location, { headers: { Accept: "text/html", "HX-Target": "beside" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("detail");
  if (fresh?.dataset.entry !== detail.dataset.entry || !detail.isConnected || detail.contains(document.activeElement)) return;
  const open = [...detail.querySelectorAll("details[open]")].map((each) => each.id);
  detail.replaceChildren(...fresh.childNodes);
  htmx.process(detail);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
}

function listen() {
  const changes = new EventSource("/_page/changes");
  changes.onmessage = (event) => {
    newest = Number(event.data);
    refresh();
  };
  changes.addEventListener("reset", () => location.reload());
}

document.addEventListener("DOMContentLoaded", listen);
document.addEventListener("visibilitychange", refresh);
document.addEventListener("input", (event) => event.target.closest("#detail form")?.setAttribute("data-dirty", ""));

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  }
});

// Tells a screen reader and the keyboard where the reader is after an entry was opened.
document.addEventListener("htmx:afterSettle", (event) => {
  const opened = document.querySelector(".traffic");
  const detail = document.querySelector("#detail");
  opened?.classList.toggle("opened", Boolean(detail?.dataset.entry));
  mark();
  refresh(); // something may have changed after the server had drawn this view
  if (event.detail.requestConfig?.headers["HX-Boosted"] !== "true" && event.detail.elt?.id === "beside") {
    detail.focus({ preventScroll: true });
  }
});

// Of several clicks on entries the last one counts, also if its answer comes first.
let asked; // the request of the last click
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target.id === "beside") asked = event.detail.xhr;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "beside" && event.detail.xhr !== asked) event.detail.shouldSwap = false;
});

// A form is sent once: its buttons wait for the answer, which the move of a clock may give only after 30 seconds.
function sending(event, now) {
  const form = event.detail.elt.closest("form");
  form?.setAttribute("aria-busy", now);
  for (const button of form?.querySelectorAll("button:not([type=button])") ?? []) button.disabled = now;
}
document.addEventListener("htmx:beforeRequest", (event) => sending(event, true));
document.addEventListener("htmx:afterRequest", (event) => sending(event, false));
