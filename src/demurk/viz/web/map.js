// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The map: a Bokeh plot with one source of points per shape. Points are drawn in a
// fixed random order, so that the first few of them are a fair sample of all.

const NO_LABEL = 9, NO_RING = 10; // places in the list of colours
const CANVAS_LIMIT = 20000; // points drawn where WebGL is missing
const SLOW = 100, FLUENT = 50; // milliseconds per frame: too slow, and what to aim at
const GLIDE = 700; // milliseconds from one map to the next

const nextFrame = () => new Promise((done) => requestAnimationFrame(() => done()));

function hasWebGL() {
  const canvas = document.createElement("canvas");
  return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
}

function shuffled(n) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let seed = 1;
  for (let i = n - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

class PointMap {
  static async create(item, samples, shapes) {
    const map = new PointMap();
    const views = await Bokeh.embed.embed_item(item, "plot");
    map.view = [...views][0];
    map.plot = map.view.model;
    map.sources = shapes.map((shape) => map.plot.document.get_model_by_name(shape));
    map.samples = samples;
    map.order = shuffled(samples.n);
    map.layers = shapes.map(() => ({ index: new Uint32Array(0) }));
    map.webgl = hasWebGL();
    map.limit = map.webgl ? Infinity : CANVAS_LIMIT;
    map.fluent = Infinity; // points that can be drawn fluently, learned by doing
    map.x = new Float32Array(samples.n);
    map.y = new Float32Array(samples.n);
    map.shown = 0;
    map.place(0);
    map.onmove = () => {};
    for (const range of [map.plot.x_range, map.plot.y_range]) {
      range.change.connect(() => map.moved());
    }
    return map;
  }

  // Called with the data coordinates of the pointer; null when it leaves.
  listen(hover, tap) {
    this.plot.js_event_callbacks = new Map([
      ["mousemove", [({ x, y }) => hover(this.nearest(x, y))]],
      ["mouseleave", [() => hover(null)]],
      ["tap", [({ x, y }) => tap(this.nearest(x, y))]],
    ]);
  }

  // Positions: map `to` after a share of the way from the positions `from`.
  place(to, from = null, share = 1) {
    const end = this.samples.maps[to];
    for (const axis of ["x", "y"]) {
      const now = this[axis];
      for (let i = 0; i < now.length; i++) {
        const goal = end[axis][i] / 65535;
        now[i] = share < 1 ? from[axis][i] + share * (goal - from[axis][i]) : goal;
      }
    }
  }

  // Choose points and their looks; look(i) is {shape, fill, line} or null to hide.
  style(look) {
    let visible = 0;
    const groups = this.layers.map(() => []);
    for (const i of this.order) {
      const own = look(i);
      if (!own) continue;
      visible += 1;
      if (visible <= this.limit) groups[own.shape].push([i, own.fill, own.line]);
    }
    const size = Math.min(10, Math.max(3, 16 - 2.6 * Math.log10(visible + 1)));
    this.layers = groups.map((group) => ({
      index: Uint32Array.from(group, (point) => point[0]),
      fill: Float32Array.from(group, (point) => point[1]),
      line: Float32Array.from(group, (point) => point[2]),
      // A ring needs room.
      size: Float32Array.from(group, (point) =>
        point[2] === NO_RING ? size : 1.3 * size),
    }));
    this.visible = visible;
    this.drawn = Math.min(visible, this.limit);
    this.draw();
  }

  draw(most = Infinity) {
    const share = Math.min(1, most / Math.max(1, this.drawn));
    this.layers.forEach((layer, s) => {
      const count = Math.ceil(layer.index.length * share);
      if (!count && !this.sources[s].data.x.length) return;
      const x = new Float32Array(count), y = new Float32Array(count);
      for (let k = 0; k < count; k++) {
        x[k] = this.x[layer.index[k]];
        y[k] = this.y[layer.index[k]];
      }
      const part = (column) => column.subarray(0, count);
      this.sources[s].data = {
        x, y,
        size: part(layer.size), fill: part(layer.fill), line: part(layer.line),
      };
    });
  }

  // Wait until the points are on the screen, and learn how many are drawn fluently.
  async painted(count, frames = 1) {
    const begun = performance.now();
    for (let frame = 0; frame < frames; frame++) await nextFrame();
    const spent = performance.now() - begun;
    if (spent > SLOW) this.fluent = Math.max(500, (count * FLUENT) / spent);
    else if (spent < FLUENT / 2) this.fluent *= 1.5;
  }

  // Move the points to another map; a later call takes over from where they are.
  async glide(to) {
    const turn = (this.turn = {});
    this.shown = to;
    const from = { x: this.x.slice(), y: this.y.slice() };
    const begun = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (;;) {
      const time = still ? 1 : Math.min(1, (performance.now() - begun) / GLIDE);
      const share = time * time * (3 - 2 * time);
      this.place(to, from, share);
      const count = Math.min(this.drawn, time < 1 ? this.fluent : Infinity);
      this.draw(count);
      this.onmove();
      await this.painted(count);
      if (turn !== this.turn) return;
      if (time === 1) break;
    }
    this.turn = null;
  }

  // The user pans or zooms: draw fewer points meanwhile if drawing is slow.
  moved() {
    this.onmove();
    if (this.fluent >= this.drawn) return;
    if (!this.resting) this.draw(this.fluent);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.resting = null;
      this.draw();
    }, 300);
  }

  // The drawn sample within 14 pixels of a place, or null.
  nearest(x, y) {
    const { x_range, y_range, inner_width, inner_height } = this.plot;
    const wide = inner_width / (x_range.end - x_range.start);
    const high = inner_height / (y_range.end - y_range.start);
    let best = null, closest = 14 * 14;
    for (const { index } of this.layers) {
      for (let k = 0; k < index.length; k++) {
        const dx = (this.x[index[k]] - x) * wide;
        const dy = (this.y[index[k]] - y) * high;
        const distance = dx * dx + dy * dy;
        if (distance < closest) {
          closest = distance;
          best = index[k];
        }
      }
    }
    return best;
  }

  // Where sample i is on the plot, in pixels, and whether that is inside the frame.
  screen(i) {
    const { frame } = this.view;
    const sx = frame.x_scale.compute(this.x[i]);
    const sy = frame.y_scale.compute(this.y[i]);
    const { left, right, top, bottom } = frame.bbox;
    return { sx, sy, inside: sx >= left && sx <= right && sy >= top && sy <= bottom };
  }

  // Centre the view on sample i if it is outside.
  reveal(i) {
    if (this.screen(i).inside) return;
    for (const [range, at] of [
      [this.plot.x_range, this.x[i]],
      [this.plot.y_range, this.y[i]],
    ]) {
      const half = (range.end - range.start) / 2;
      range.setv({ start: at - half, end: at + half });
    }
  }
}
