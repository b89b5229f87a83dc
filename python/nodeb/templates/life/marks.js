// Events other than those of packets: recovery, transfers, handovers, and the states of a user's channel.

const BAND = 14;

class Marks {
  constructor(about, data, view, whose) {
    Object.assign(this, { about, view, moments: data.moments, whose });
    this.kind = Object.fromEntries(about.names.kind.map((name, number) => [name, number]));
    this.hasChannel = data.moments.kind.includes(this.kind.channel);
  }

  rows() { return (this.moments.of.get(this.whose()) || { rows: [] }).rows; }

  // Returns the name and the colour of a mark, or nothing for an event that is not a mark.
  named(row) {
    const { moments, about, kind } = this, detail = about.names.detail[moments.detail[row]];
    switch (moments.kind[row]) {
      case kind.recovery: return { fast: ["fast recovery", "again"], timeout: ["timeout", "lost"], reduced: ["window reduced by marks", "muted"] }[detail] || null;
      case kind.transfer: return ["transfer done", "ack"];
      case kind.handover: return [`cell ${moments.value[row]}`, "ask"];
      default: return null;
    }
  }

  // Draws marks as small triangles above the lanes, with a name if there is room before the next mark.
  draw(ctx, ink, y) {
    const { view, moments } = this, shown = [];
    for (const row of this.rows()) {
      const x = view.x(moments.time[row]), mark = x >= view.left && x <= view.width ? this.named(row) : null;
      if (mark && !(shown.length && x < shown.at(-1).x + 3)) shown.push({ x, name: mark[0], colour: mark[1] });
    }
    ctx.font = ink.small;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    shown.forEach(({ x, name, colour }, n) => {
      ctx.fillStyle = ink[colour];
      ctx.beginPath(); ctx.moveTo(x - 4, y - 4); ctx.lineTo(x + 4, y - 4); ctx.lineTo(x, y + 4); ctx.fill();
      const room = (n + 1 < shown.length ? shown[n + 1].x - 4 : view.width) - x - 7;
      if (ctx.measureText(name).width > room) return;
      ctx.fillStyle = ink.muted;
      ctx.fillText(name, x + 7, y);
    });
  }

  // Draws the states of the channel, each from its beginning to that of the next state.
  drawChannel(ctx, ink, y) {
    const { view, moments, about, kind } = this, found = [...this.rows()].filter(row => moments.kind[row] === kind.channel);
    const colours = { dch: ink.good, fach: ink.start, pch: ink.panel };
    ctx.font = ink.small;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    found.forEach((row, n) => {
      const until = n + 1 < found.length ? moments.time[found[n + 1]] : about.knownNs;
      if (until < view.t0 || moments.time[row] > view.t1) return;
      const x = Math.max(view.left, view.x(moments.time[row])), width = Math.min(view.width, view.x(until)) - x;
      const name = about.names.detail[moments.detail[row]];
      ctx.fillStyle = colours[name] || ink.other;
      ctx.fillRect(x, y, Math.max(1, width - 1), BAND);
      if (width > ctx.measureText(name).width + 8) { ctx.fillStyle = name === "dch" ? ink.onGood : ink.text; ctx.fillText(name.toUpperCase(), x + 4, y + BAND / 2 + 0.5); }
    });
  }

  // Draws crosses below the blocks at the times when blocks were given up.
  drawGivenUp(ctx, ink, scene) {
    const { view, moments, kind } = this, seen = new Set();
    ctx.strokeStyle = ink.text;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (const row of this.rows()) {
      const x = Math.round(view.x(moments.time[row]));
      if (moments.kind[row] !== kind["given up"] || x < view.left || x > view.width || seen.has(x)) continue;
      seen.add(x);
      const y = scene.rowY(scene.at.rows) + scene.at.row + 6;
      ctx.moveTo(x - 3, y - 3); ctx.lineTo(x + 3, y + 3); ctx.moveTo(x - 3, y + 3); ctx.lineTo(x + 3, y - 3);
    }
    ctx.stroke();
  }

  // Returns a text on the marks near a position on the axis.
  told(x) {
    const { view, moments } = this, found = [];
    for (const row of this.rows()) {
      if (Math.abs(view.x(moments.time[row]) - x) > 5) continue;
      const mark = this.named(row);
      if (mark) found.push(`${exact(moments.time[row])}: ${mark[0]}`);
    }
    return found.slice(0, 6).concat(found.length > 6 ? [`and ${found.length - 6} more`] : []).join("\n");
  }
}
