// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The map of the review: suspects are marked, and a lasso takes those inside it.

const SUSPECT = { shape: 1, fill: 5, line: NO_RING };
const SMALLEST = 12, LARGEST = 600;

function insidePolygon(x, y, corners) {
  let inside = false;
  for (let k = 0, before = corners.length - 1; k < corners.length; before = k++) {
    const [ax, ay] = corners[k], [bx, by] = corners[before];
    if ((ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

class World {
  static async create(packed, take) {
    const world = new World();
    world.samples = await readSamples(packed.data);
    world.map = await PointMap.create(packed.plot, world.samples, packed.data.shapes);
    world.suspects = new Set();
    world.take = take;
    world.map.onmove = () => world.follow();
    world.map.listen(() => {}, () => {});
    world.draw();
    $("plot").addEventListener("pointerdown", (event) => world.begin(event), true);
    new ResizeObserver(() => requestAnimationFrame(() => world.follow())).observe($("plot"));
    return world;
  }

  show(items) {
    this.suspects = new Set(items.map(({ row }) => row));
    this.draw();
  }

  draw() {
    this.map.style((i) => (this.suspects.has(i) ? SUSPECT
      : { shape: 0, fill: NO_LABEL, line: NO_RING }));
  }

  mark(card) {
    this.row = card ? card.row : null;
    this.follow();
  }

  follow() {
    const spot = this.row === null || this.row === undefined ? null : this.map.screen(this.row);
    $("marker").hidden = !spot?.inside;
    if (spot) Object.assign($("marker").style, { left: `${spot.sx}px`, top: `${spot.sy}px` });
    if (this.radius) this.circle();
  }

  // Rows whose point passes a test of its place on the screen.
  rows(test) {
    const found = [];
    for (let i = 0; i < this.samples.n; i++) {
      const { sx, sy, inside } = this.map.screen(i);
      if (inside && test(sx, sy)) found.push(i);
    }
    return found;
  }

  // By keys: a circle around the card's row.
  arm() {
    this.armed = !this.armed;
    $("lasso").setAttribute("aria-pressed", String(this.armed));
    $("plot").classList.toggle("armed", this.armed);
    this.radius = this.armed && this.row !== null ? 60 : 0;
    this.circle();
    return this.armed;
  }

  circle() {
    const box = $("outline");
    box.hidden = !this.radius;
    if (!this.radius) return;
    const { sx, sy } = this.map.screen(this.row);
    const size = 2 * this.radius;
    Object.assign(box.style, {
      left: `${sx - this.radius}px`, top: `${sy - this.radius}px`,
      width: `${size}px`, height: `${size}px`,
    });
  }

  // A key while the lasso is out; true if it was meant for it.
  key(key) {
    if (!this.armed) return false;
    if (key === "Escape" || key === "l") this.arm();
    else if (key === "ArrowUp") this.radius = Math.min(LARGEST, this.radius * 1.25);
    else if (key === "ArrowDown") this.radius = Math.max(SMALLEST, this.radius / 1.25);
    else if (key === "Enter") {
      const { sx, sy } = this.map.screen(this.row), far = this.radius ** 2;
      const rows = this.rows((x, y) => (x - sx) ** 2 + (y - sy) ** 2 <= far);
      this.arm();
      this.take(rows);
    } else return false;
    if (this.armed) this.circle();
    return true;
  }

  // By pointer: an outline drawn freely.
  begin(event) {
    if (!this.armed) return;
    event.preventDefault();
    event.stopPropagation();
    this.radius = 0;
    this.circle();
    const { left, top } = $("plot").getBoundingClientRect();
    const corners = [[event.clientX - left, event.clientY - top]];
    const move = (moved) => {
      moved.stopPropagation();
      corners.push([moved.clientX - left, moved.clientY - top]);
    };
    const end = () => {
      removeEventListener("pointermove", move, true);
      this.arm();
      if (corners.length > 2) this.take(this.rows((x, y) => insidePolygon(x, y, corners)));
    };
    addEventListener("pointermove", move, true);
    addEventListener("pointerup", end, { once: true, capture: true });
  }
}
