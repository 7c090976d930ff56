// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The page: what the user chooses, and what follows from it.

const packed = JSON.parse(document.getElementById("data").textContent);
const plotItem = JSON.parse(document.getElementById("plot-item").textContent);
const { words } = packed; // what a difference between the labels is called
const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const PER_SHAPE = 8, OTHER = 8; // colours of the palette, and the one all others share
const CHANGED = { shape: 1, fill: 5, line: NO_RING };
const NOTHING = { shape: 0, fill: NO_LABEL, line: NO_RING };
const MOST_ROWS = 200;

const cards = packed.cards
  ? JSON.parse(new TextDecoder().decode(await unzip(packed.cards))) : {};
const samples = await readSamples(packed);
const { names, n } = samples;
const map = await PointMap.create(plotItem, samples, packed.shapes);
const state = {
  labels: samples.given, // the labels shown: given or cleaned
  by: "label", // what colours and rows stand for: label, set or change
  chosen: { label: new Set(), set: new Set(), change: new Set() },
  every: false, // a sample needs all chosen labels, not any
  onlyChanged: false,
  selected: null,
  hovered: null,
};

// The look of the k-th label or label set.
function lookOf(k) {
  if (k >= PER_SHAPE * packed.shapes.length) return { shape: 0, fill: OTHER };
  return { shape: Math.floor(k / PER_SHAPE), fill: k % PER_SHAPE };
}

const swatchOf = ({ shape, fill }) =>
  swatch(packed.shapes[shape], packed.colors[fill]);

// -1 for a sample without a label, -2 for one that is not labelled, else 0.
const bare = (i) => (state.labels.first[i] >= 0 ? 0 : samples.unlabeled[i] ? -2 : -1);

// The rows of the left panel for each way to colour. `of(i, key)` says whether sample
// i belongs to a row, `look(i)` how it is drawn.
const GROUPINGS = {
  label: {
    rows() {
      const rows = names.map((name, label) => ({
        key: label, name, count: state.labels.counts[label], look: lookOf(label),
      }));
      // Nobody has looked at an unlabelled sample; one without a label has none.
      for (const [key, name] of [[-1, "no label"], [-2, "not labelled"]]) {
        let count = 0;
        for (let i = 0; i < n; i++) count += bare(i) === key;
        if (count) rows.push({ key, name, count, look: NOTHING });
      }
      return rows;
    },
    of: (i, key) => (key < 0 ? bare(i) === key : state.labels.has(i, key)),
    look(i) {
      const first = state.labels.first[i], second = state.labels.second[i];
      if (first < 0) return NOTHING;
      return { ...lookOf(first), line: second < 0 ? NO_RING : lookOf(second).fill };
    },
  },
  set: {
    looks() {
      let rank = 0;
      return state.labels.sets.list.map(({ labels }) =>
        labels.length ? { ...lookOf(rank++), line: NO_RING } : NOTHING);
    },
    rows() {
      const looks = this.looks();
      return state.labels.sets.list.map(({ count, labels, blank }, key) => ({
        key, count, look: looks[key],
        name: labels.map((label) => names[label]).join(" + ")
          || (blank ? "not labelled" : "no label"),
      }));
    },
    of: (i, key) => state.labels.sets.of[i] === key,
    prepare() {
      const looks = this.looks(), { of } = state.labels.sets;
      this.look = (i) => looks[of[i]];
    },
  },
  change: {
    rows() {
      const count = samples.changed.reduce((sum, value) => sum + value, 0);
      return [
        { key: 1, name: words.changed, count, look: CHANGED },
        { key: 0, name: words.kept, count: n - count, look: NOTHING },
      ];
    },
    of: (i, key) => samples.changed[i] === key,
    look: (i) => (samples.changed[i] ? CHANGED : NOTHING),
  },
};

function isVisible(i) {
  if (state.onlyChanged && !samples.changed[i]) return false;
  const { of } = GROUPINGS[state.by];
  const chosen = state.chosen[state.by];
  if (!chosen.size) return true;
  const all = state.every && state.by === "label";
  for (const key of chosen) if (Boolean(of(i, key)) !== all) return !all;
  return all;
}

// Draw what the choices ask for.
function update() {
  const grouping = GROUPINGS[state.by];
  grouping.prepare?.();
  map.style((i) => (isVisible(i) ? grouping.look(i) : null));
  const part = map.drawn < map.visible
    ? `. WebGL is off in this browser, so a random ${number(map.drawn)} are drawn` : "";
  $("status").textContent =
    `${number(map.visible)} of ${number(n)} samples shown${part}`;
  $("clear").disabled = !state.chosen[state.by].size && !state.onlyChanged;
  showChanges();
  follow();
}

function showRows() {
  const wanted = $("search").value.trim().toLowerCase();
  const all = GROUPINGS[state.by].rows();
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  $("search").hidden = all.length <= 12;
  $("mode").hidden = state.by !== "label";
  $("ring").hidden = state.by !== "label" || state.labels.second.every((k) => k < 0);
  $("more").textContent = found.length > MOST_ROWS
    ? `${number(found.length - MOST_ROWS)} rarer ones: search to find them` : "";
  $("groups").replaceChildren(...found.slice(0, MOST_ROWS).map((row) => {
    const chosen = state.chosen[state.by];
    return element(
      "button",
      {
        type: "button",
        class: "group",
        title: row.name,
        "data-key": row.key,
        "aria-pressed": String(chosen.has(row.key)),
        onclick(event) {
          if (!chosen.delete(row.key)) chosen.add(row.key);
          event.currentTarget.setAttribute("aria-pressed", chosen.has(row.key));
          update();
        },
      },
      swatchOf(row.look),
      element("span", { class: "name" }, row.name),
      element("span", { class: "count" }, number(row.count)),
    );
  }));
}

// Samples in words: what it is, its given and its cleaned labels.
function pills(labels, kind = "") {
  return labels.map((label) =>
    element("span", { class: `pill ${kind}` }, swatchOf(lookOf(label)), names[label]));
}

function describe(i) {
  const given = samples.given.of(i), missing = samples.missing(i);
  const line = (term, ...content) => [
    element("dt", {}, term), element("dd", {}, ...content),
  ];
  const note = missing === names.length ? "not labelled"
    : missing ? `${missing} not observed` : given.length ? null : "no label";
  const facts = line(
    "given", ...pills(given), note && element("span", { class: "note" }, note),
  );
  if (samples.cleaned) {
    const { taken, added, filled } = samples.changes(i);
    const kept = given.filter((label) => !taken.includes(label));
    const content = taken.length + added.length + filled.length
      ? [
        ...pills(taken, "taken"), ...pills(added, "added"), ...pills(filled, "filled"),
        ...pills(kept),
      ]
      : [element("span", { class: "note" }, given.length ? "the same" : "no label")];
    facts.push(...line(words.after.toLowerCase(), ...content));
  }
  if (samples.scores && samples.changed[i]) facts.push(...line("score", samples.scores[i].toPrecision(3)));
  return [
    element("strong", {}, samples.text(i)),
    element("dl", {}, ...facts),
  ];
}

// The card of a suspect says why; any other sample has its labels only.
const view = new CardView({
  pill: (label, kind) => pills([label], kind)[0],
  picture: () => null,
  find: (i) => { location.hash = `sample-${i}`; },
});

// An address ending in #sample-3 opens the card of sample 3.
function followLink() {
  const [, i] = /^#sample-(\d+)$/.exec(location.hash) ?? [];
  if (i === undefined || Number(i) >= n) return;
  if (!isVisible(Number(i))) $("clear").click();
  select(Number(i));
  if (innerWidth > 900) scrollTo(0, 0);
}

// The list of changes.
const list = new LongList($("changes"), 46, (row, i) => {
  const { taken, added } = samples.changes(i);
  const word = (sign, kind) => (label) =>
    element("span", { class: kind }, `${sign} ${names[label]}`);
  row.append(
    element("span", { class: "what" }, samples.text(i)),
    element("span", { class: "moves" },
      ...taken.map(word("−", "taken")), ...added.map(word("+", "added"))),
  );
}, (i) => select(i));

const changedOrder = [...samples.changed.keys()].filter((i) => samples.changed[i]);
if (samples.scores) changedOrder.sort((a, b) => samples.scores[b] - samples.scores[a]);

function showChanges() {
  const wanted = $("find").value.trim().toLowerCase();
  const matches = (i) => {
    if (!wanted || samples.text(i).toLowerCase().includes(wanted)) return true;
    const { taken, added } = samples.changes(i);
    return [...taken, ...added].some((k) => names[k].toLowerCase().includes(wanted));
  };
  const items = changedOrder.filter((i) => isVisible(i) && matches(i));
  list.show(items);
  $("changes-count").textContent = items.length === changedOrder.length
    ? number(items.length) : `${number(items.length)} of ${number(changedOrder.length)}`;
}

function select(i) {
  state.selected = i;
  $("card").hidden = i === null;
  if (i !== null) {
    $("card-body").replaceChildren(...(cards[i] ? view.show(cards[i]) : describe(i)));
    $("card").scrollTop = 0;
    map.reveal(i);
  }
  list.mark(i);
  follow();
}

// Keep the marker on the selected sample, and the tooltip on the hovered one.
function follow() {
  const i = state.selected;
  const spot = i === null ? null : map.screen(i);
  $("marker").hidden = !spot?.inside;
  $("filtered").hidden = i === null || isVisible(i);
  if (spot) {
    Object.assign($("marker").style, { left: `${spot.sx}px`, top: `${spot.sy}px` });
    // The card must not cover its own sample.
    const low = spot.sx < 510 && spot.sy > $("plot").clientHeight / 2;
    $("card").classList.toggle("high", low);
  }
  hover(null);
}

function hover(i) {
  if (i === state.hovered) return;
  state.hovered = i;
  const tip = $("tip");
  tip.hidden = i === null;
  $("plot").classList.toggle("over", i !== null);
  if (i === null) return;
  tip.replaceChildren(...describe(i));
  const { sx, sy } = map.screen(i);
  const { clientWidth, clientHeight } = $("plot");
  const left = sx + 14 + tip.offsetWidth > clientWidth ? sx - 14 - tip.offsetWidth : sx + 14;
  const top = Math.min(sy + 14, clientHeight - tip.offsetHeight - 4);
  Object.assign(tip.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
}

// Controls.
function buttons(box, choices, chosen, choose) {
  const made = choices.map(([key, text]) =>
    element("button", {
      type: "button",
      "data-key": key,
      "aria-pressed": String(key === chosen),
      onclick(event) {
        for (const one of made) {
          one.setAttribute("aria-pressed", one === event.currentTarget);
        }
        choose(key);
      },
    }, text));
  box.append(...made);
}

function showStop(stop) {
  $("slider").value = stop;
  $("slider").setAttribute("aria-valuetext", packed.stops[stop]);
  [...$("stops").children].forEach((one, k) => {
    one.setAttribute("aria-pressed", String(k === stop));
  });
  return map.glide(stop);
}

function setUp() {
  const sets = samples.given.sets.list.filter(({ blank }) => !blank).length;
  const { length } = changedOrder;
  $("facts").textContent = [
    `${number(n)} samples`, `${number(names.length)} labels`,
    `${number(sets)} label sets`,
    ...(samples.cleaned ? [`${number(length)} ${words.count}`] : []),
  ].join(" · ");
  document.body.classList.toggle("cleaned", Boolean(samples.cleaned));
  $("caption").textContent = packed.caption;
  $("travel").hidden = packed.stops.length < 2;
  $("slider").max = packed.stops.length - 1;
  $("slider").addEventListener("input", () => showStop(Number($("slider").value)));
  const steps = Math.max(1, packed.stops.length - 1);
  $("stops").append(...packed.stops.map((name, k) =>
    element("button", {
      type: "button", title: name, "aria-pressed": String(k === 0),
      style: `left: ${(100 * k) / steps}%; max-width: ${100 / steps}%`,
      onclick: () => showStop(k),
    }, name)));
  const again = () => { showRows(); update(); };
  buttons($("source"), [["given", "Given"], ["cleaned", words.after]], "given", (key) => {
    state.labels = samples[key];
    state.chosen.set.clear();
    again();
  });
  const ways = [["label", "Label"], ["set", "Label set"], ["change", words.change]];
  buttons($("by"), samples.cleaned ? ways : ways.slice(0, 2), "label", (key) => {
    state.by = key;
    $("search").value = "";
    again();
  });
  buttons($("mode"), [[false, "any chosen"], [true, "all chosen"]], false, (key) => {
    state.every = key;
    update();
  });
  $("only-changed").addEventListener("change", (event) => {
    state.onlyChanged = event.target.checked;
    update();
  });
  $("clear").addEventListener("click", () => {
    state.chosen[state.by].clear();
    state.onlyChanged = $("only-changed").checked = false;
    again();
  });
  $("search").addEventListener("input", showRows);
  $("find").addEventListener("input", showChanges);
  $("close").addEventListener("click", () => select(null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(null);
  });
  map.listen(hover, (i) => select(i));
  map.onmove = follow;
  new ResizeObserver(() => requestAnimationFrame(follow)).observe($("plot"));
  addEventListener("hashchange", followLink);
  // The same link may be chosen twice.
  document.addEventListener("click", ({ target }) => {
    if (target.hash && target.hash === location.hash) followLink();
  });
  again();
}

setUp();
await map.painted(map.drawn, 2);
followLink();
document.documentElement.dataset.ready = "yes";
// For scripts that drive the page.
window.demurk = { map, samples, state };
