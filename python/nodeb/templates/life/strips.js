// Strips below the packets, on the same time axis: windows, queues, round trips.

const STRIP = 74, BETWEEN = 26;

class Strips {
  constructor(about, data, view) {
    Object.assign(this, { about, data, view });
    const users = about.users, t = data.timer;
    t.left = new Float64Array(t.value.length);
    for (let i = 0; i < t.left.length; i++) t.left[i] = t.value[i] - t.time[i] / 1e9;
    this.list = [
      { title: "congestion window", unit: "segments", lines: [
        { name: "window", table: data.window, column: "value", ink: "data" },
        { name: "threshold", table: data.window, column: "ssthresh", ink: "muted", dash: [4, 3], isLimit: true }] },
      { title: "queue at the bearer", unit: "packets", lines: [{ name: "queue", table: data.queue, column: "value", ink: "data" }] },
      { title: "round trip and timer", unit: "s", lines: [
        { name: "round trip", table: data.round_trip, column: "value", ink: "data" },
        { name: "timer", table: data.timer, column: "left", ink: "muted", dash: [2, 3] }] },
    ];
    for (const table of [data.window, data.queue, data.round_trip, data.timer, data.moments]) table.of = byUser(table, users);
  }

  height() { return this.list.length * (STRIP + BETWEEN) + 14; }

  shownUser() { return this.view.user >= 0 ? this.view.user : this.about.users[0]?.user ?? -1; }

  rows(table) { return (table.of.get(this.shownUser()) || { rows: [] }).rows; }

  draw(ctx, ink, top) {
    this.top = top;
    this.list.forEach((strip, n) => this.drawStrip(ctx, ink, strip, top + n * (STRIP + BETWEEN) + BETWEEN));
  }

  drawStrip(ctx, ink, strip, y) {
    const { view } = this;
    ctx.font = ink.small;
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    ctx.fillStyle = ink.muted;
    const whose = view.user < 0 && this.about.users.length > 1 ? ` of user ${this.shownUser()}` : "";
    const title = `${strip.title}${whose} (${strip.unit})`;
    ctx.fillText(title, view.left + 2, y - 6);
    this.titled = view.left + 2 + ctx.measureText(title).width;
    ctx.fillStyle = ink.panel;
    ctx.fillRect(view.left, y, view.width - view.left, STRIP);
    if (strip === this.list[0]) this.drawRecovery(ctx, ink, y);
    const most = this.most(strip);
    if (!(most > 0)) {
      ctx.fillStyle = ink.muted;
      ctx.fillText("nothing to show in this time", view.left + 8, y + STRIP / 2 + 4);
      return;
    }
    const size = step(most, 3), top = Math.ceil(most / size * 1.02) * size;
    this.drawScale(ctx, ink, y, size, top);
    ctx.save();
    ctx.beginPath(); ctx.rect(view.left, y - 1, view.width - view.left, STRIP + 2); ctx.clip();
    for (const line of strip.lines) this.drawLine(ctx, ink, line, y, top);
    ctx.restore();
    this.drawKey(ctx, ink, strip, y);
  }

  drawScale(ctx, ink, y, size, top) {
    const { view } = this;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.strokeStyle = ink.grid;
    ctx.lineWidth = 1;
    for (let value = 0; value <= top * 1.001; value += size) {
      const at = y + STRIP * (1 - value / top);
      ctx.beginPath(); ctx.moveTo(view.left, at); ctx.lineTo(view.width, at); ctx.stroke();
      ctx.fillStyle = ink.muted;
      ctx.fillText(`${+value.toPrecision(6)}`, view.left - 6, at);
    }
  }

  // Draws the names of the lines next to the title, or inside the strip if there is no room.
  drawKey(ctx, ink, strip, y) {
    if (strip.lines.length < 2) return;
    ctx.textAlign = "right";
    ctx.textBaseline = "alphabetic";
    const length = strip.lines.reduce((sum, line) => sum + ctx.measureText(line.name).width + 36, 0);
    const at = this.titled + length > this.view.width ? y + 14 : y - 6;
    let x = this.view.width - 8;
    for (const line of [...strip.lines].reverse()) {
      ctx.fillStyle = ink.muted;
      ctx.fillText(line.name, x, at);
      x -= ctx.measureText(line.name).width + 6;
      ctx.strokeStyle = ink[line.ink];
      ctx.lineWidth = 2;
      ctx.setLineDash(line.dash || []);
      ctx.beginPath(); ctx.moveTo(x - 18, at - 4); ctx.lineTo(x, at - 4); ctx.stroke();
      ctx.setLineDash([]);
      x -= 30;
    }
  }

  span(table) {
    const rows = this.rows(table), { view } = this;
    const begin = Math.max(0, lowest(rows.length, i => table.time[rows[i]], view.t0) - 1);
    return [rows, begin, lowest(rows.length, i => table.time[rows[i]], view.t1)];
  }

  // Returns the highest value in the shown time. A threshold counts only up to 1.5 times the highest other value.
  most(strip) {
    let most = 0;
    for (const { table, column, isLimit } of strip.lines) {
      const [rows, begin, end] = this.span(table), limit = isLimit ? 1.5 * most : Infinity;
      for (let i = begin; i < end; i++) { const value = table[column][rows[i]]; if (value > most && value <= limit) most = value; }
    }
    return most;
  }

  drawLine(ctx, ink, { table, column, ink: colour, dash }, y, top) {
    const { view } = this, [rows, begin, end] = this.span(table), values = table[column];
    const high = value => y + STRIP * (1 - Math.min(value / top, 2));
    ctx.strokeStyle = ink[colour];
    ctx.lineWidth = 1.5;
    ctx.setLineDash(dash || []);
    ctx.beginPath();
    let last = NaN, px = NaN, low = 0, up = 0;
    const flush = () => { if (up > low) { ctx.moveTo(px, high(low)); ctx.lineTo(px, high(up)); ctx.moveTo(px, high(last)); } };
    for (let i = begin; i < end; i++) {
      const value = values[rows[i]], x = Math.max(view.left, view.x(table.time[rows[i]]));
      if (!(value >= 0)) { if (last >= 0) { flush(); ctx.lineTo(x, high(last)); } last = NaN; continue; }
      if (!(last >= 0)) { ctx.moveTo(x, high(value)); px = x; low = up = last = value; continue; }
      if (x - px < 1) { low = Math.min(low, value); up = Math.max(up, value); last = value; continue; }
      flush();
      ctx.lineTo(x, high(last)); ctx.lineTo(x, high(value));
      px = x; low = up = last = value;
    }
    flush();
    if (last >= 0) ctx.lineTo(Math.min(view.width, view.x(this.about.knownNs)), high(last));
    ctx.stroke();
    ctx.setLineDash([]);
  }

  // Draws the states of loss recovery, each from its beginning to that of the next state.
  drawRecovery(ctx, ink, y) {
    const { view, about, data: { moments } } = this, rows = this.rows(moments);
    const recovery = about.names.kind.indexOf("recovery"), fast = about.names.detail.indexOf("fast");
    const timeout = about.names.detail.indexOf("timeout");
    let from = null;
    const paint = (until) => {
      if (!from || until < view.t0 || moments.time[from.row] > view.t1) return;
      const x = Math.max(view.left, view.x(moments.time[from.row]));
      ctx.fillStyle = from.state === fast ? ink.fast : ink.timeout;
      ctx.fillRect(x, y, Math.max(2, Math.min(view.width, view.x(until)) - x), STRIP);
    };
    for (const row of rows) {
      if (moments.kind[row] !== recovery) continue;
      paint(moments.time[row]);
      from = ![fast, timeout].includes(moments.detail[row]) ? null : { row, state: moments.detail[row] };
    }
    paint(about.knownNs);
  }

  // Returns a text on the values of a strip at a time.
  told(time, strip) {
    if (time > this.about.knownNs) return "beyond the time that was asked for";
    return strip.lines.map(({ name, table, column }) => {
      const rows = this.rows(table), i = lowest(rows.length, n => table.time[rows[n]], time) - 1;
      const value = i >= 0 ? table[column][rows[i]] : NaN;
      return value >= 0 ? `${name} ${+value.toPrecision(5)}` : "";
    }).filter(Boolean).join("\n");
  }

  // Returns the strip at a vertical position; undefined if there is none.
  under(y) {
    const n = Math.floor((y - this.top - BETWEEN) / (STRIP + BETWEEN)), inside = (y - this.top - BETWEEN) % (STRIP + BETWEEN);
    return n >= 0 && inside >= 0 && inside <= STRIP ? this.list[n] : undefined;
  }
}
