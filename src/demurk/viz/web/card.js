// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The card of a row: what it is, why it is suspect, its labels and its nearest rows.
// The static page and the review show the same one. Nothing that comes from the table
// is ever read as markup: all of it becomes text nodes.

const MANY_LETTERS = 100000; // a longer text is cut here until it is asked for

function cardText(text) {
  const box = element("p", { class: "text", tabindex: "0" });
  box.textContent = text.slice(0, MANY_LETTERS);
  if (text.length <= MANY_LETTERS) return [box];
  const more = element("button", {
    type: "button", class: "plain",
    onclick() { box.textContent = text; more.remove(); },
  }, `Show all ${text.length.toLocaleString("en")} letters`);
  return [box, more];
}

// What a row would have if the suggestion were accepted, or null.
function becomes(card) {
  if (card.after) return card.after;
  if (card.column !== null && card.column !== undefined) {
    return card.given.includes(card.column) ? card.labels.filter((label) => label !== card.column)
      : [...card.labels, card.column].sort((a, b) => a - b);
  }
  return card.suggested === null || card.suggested === undefined ? null : [card.suggested];
}

// `pill(label, kind)` makes the element of a label; `picture(row, column)` says where a
// picture is, or null; `find(row)` is told of a neighbour that was chosen.
class CardView {
  constructor({ pill, picture, find }) {
    Object.assign(this, { pill, picture, find });
  }

  pictures(row, images) {
    return images.map(({ column, name }) => {
      const source = this.picture(row, column);
      if (!source) return element("span", { class: "note" }, name);
      return element("img", { src: source, alt: name, loading: "lazy" });
    });
  }

  pills(labels, kind = () => "") {
    if (!labels.length) return [element("span", { class: "note" }, "no label")];
    return labels.map((label) => this.pill(label, kind(label)));
  }

  line(term, ...content) {
    return [element("dt", {}, term), element("dd", {}, ...content)];
  }

  reasons(card) {
    return card.reasons.map(({ sentence, wrong }) => element("p", { class: "reason" },
      sentence,
      wrong === null || wrong === undefined ? null
        : element("span", { class: "chance" }, ` P(wrong) ${wrong.toFixed(2)}`)));
  }

  labels(card) {
    const after = becomes(card);
    const suspect = (label) => (label === card.column ? "suspect" : "");
    const facts = this.line("labels", ...(
      card.labels.length || !card.unknown.length ? this.pills(card.labels, suspect)
        : [element("span", { class: "note" }, "not labelled")]));
    if (after && card.labeled) {
      const added = (label) => (card.labels.includes(label) ? "" : "added");
      const gone = card.labels.filter((label) => !after.includes(label));
      facts.push(...this.line("if accepted",
        ...gone.map((label) => this.pill(label, "taken")), ...this.pills(after, added)));
    }
    return element("dl", {}, ...facts);
  }

  features(card) {
    if (!card.features.length) return null;
    const cell = (text) => element("td", {}, text);
    return element("table", { class: "features" },
      element("caption", {}, "Where it differs most from its nearest rows"),
      element("tr", {}, ...["feature", "here", "nearest rows"].map((word) =>
        element("th", { scope: "col" }, word))),
      ...card.features.map(({ name, value, usual }) => element("tr", {},
        element("th", { scope: "row" }, name), cell(value), cell(usual))));
  }

  neighbor(other) {
    return element("li", {},
      element("button", {
        type: "button", class: "plain", onclick: () => this.find(other.row),
      }, other.title),
      ...this.pictures(other.row, other.images),
      other.text ? element("span", { class: "excerpt" }, other.text) : null,
      element("span", { class: "pills" }, ...this.pills(other.labels)));
  }

  show(card) {
    return [
      element("h2", { class: "title", tabindex: "-1" }, card.title),
      card.done ? element("p", { class: "note" },
        "Decided already; another decision takes its place.") : null,
      card.random ? element("p", { class: "note" },
        "Drawn at random, suspect or not, to check what is left.") : null,
      ...this.reasons(card),
      this.labels(card),
      ...this.pictures(card.row, card.images),
      ...card.texts.flatMap(({ name, text }) => [
        element("h3", {}, name), ...cardText(text)]),
      this.features(card),
      card.neighbors.length ? element("h3", {}, "Nearest rows") : null,
      card.neighbors.length ? element("ul", { class: "neighbors" },
        ...card.neighbors.map((other) => this.neighbor(other))) : null,
    ].filter((part) => part !== null);
  }
}
