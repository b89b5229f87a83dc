// Spans of critical paths (cause, time and place of each delay), drawn as a strip and along the packets' lines. The
// page has spans in its columns (`path`), or a script sets them by window.nodebLife.setSpans, each as
// { begin, end, cause, place, packet, seq, transfer }, with times in ns and the number of a packet.

const SPAN_STRIP = 14, MOST_TRACED = 3000; // largest number of spans that are also drawn along packets' lines

function spansOf({ path }, names) {
  const list = [];
  for (let i = 0; names && i < path.rows; i++)
    list.push({
      begin: path.begin[i], end: path.begin[i] + path.lasts[i], cause: names.cause[path.cause[i]], place: names.place[path.place[i]],
      packet: path.packet[i], seq: path.seq[i], transfer: path.transfer[i],
    });
  return list;
}

// Returns the total time of each cause in a list of spans, the largest first.
function summedCauses(list) {
  const sums = new Map();
  for (const span of list) sums.set(span.cause, (sums.get(span.cause) || 0) + span.end - span.begin);
  return [...sums].map(([cause, lasts]) => ({ cause, lasts })).sort((a, b) => b.lasts - a.lasts);
}

// Returns the fill of a cause: the colour of its family, with the texture of the cause.
function textured(ctx, ink, { family, texture }) {
  const colour = ink.families[family], size = 6;
  if (!texture) return colour;
  const tile = new OffscreenCanvas(size, size), on = tile.getContext("2d");
  on.fillStyle = ink.page; on.fillRect(0, 0, size, size);
  on.globalAlpha = 0.3; on.fillStyle = colour; on.fillRect(0, 0, size, size);
  on.globalAlpha = 1; on.strokeStyle = colour; on.lineWidth = texture === 3 || texture === 5 ? 1.2 : 2.4;
  const rising = [[-1, 7, 7, -1], [-4, 4, 4, -4], [2, 10, 10, 2]], falling = [[-1, -1, 7, 7], [-4, 2, 4, 10], [2, -4, 10, 4]];
  const lines = { 1: rising, 3: falling, 4: [[0, 3, 6, 3]], 5: [...rising, ...falling], 6: [[3, 0, 3, 6]] };
  on.beginPath();
  for (const [x, y, toX, toY] of lines[texture] || []) { on.moveTo(x, y); on.lineTo(toX, toY); }
  if (texture === 2) on.arc(3, 3, 1, 0, 7);
  on.stroke();
  return ctx.createPattern(tile, "repeat");
}

class Spans {
  constructor(list, view, user, paints) { Object.assign(this, { view, user, paints }); this.set(list); }

  set(list) {
    this.list = [...list].sort((a, b) => a.begin - b.begin);
    this.sums = summedCauses(this.list);
    this.causes = this.sums.map(one => one.cause);
    this.longest = this.list.reduce((most, span) => Math.max(most, span.end - span.begin), 0);
  }

  height() { return this.list.length ? SPAN_STRIP + 26 : 0; }

  paint(cause) { return this.paints[cause] || { name: "k-many", family: "rest", texture: 0 }; }

  isShown() { return this.user === undefined || this.view.user < 0 || this.view.user === this.user; }

  // Returns the text that replaces the path if another user than the path's is shown.
  elsewhere() { return `user ${this.user}'s is here; see nodeb life --user ${this.view.user}`; }

  visible() {
    const { list, view, longest } = this;
    const begin = lowest(list.length, i => list[i].begin, view.t0 - longest), end = lowest(list.length, i => list[i].begin, view.t1);
    return list.slice(begin, end).filter(span => span.end > view.t0);
  }

  draw(ctx, ink, y) {
    const { view } = this, top = y + 18, isShown = this.isShown();
    ctx.font = ink.small;
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    ctx.fillStyle = ink.muted;
    ctx.fillText(`critical path${this.user === undefined ? "" : ` of user ${isShown ? this.user : view.user}`}`, view.left + 2, top - 5);
    ctx.fillStyle = ink.panel;
    ctx.fillRect(view.left, top, view.width - view.left, SPAN_STRIP);
    if (!isShown) {
      ctx.fillStyle = ink.muted;
      ctx.fillText(this.elsewhere(), view.left + 8, top + SPAN_STRIP - 3);
      return;
    }
    const fills = this.causes.map(cause => textured(ctx, ink, this.paint(cause)));
    this.columns().forEach((shares, x) => {
      let at = top;
      const whole = Math.max(1, shares.reduce((sum, share) => sum + share, 0));
      shares.forEach((share, number) => {
        if (!share) return;
        const height = SPAN_STRIP * share / whole;
        ctx.fillStyle = fills[number];
        ctx.fillRect(view.left + x, at, 1.5, height); // 1.5 leaves no seams if a CSS pixel has a fractional number of device pixels
        at += height;
      });
    });
  }

  // Returns, for each pixel of the strip, the part of its time that each cause has.
  columns() {
    const { view } = this, found = [];
    for (const span of this.visible()) {
      const from = Math.max(0, view.x(span.begin) - view.left), to = Math.min(view.width - view.left, view.x(span.end) - view.left);
      const colour = this.causes.indexOf(span.cause);
      for (let x = Math.floor(from); x < to; x++) {
        const shares = found[x] ??= new Array(this.causes.length).fill(0);
        shares[colour] += Math.min(to, x + 1) - Math.max(from, x);
      }
    }
    return found;
  }

  // Draws the critical path along the packets' lines.
  trace(ctx, ink, scene, rowOf) {
    const spans = this.isShown() ? this.visible() : [];
    if (spans.length > MOST_TRACED) return;
    ctx.lineWidth = 3.5;
    ctx.lineCap = "round";
    for (const span of spans) {
      const row = rowOf(span.packet);
      if (row < 0) continue;
      ctx.strokeStyle = ink.families[this.paint(span.cause).family];
      ctx.beginPath();
      this.part(scene, row, span, (x, y, isFirst) => { if (isFirst) ctx.moveTo(x, y); else ctx.lineTo(x, y); });
      ctx.stroke();
    }
    ctx.lineCap = "butt";
  }

  // Calls put(x, y, isFirst) for each point of the part of a packet's line that lies in a span.
  part(scene, row, span, put) {
    let before = null, isFirst = true;
    scene.path(row, (time, y) => {
      const now = { time, y };
      if (before && time >= span.begin && before.time <= span.end) {
        const at = moment => before.time === time ? y : before.y + (y - before.y) * (moment - before.time) / (time - before.time);
        const from = Math.max(span.begin, before.time), to = Math.min(span.end, time);
        if (to > from) {
          if (isFirst) put(this.view.x(from), at(from), true);
          put(this.view.x(to), at(to), false);
          isFirst = false;
        }
      }
      before = now;
    });
  }

  // Returns the spans up to a packet's last one, on the path of the same transfer; [] if the packet has none.
  ledTo(packet) {
    const last = this.list.findLastIndex(span => span.packet === packet);
    if (last < 0) return [];
    const { transfer } = this.list[last];
    return this.list.slice(0, last + 1).filter(span => span.transfer === transfer);
  }

  // Returns a text on the span at a time.
  told(time) {
    if (!this.isShown()) return this.elsewhere();
    const span = this.at(time);
    return span ? `${span.cause}\n${span.place}, ${spoken(span.end - span.begin)}, packet #${span.packet}` : "";
  }

  at(time) { return this.isShown() ? this.list.findLast(span => span.begin <= time && time < span.end) : undefined; }
}
