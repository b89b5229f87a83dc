// The shown span of time, user and packet, and the positions of times on the screen.

const NARROWEST_NS = 1000;

class View {
  constructor(about) {
    this.whole = [about.beginNs, Math.max(about.endNs, about.beginNs + NARROWEST_NS)];
    const margin = (this.whole[1] - this.whole[0]) * 0.01;
    this.whole[1] += margin;
    [this.t0, this.t1] = this.whole;
    this.user = about.users.length ? about.users[0].user : -1;
    this.pinned = -1;
    this.left = 84;
    this.width = 1000;
  }

  x(time) { return this.left + (time - this.t0) / (this.t1 - this.t0) * (this.width - this.left); }

  time(x) { return this.t0 + (x - this.left) / (this.width - this.left) * (this.t1 - this.t0); }

  perPixel() { return (this.t1 - this.t0) / Math.max(1, this.width - this.left); }

  show(t0, t1) {
    const [begin, end] = this.whole;
    const span = Math.min(Math.max(t1 - t0, NARROWEST_NS), end - begin);
    const from = Math.min(Math.max((t0 + t1 - span) / 2, begin), end - span);
    [this.t0, this.t1] = [from, from + span];
  }

  zoom(factor, around = (this.t0 + this.t1) / 2) {
    const span = Math.min(Math.max((this.t1 - this.t0) * factor, NARROWEST_NS), this.whole[1] - this.whole[0]);
    const share = (around - this.t0) / (this.t1 - this.t0);
    this.show(around - share * span, around + (1 - share) * span);
  }

  move(share) {
    const step = (this.t1 - this.t0) * share;
    this.show(this.t0 + step, this.t1 + step);
  }

  // Moves or widens the shown time so that it contains a span of time, with a margin.
  reveal(from, to) {
    const span = this.t1 - this.t0;
    if (from >= this.t0 && to <= this.t1) return;
    if (to - from < span) this.show((from + to - span) / 2, (from + to + span) / 2);
    else this.show(from - (to - from) * 0.1, to + (to - from) * 0.1);
  }
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

// Returns a duration as text: 1.234 s, 12.3 ms.
function spoken(ns) {
  if (!ns) return "0 s";
  const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
  return `${+(ns / size).toPrecision(4)} ${unit}`;
}

// Returns a time in seconds as text, exact to the nanosecond or with `digits` decimals.
function exact(ns, digits) {
  const text = (ns / 1e9).toFixed(9);
  return `${digits === undefined ? text.replace(/0{1,6}$/, "") : text.slice(0, text.length - 9 + digits)} s`;
}

// Returns the number of decimals with which all times, in seconds, are exact; at least 3.
function digits(times) {
  const most = times.map(ns => (Math.round(ns) % 1e9).toString().padStart(9, "0").replace(/0+$/, "").length);
  return Math.max(3, ...most);
}

// Returns the step of a scale with about `count` steps: 1, 2 or 5 times a power of ten.
function step(span, count) {
  const rough = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(times => power * times >= rough * 0.999);
}

// Returns the ticks of the time axis, with as many decimals as the step needs.
function ticks(view, count) {
  const size = step(view.t1 - view.t0, count), found = [];
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(size))));
  for (let at = Math.ceil(view.t0 / size) * size; at <= view.t1; at += size)
    found.push([at, `${(at / 1e9).toFixed(digits)} s`]);
  return found;
}
