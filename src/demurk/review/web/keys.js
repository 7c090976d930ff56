// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Keys, and what happens when the page opens; comes last.

// Keys.
const inField = () => ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName);

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("ask").open) return;
  const { key } = event;
  if (inField()) {
    if (key === "Escape" || (key === "Enter" && document.activeElement.id !== "other")) {
      document.activeElement.blur();
    } else if (key === "Enter" && state.numbered.length) {
      const [first] = state.numbered;
      $("other").value = "";
      $("other").blur();
      alone(() => choose(first));
    } else return;
    event.preventDefault();
    return;
  }
  if (world?.key(key)) return event.preventDefault();
  const [, , action] = ACTIONS.find(([own]) => own === key) ?? [];
  const work = action ?? FURTHER[key];
  if (work) alone(work);
  else if (/^[1-9]$/.test(key) && state.card) {
    const label = state.numbered[Number(key) - 1];
    if (label !== undefined) alone(() => choose(label));
  } else if (key === "/") $("search").focus();
  else if (key === "o" && !$("other").hidden) $("other").focus();
  else if (key === "l") lasso();
  else return;
  event.preventDefault();
}

function lasso() {
  if (!world) return;
  const armed = world.arm();
  say(armed ? "Draw around points, or change the circle with ↑ and ↓ and press Enter." : "");
}

function setUp() {
  document.addEventListener("keydown", onKey);
  $("label").append(element("option", { value: "" }, several ? "any label" : "any class"),
    ...names.map((name) => element("option", { value: name }, name)));
  $("kind").hidden = !several;
  for (const id of ["label", "kind"]) {
    $(id).addEventListener("change", () => alone(() => refilter({ [id]: $(id).value })));
  }
  let waiting = null;
  $("search").addEventListener("input", () => {
    clearTimeout(waiting);
    document.documentElement.dataset.searching = "yes";
    waiting = setTimeout(() => {
      delete document.documentElement.dataset.searching;
      alone(() => refilter({ search: $("search").value }));
    }, 200);
  });
  $("accept-all").addEventListener("click", () => alone(FURTHER.A));
  $("keep-all").addEventListener("click", () => alone(FURTHER.K));
  $("clear").addEventListener("click", () => alone(clearFilter));
  $("help").addEventListener("click", () => alone(help));
  $("finish").addEventListener("click", () => alone(finish));
  $("lasso").addEventListener("click", lasso);
  $("ask-yes").addEventListener("click", () => $("ask").close("yes"));
  $("ask-no").addEventListener("click", () => $("ask").close(""));
  $("ask").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("ask").close("yes");
  });
}

let world = null;
setUp();
state.version = start.state.version;
showState(start.state);
await showList();
await next();
document.documentElement.dataset.ready = "yes";
if (start.map) {
  const packed = await ask("/api/map");
  $("map-part").hidden = false;
  world = await World.create(packed, (rows) => alone(async () => {
    if (!rows.length) return say("No row is inside.");
    const { name } = await ask("/api/lasso", { rows });
    await refilter({ lasso: name });
    say(`${number(rows.length)} rows inside; ${number(state.items.length)} suspects. c clears it.`);
  }));
  world.show(state.items);
  world.mark(state.card);
  document.documentElement.dataset.mapped = "yes";
}
// For scripts that drive the page.
window.demurk = { state, get world() { return world; } };
