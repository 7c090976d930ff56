// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Beside the card: filters, the list of suspects, and how far one has come.

const FEW_POINTS = 5000;

// Filters and the list.
const list = new LongList($("list"), 46, (row, i) => {
  const { title, label, given, wrong } = state.items[i];
  const word = label === null ? given : `${given === "1" ? "−" : "+"} ${label}`;
  row.append(element("span", { class: "what" }, title),
    element("span", { class: "moves" },
      element("span", { class: given === "1" || label === null ? "taken" : "added" }, word),
      wrong === null ? null : element("span", { class: "count" }, wrong.toFixed(2))));
}, (i) => { list.mark(i); alone(() => openQuestion(state.items[i].question)); });

async function showList() {
  keepItems((await ask(`/api/list?${query()}`)).items);
  world?.show(state.items);
}

function keepItems(items) {
  state.items = items;
  $("list-count").textContent = number(items.length);
  list.show([...items.keys()]);
  list.mark(items.findIndex((item) => item.question === state.card?.question));
  // Many points take long to draw; they are drawn when the list is made anew.
  if (start.rows <= FEW_POINTS) world?.show(items);
}

async function refilter(changes) {
  Object.assign(state.filter, changes);
  await showList();
  await next();
}

function clearFilter() {
  for (const id of ["search", "label", "kind"]) $(id).value = "";
  return refilter({ label: "", kind: "", search: "", lasso: "" });
}

// How far one has come.
function showState(known) {
  const [low, , high] = known.remaining, [hits, of] = known.last;
  $("facts").textContent = `${start.reviewer} · ${number(known.decided)} decided · `
    + `${number(known.found)} errors found`;
  const fact = (term, text) => [element("dt", {}, term), element("dd", {}, text)];
  $("progress").replaceChildren(element("dl", {},
    ...fact("found", `${number(known.found)} errors in ${number(known.decided)} decisions`),
    ...fact("left", `${number(low)} to ${number(high)} errors expected`),
    ...fact("last 20", of ? `${hits} of ${of} were errors` : "none yet"),
    ...known.agreement.flatMap(agreed).flatMap(([term, text]) => fact(term, text))),
  curve(known.curve));
  queueButtons(known);
}

// Two reviewers: how far they agree beyond chance.
function agreed({ reviewers, both, kappa, low, high }) {
  const interval = kappa === null ? "" : `, kappa ${kappa} (${low} to ${high})`;
  return [[reviewers.join(", "), `both settled ${number(both)}${interval}`]];
}

function curve(points) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const [last, found] = points.at(-1);
  svg.setAttribute("viewBox", "0 0 200 60");
  svg.setAttribute("class", "curve");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${found} errors found after ${last} decisions`);
  const line = document.createElementNS(svg.namespaceURI, "polyline");
  line.setAttribute("points", points.map(([x, y]) =>
    `${(196 * x) / Math.max(1, last) + 2},${57 - (54 * y) / Math.max(1, last)}`).join(" "));
  svg.append(line);
  return svg;
}

const QUEUES = [["suspects", "Suspects"], ["unlabelled", "Unlabelled"], ["second", "Second opinion"],
  ["disputed", "Disagreements"]];

function queueButtons(known) {
  const count = (key) => (key === "suspects" ? "" : ` ${number(known[key])}`);
  state.queues = QUEUES.filter(([key]) => key === "suspects" || known[key] || key === state.queue);
  $("queues").replaceChildren(...state.queues.map(([key, word]) => element("button", {
    type: "button", "data-key": key, "aria-pressed": String(key === state.queue),
    onclick: () => alone(() => setQueue(key)),
  }, word + count(key))));
}

async function setQueue(queue) {
  state.queue = queue;
  state.seen = [];
  await showList();
  showState(await ask("/api/state"));
  await next();
}

function nextQueue() {
  const keys = state.queues.map(([key]) => key);
  return setQueue(keys[(keys.indexOf(state.queue) + 1) % keys.length]);
}

// Nobody waits for this: the next card stands already. One at a time is enough.
async function refreshSoon(listed = false) {
  state.stale ||= listed;
  state.again = true;
  if (document.documentElement.dataset.refreshing) return;
  document.documentElement.dataset.refreshing = "yes";
  try {
    while (state.again) {
      state.again = false;
      await refresh();
    }
  } catch (error) {
    say(`Not shown: ${error.message}`);
  } finally {
    delete document.documentElement.dataset.refreshing;
  }
}

async function refresh() {
  const known = await ask("/api/state");
  const anew = known.version !== state.version;
  if (anew) say("The suspects have been ranked anew.");
  state.version = known.version;
  showState(known);
  if (anew || state.stale) {
    state.stale = false;
    await showList();
  }
}
