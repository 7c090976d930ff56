// Authors: The demurk developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The samples of the page: unpacked positions, labels and texts.

async function unzip(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  const stream = new Blob([bytes]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

// A table of bits, one row per sample and one column per label.
class Labels {
  // `unlabeled[i]` says whether nobody has looked at sample i.
  constructor(bytes, n, names, unlabeled) {
    this.bytes = bytes;
    this.unlabeled = unlabeled;
    this.n = n;
    this.names = names;
    this.width = Math.ceil(names.length / 8);
    this.first = new Int32Array(n).fill(-1);
    this.second = new Int32Array(n).fill(-1);
    this.counts = new Uint32Array(names.length);
    for (let i = 0; i < n; i++) {
      const own = this.of(i);
      for (const label of own) this.counts[label] += 1;
      if (own.length) this.first[i] = own[0];
      if (own.length > 1) this.second[i] = own[1];
    }
  }

  has(i, label) {
    return (this.bytes[i * this.width + (label >> 3)] >> (label & 7)) & 1;
  }

  // Numbers of the labels of sample i.
  of(i) {
    const own = [];
    for (let b = 0; b < this.width; b++) {
      let bits = this.bytes[i * this.width + b];
      for (let label = 8 * b; bits; label++, bits >>= 1) if (bits & 1) own.push(label);
    }
    return own;
  }

  // Distinct label sets, most frequent first, and the number of each sample's set. To
  // have no label is a set; that nobody has looked is none.
  get sets() {
    if (this._sets) return this._sets;
    const found = new Map();
    const of = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) {
      const start = i * this.width;
      const blank = this.first[i] < 0 && Boolean(this.unlabeled[i]);
      const key = blank ? "?" : this.bytes.subarray(start, start + this.width).join();
      let set = found.get(key);
      if (!set) {
        found.set(key, (set = { place: found.size, count: 0, example: i, blank }));
      }
      set.count += 1;
      of[i] = set.place;
    }
    const list = [...found.values()].sort((a, b) => b.count - a.count);
    const rank = new Uint32Array(list.length);
    list.forEach((set, r) => { rank[set.place] = r; });
    this._sets = {
      of: of.map((place) => rank[place]),
      list: list.map(({ count, example, blank }) => ({
        count, blank, labels: this.of(example),
      })),
    };
    return this._sets;
  }
}

async function readSamples(packed) {
  const { n, names } = packed;
  const bits = async (text) => (text ? new Uint8Array(await unzip(text)) : null);
  const maps = await Promise.all(packed.maps.map(async (text) => {
    const both = new Uint16Array(await unzip(text));
    return { x: both.subarray(0, n), y: both.subarray(n) };
  }));
  const givenBits = await bits(packed.given);
  const observed = await bits(packed.observed);
  const cleanedBits = await bits(packed.cleaned);
  const width = Math.ceil(names.length / 8);
  const unlabeled = new Uint8Array(n);
  if (observed) {
    for (let i = 0; i < n; i++) {
      unlabeled[i] = observed.subarray(i * width, (i + 1) * width).every((b) => b === 0);
    }
  }
  const given = new Labels(givenBits, n, names, unlabeled);
  const cleaned = cleanedBits && new Labels(cleanedBits, n, names, unlabeled);
  const texts = packed.texts
    && JSON.parse(new TextDecoder().decode(await unzip(packed.texts)));
  const scores = packed.scores && new Float32Array(await unzip(packed.scores));

  // Labels that were given (or known to be absent) and then overruled.
  const changed = new Uint8Array(n);
  if (cleaned) {
    for (let i = 0; i < n; i++) {
      for (let k = i * width; k < (i + 1) * width; k++) {
        const known = observed ? observed[k] : 255;
        if ((givenBits[k] ^ cleanedBits[k]) & known) changed[i] = 1;
      }
    }
  }
  const isObserved = (i, label) =>
    !observed || (observed[i * width + (label >> 3)] >> (label & 7)) & 1;

  return {
    n, names, maps, given, cleaned, changed, scores, unlabeled,
    text: (i) => (texts ? texts[i] : `Sample ${i}`),
    // How many labels of sample i nobody has looked at.
    missing(i) {
      let count = 0;
      if (observed) names.forEach((_, label) => { count += !isObserved(i, label); });
      return count;
    },
    // What cleaning did: labels taken away, labels added, missing ones filled in.
    changes(i) {
      const taken = [], added = [], filled = [];
      if (cleaned) {
        for (const label of given.of(i)) {
          if (!cleaned.has(i, label)) taken.push(label);
        }
        for (const label of cleaned.of(i)) {
          if (!given.has(i, label)) (isObserved(i, label) ? added : filled).push(label);
        }
      }
      return { taken, added, filled };
    },
  };
}
