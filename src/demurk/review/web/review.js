// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The review: one card at a time, a key for every button and a button for every key.

const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");

async function ask(path, asked = null) {
  const options = asked === null ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(asked),
  };
  const answer = await fetch(path, options);
  const made = answer.headers.get("content-type")?.includes("json")
    ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(made.error);
  return made;
}

const start = await ask("/api/start");
const { names } = start;
const several = start.form === "labels" || start.form === "tags";
const state = {
  card: null,
  queue: "suspects",
  filter: { label: "", kind: "", search: "", lasso: "" },
  draft: new Set(), // labels chosen for a row that has none yet
  seen: [], // questions on earlier cards
  items: [],
  version: 0,
  stale: false, // whether the list has to be fetched
  busy: false,
};

const query = (more = {}) => new URLSearchParams({
  queue: state.queue, ...state.filter, ...more,
});
const say = (text) => { $("status").textContent = text; };
const filtered = () => Object.values(state.filter).some(Boolean);

// One thing at a time: a key pressed before the card stands is not meant for it.
async function alone(work) {
  if (state.busy) return;
  state.busy = true;
  document.documentElement.dataset.busy = "yes";
  try {
    await work();
  } catch (error) {
    say(`Not done: ${error.message}`);
  } finally {
    state.busy = false;
    delete document.documentElement.dataset.busy;
  }
}

// The card.
const view = new CardView({
  pill: (label, kind) => element("span", { class: `pill ${kind}` }, names[label]),
  picture: (row, column) => `/image/${row}/${column}`,
  find: (row) => alone(() => openRow(row)),
});

function showCard(card, { remember = true } = {}) {
  if (remember && state.card) state.seen.push(state.card.question);
  if (!card || card.question !== state.card?.question) state.draft = new Set();
  state.card = card;
  if (card) $("card").replaceChildren(...view.show(card));
  else {
    $("card").replaceChildren(element("h2", { class: "title" }, "Nothing left here"),
      element("p", {}, filtered() ? "Clear the filter to go on."
        : "Every card of this list is decided. Finish says what comes next."));
  }
  $("card").scrollTop = 0;
  showActions();
  showOthers();
  list.mark(state.items.findIndex((item) => item.question === card?.question));
  world?.mark(card);
}

async function next(more = {}) {
  showCard((await ask(`/api/card?${query(more)}`)).card);
}

async function openQuestion(question, options) {
  showCard((await ask(`/api/card?question=${question}`)).card, options);
}

const openRow = (row) => openQuestion(several ? row * names.length : row);

// Deciding.
async function decide(answers, note = "") {
  const { card } = await ask("/api/decide", {
    answers, note, queue: state.queue, ...state.filter,
    card: state.card?.question ?? null, random: state.card?.random ?? false,
  });
  const gone = new Set(answers.map(({ question }) => question));
  keepItems(state.items.filter(({ question }) => !gone.has(question)));
  refreshSoon();
  return card;
}

const WORDS = {
  accept: "Accepted", keep: "Kept", skip: "Skipped", unsure: "Put off as unsure",
};

async function act(action) {
  const { card } = state;
  if (!card) return;
  if (!card.labeled && action === "keep") return say("There is no label to keep.");
  if (!card.labeled && action === "accept") return saveDraft();
  if (action === "accept" && becomes(card) === null) {
    return say("Choose a class by its number.");
  }
  showCard(await decide([{ question: card.question, action }]));
  say(`${WORDS[action]}: ${card.title}. z takes it back.`);
}

async function saveDraft() {
  const { card, draft } = state;
  if (!several) return say("Choose a class by its number.");
  const answers = names.map((_, label) => ({
    question: card.row * names.length + label, action: "label",
    decided: draft.has(label) ? "1" : "0",
  }));
  showCard(await decide(answers));
  say(`Labelled: ${card.title}. z takes it back.`);
}

// Another class, or another label of the same row.
async function choose(label) {
  const { card } = state;
  if (!card || label >= names.length) return;
  if (!several) {
    const action = card.labeled ? "choose" : "label";
    showCard(await decide([{ question: card.question, action, decided: names[label] }]));
    return say(`${names[label]}: ${card.title}. z takes it back.`);
  }
  if (!card.labeled) {
    if (!state.draft.delete(label)) state.draft.add(label);
    return showOthers();
  }
  if (label === card.column) return act("accept");
  const decided = card.labels.includes(label) ? "0" : "1";
  const question = card.row * names.length + label;
  await decide([{ question, action: "choose", decided }]);
  await openQuestion(card.question, { remember: false });
  say(`${decided === "1" ? "Added" : "Removed"} ${names[label]}: ${card.title}.`);
}

// Of several candidates, the one that is surely not true.
async function remove() {
  const { card } = state;
  if (card?.unlikely === undefined || card.labels.length < 2) {
    return say("There is no candidate to remove.");
  }
  const left = card.labels.filter((label) => label !== card.unlikely);
  const decided = left.map((label) => names[label]).join("|");
  showCard(await decide([{ question: card.question, action: "choose", decided }]));
  say(`Removed ${names[card.unlikely]}: ${card.title}. z takes it back.`);
}

async function undo() {
  const { undone, card } = await ask("/api/undo", {});
  if (!undone) return say("There is nothing to take back.");
  refreshSoon(true);
  if (card) showCard(card, { remember: false });
  say("Taken back.");
}

async function back() {
  const question = state.seen.pop();
  if (question === undefined) return say("This is the first card.");
  await openQuestion(question, { remember: false });
}

async function everything(action) {
  const items = [...state.items];
  if (!items.length || state.queue !== "suspects") return say("There is nothing listed.");
  const word = action === "accept" ? "Accept" : "Keep";
  const chances = items.map(({ wrong }) => wrong).filter((wrong) => wrong !== null);
  const least = chances.length
    ? ` The least suspect of them has P(wrong) ${Math.min(...chances).toFixed(2)}.` : "";
  const yes = await dialog(`${word} all ${number(items.length)}?`, [element("p", {},
    `Every suspect on the list is decided at once; one z takes it all back.${least}`)],
  `${word} all`);
  if (!yes) return;
  showCard(await decide(items.map(({ question }) => ({ question, action }))));
  say(`${word === "Keep" ? "Kept" : "Accepted"} ${number(items.length)} at once. z takes it back.`);
}

async function note() {
  if (!state.card) return;
  const { card } = state;
  const box = element("textarea", { rows: "4", "aria-label": "Note", maxlength: "10000" });
  const yes = await dialog(`Note on ${card.title}`, [box], "Save");
  if (!yes || !box.value.trim()) return;
  await ask("/api/decide", {
    answers: [{ question: card.question, action: "note" }], note: box.value,
    queue: state.queue,
  });
  say("Note saved.");
}

// Dialogs: true if the main button was chosen.
function dialog(title, body, yes = null) {
  const box = $("ask");
  $("ask-title").textContent = title;
  $("ask-body").replaceChildren(...body);
  $("ask-yes").hidden = yes === null;
  $("ask-yes").textContent = yes ?? "";
  box.returnValue = "";
  box.showModal();
  const field = $("ask-body").querySelector("textarea");
  (field ?? (yes === null ? $("ask-no") : $("ask-yes"))).focus();
  return new Promise((done) => {
    box.addEventListener("close", () => done(box.returnValue === "yes"), { once: true });
  });
}

// Buttons and keys, said once.
const ACTIONS = [
  ["a", "Accept", () => act("accept"), "main"],
  ["k", "Keep", () => act("keep"), "main"],
  ["s", "Skip", () => act("skip")],
  ["u", "Unsure", () => act("unsure")],
  ...(start.form === "candidates" ? [["x", "Remove", remove]] : []),
  ["n", "Note", note],
  ["z", "Undo", undo],
  ["ArrowLeft", "Previous", back],
  ["ArrowRight", "Next", () => next({ after: state.card?.question ?? "" })],
];
const KEYS = { ArrowLeft: "←", ArrowRight: "→" };
const FURTHER = {
  A: () => everything("accept"),
  K: () => everything("keep"),
  c: () => clearFilter(),
  t: () => nextQueue(),
  f: () => finish(),
  "?": () => help(),
};

function buttonWord(key, word) {
  const { card } = state;
  if (key === "a" && card && !card.labeled && several) return "Save labels";
  return key === "x" && card?.unlikely !== undefined
    ? `Remove ${names[card.unlikely]}` : word;
}

function showActions() {
  $("actions").replaceChildren(...ACTIONS.map(([key, word, work, kind]) =>
    element("button", {
      type: "button", class: kind ?? null, "data-key": key,
      onclick: () => alone(work),
    }, buttonWord(key, word), " ",
    element("kbd", {}, KEYS[key] ?? key))));
}

function showOthers() {
  const { card, draft } = state;
  const has = (label) => (card.labeled ? card.labels.includes(label) : draft.has(label));
  const wanted = $("other")?.value.toLowerCase() ?? "";
  const possible = (label) => start.form !== "candidates" || !card?.labeled
    || card.given.includes(label);
  const found = names.map((name, label) => [name, label])
    .filter(([name, label]) => possible(label) && name.toLowerCase().includes(wanted)).slice(0, 30);
  const made = card ? found.map(([name, label], place) =>
    element("button", {
      type: "button", class: "group", "data-label": label,
      "aria-pressed": String(Boolean(has(label))),
      onclick: () => alone(() => choose(label)),
    }, place < 9 ? element("kbd", {}, String(place + 1)) : null, " ", name)) : [];
  state.numbered = found.map(([, label]) => label);
  const box = $("other") ?? element("input", {
    id: "other", type: "search", placeholder: "Other label ( o )",
    "aria-label": "Find another label", oninput: showOthers,
  });
  box.hidden = names.length <= 9;
  const keep = document.activeElement === box;
  $("others").replaceChildren(box, ...made);
  if (keep) box.focus();
}

function help() {
  const rows = [
    ...ACTIONS.map(([key, word]) => [KEYS[key] ?? key, word]),
    ["1 to 9", several ? "Add or remove a label" : "Choose a class"],
    ["o", "Find another label by name"],
    ["A, K", "Accept or keep all on the list"],
    ["/", "Search"], ["c", "Clear the filter"],
    ["l", "Lasso: ↑ ↓ change its size, Enter takes it"],
    ["t", "Suspects, unlabelled rows, second opinions"],
    ["f", "Finish"], ["?", "These keys"],
  ];
  return dialog("Keys", [element("dl", { class: "keys" }, ...rows.flatMap(([key, word]) => [
    element("dt", {}, element("kbd", {}, key)), element("dd", {}, word)]))]);
}

async function finish() {
  const { found, decided, remaining } = await ask("/api/state");
  const [low, , high] = remaining;
  await dialog("All decisions are saved", [
    element("p", {}, `${number(decided)} decided, ${number(found)} errors found; `
      + `probably ${number(low)} to ${number(high)} are left.`),
    element("p", {}, "Write the corrected table with"),
    element("pre", {}, `demurk apply ${start.source}`),
    element("p", {}, "and stop the command with Ctrl+C. Opened again, the review goes on here."),
  ]);
}
