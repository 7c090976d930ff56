// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Small pieces of the page: elements, swatches, and a list that draws only the rows in
// sight, so that it can hold all samples.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const OUTLINES = {
  circle: "M6 1.5a4.5 4.5 0 1 0 .01 0z",
  triangle: "M6 1 11 10H1z",
  square: "M2 2h8v8H2z",
};

function swatch(shape, color) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", OUTLINES[shape]);
  path.setAttribute("fill", color);
  svg.append(path);
  return svg;
}

class LongList {
  // `fill(row, i)` writes sample i into an empty row; `choose(i)` is told of a choice.
  constructor(box, height, fill, choose) {
    Object.assign(this, { box, height, fill, choose, items: [], current: null });
    this.inside = element("div", { class: "rows" });
    box.append(this.inside);
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(items) {
    this.items = items;
    this.inside.style.height = `${items.length * this.height}px`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 3);
    const count = Math.ceil(this.box.clientHeight / this.height) + 6;
    const rows = [];
    for (let k = first; k < Math.min(first + count, this.items.length); k++) {
      const i = this.items[k];
      const row = element("div", {
        id: `row-${i}`,
        class: "row",
        role: "option",
        style: `top: ${k * this.height}px; height: ${this.height}px`,
        "aria-selected": String(i === this.current),
        "aria-setsize": this.items.length,
        "aria-posinset": k + 1,
        onclick: () => this.choose(i),
      });
      this.fill(row, i);
      rows.push(row);
    }
    this.inside.replaceChildren(...rows);
  }

  // Mark sample i and bring it into sight if it is in the list.
  mark(i) {
    this.current = i;
    const place = this.items.indexOf(i);
    if (place >= 0) {
      const top = place * this.height;
      const { scrollTop, clientHeight } = this.box;
      if (top < scrollTop || top + this.height > scrollTop + clientHeight) {
        this.box.scrollTop = top - clientHeight / 2 + this.height / 2;
      }
      this.box.setAttribute("aria-activedescendant", `row-${i}`);
    } else this.box.removeAttribute("aria-activedescendant");
    this.draw();
  }

  key(event) {
    const last = this.items.length - 1;
    const place = this.items.indexOf(this.current);
    const goal = {
      ArrowDown: Math.min(last, place + 1),
      ArrowUp: Math.max(0, place - 1),
      Home: 0,
      End: last,
    }[event.key];
    if (goal === undefined || last < 0) return;
    event.preventDefault();
    this.choose(this.items[goal]);
  }
}
