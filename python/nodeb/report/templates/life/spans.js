// Spans of causes: what a transfer waited for, when and where. A page is given them in its element `spans`, each
// { begin, end, cause, place, packet, seq } with times in ns and the number of a packet, or through
// window.nodebLife.setSpans; with none it shows none.

const SPAN_INKS = ["data", "again", "ack", "ask", "fast", "good", "other"];

class Spans {
  constructor(list, view) { this.view = view; this.set(list); }

  set(list) {
    this.list = [...list].sort((a, b) => a.begin - b.begin);
    this.causes = [...new Set(this.list.map(span => span.cause))];
  }

  height() { return this.list.length ? 16 : 0; }

  colour(ink, cause) { return ink[SPAN_INKS[this.causes.indexOf(cause) % SPAN_INKS.length]]; }

  draw(ctx, ink, y) {
    const { view } = this;
    for (const span of this.list) {
      if (span.end < view.t0 || span.begin > view.t1) continue;
      const x = Math.max(view.left, view.x(span.begin));
      ctx.fillStyle = this.colour(ink, span.cause);
      ctx.fillRect(x, y, Math.max(1, Math.min(view.width, view.x(span.end)) - x), 12);
    }
  }

  // Those that led to what a packet's life ended with: its own, and all before on the path.
  ledTo(packet) {
    const last = this.list.findLastIndex(span => span.packet === packet);
    return this.list.slice(0, last + 1);
  }

  at(time) { return this.list.find(span => span.begin <= time && time < span.end); }
}
