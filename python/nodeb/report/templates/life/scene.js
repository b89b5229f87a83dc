// Lanes, packets and blocks. What stands closer than the screen can show is drawn together.

const TOP = 30, ALL_UP_TO = 4; // packets for each pixel that are still drawn one by one
const MOST_ROWS = 6; // transmissions of a block that have a row of their own

// Where things stand from top to bottom, for a width of the screen.
function layout(about, air, isNarrow) {
  const gap = isNarrow ? 44 : 54, rows = Math.min(air.mostTransmissions, MOST_ROWS);
  const row = rows ? Math.max(14, Math.min(34, air.mostSlots * 4)) : 0;
  const lanes = [];
  let y = TOP + 22;
  about.lanes.forEach((_, lane) => {
    lanes.push(y);
    y += lane === about.nodeB ? Math.max(gap, rows * (row + 3) + 46) : gap;
  });
  const airTop = lanes[about.nodeB] + 18;
  return { lanes, rows, row, airTop, bottom: lanes.at(-1) + 18 };
}

class Scene {
  constructor(about, data, view) {
    Object.assign(this, { about, data, view });
    const air = data.air;
    air.mostTransmissions = air.rows ? air.transmission.reduce((a, b) => Math.max(a, b), 1) : 0;
    air.mostSlots = air.rows ? air.slot.reduce((a, b) => Math.max(a, b), 0) + 1 : 0;
    this.ofUser = byUser(data.packets, about.users, data.packets.ended);
    this.airOfUser = byUser(air, about.users);
    const named = (list, name) => list.indexOf(name);
    this.lost = named(about.names.end, "lost");
    this.underWay = named(about.names.end, "under way");
    this.ack = named(about.names.purpose, "ack");
    this.isData = named(about.names.purpose, "data");
    this.bearer = about.places.findIndex(([name]) => name === "bearer");
    this.drawn = [];
  }

  resize(isNarrow) { this.at = layout(this.about, this.data.air, isNarrow); }

  // Calls put(time, y) for every bend of a packet's line; the last one is where it was lost or is.
  path(row, put) {
    const { packets, hops } = this.data, { places, nodeB } = this.about, { lanes } = this.at;
    put(packets.sent[row], lanes[places[packets.origin[row]][1]]);
    for (let hop = hops.first[row]; hop < hops.first[row + 1]; hop++) {
      const [, from, to] = places[hops.place[hop]], onAir = hops.place[hop] === this.bearer;
      put(hops.entered[hop], lanes[from]);
      const begins = onAir ? lanes[nodeB] : lanes[from];
      if (onAir && hops.begun[hop] > hops.entered[hop]) put(hops.begun[hop], begins);
      if (hops.end[hop] === this.lost) put(hops.left[hop], (begins + lanes[to]) / 2);
      else if (hops.end[hop] === this.underWay) put(hops.left[hop], onAir && hops.begun[hop] === hops.entered[hop] ? lanes[from] : begins);
      else put(hops.left[hop], lanes[to]);
    }
    if (packets.handed[row]) put(packets.sent[row] + packets.handed[row], lanes.at(-1));
  }

  // Rows of packets that are under way in the time shown, of the user shown.
  *visible() {
    const { rows, reach } = this.ofUser.get(this.view.user), { sent, ended } = this.data.packets;
    const { t0, t1 } = this.view;
    const begin = lowest(rows.length, i => reach[i], t0), end = lowest(rows.length, i => sent[rows[i]], t1);
    for (let i = begin; i < end; i++) if (ended[rows[i]] >= t0) yield rows[i];
  }

  style(row) {
    const { purpose, again } = this.data.packets;
    if (again[row]) return "again";
    return purpose[row] === this.ack ? "ack" : purpose[row] === this.isData ? "data" : "ask";
  }

  // Which packets are drawn, by style and strength: one for each pixel where there are more.
  chosen() {
    const all = [...this.visible()], { view, data: { packets } } = this;
    const isDense = all.length > ALL_UP_TO * (view.width - view.left);
    const groups = new Map();
    const put = (style, row) => { if (!groups.has(style)) groups.set(style, []); groups.get(style).push(row); };
    if (!isDense) { for (const row of all) put(this.style(row), row); return { groups, all, isDense }; }
    const columns = new Map();
    for (const row of all) {
      const style = this.style(row), lost = packets.end[row] === this.lost;
      const key = `${style}${lost ? "!" : ""}`, x = Math.round(view.x(packets.sent[row]));
      let column = columns.get(key);
      if (!column) columns.set(key, column = new Map());
      const found = column.get(x);
      if (found) found.count++; else column.set(x, { row, count: 1 });
    }
    for (const [key, column] of columns) {
      const most = Math.max(...[...column.values()].map(one => one.count));
      for (const { row, count } of column.values()) put(`${key.replace("!", "")}/${Math.ceil(3 * count / most)}`, row);
    }
    return { groups, all, isDense };
  }

  draw(ctx, ink) {
    this.drawLanes(ctx, ink);
    this.drawAir(ctx, ink);
    const { groups, all, isDense } = this.chosen();
    this.drawn = [];
    for (const style of ["ack", "data", "ask", "again"])
      for (const [key, rows] of groups) {
        const [name, strength = "3"] = key.split("/");
        if (name !== style) continue;
        ctx.strokeStyle = ink[name];
        ctx.globalAlpha = [0.25, 0.55, 0.9][strength - 1] * (all.length < 400 || name === "again" ? 1 : 0.8);
        ctx.lineWidth = name === "again" ? 1.8 : all.length < 400 ? 1.4 : 1;
        this.stroke(ctx, rows);
        for (const row of rows) this.drawn.push(row);
      }
    ctx.globalAlpha = 1;
    this.drawLost(ctx, ink, isDense ? this.drawn : all);
    if (this.view.pinned >= 0) this.drawPinned(ctx, ink);
    return { count: all.length, isDense };
  }

  stroke(ctx, rows) {
    const { view } = this;
    ctx.beginPath();
    for (const row of rows) {
      let isFirst = true;
      this.path(row, (time, y) => { const x = view.x(time); if (isFirst) ctx.moveTo(x, y); else ctx.lineTo(x, y); isFirst = false; });
    }
    ctx.stroke();
  }

  drawLost(ctx, ink, rows) {
    const { packets } = this.data, seen = new Set();
    ctx.strokeStyle = ink.lost;
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (const row of rows) {
      if (packets.end[row] !== this.lost) continue;
      const [x, y] = this.last(row), key = Math.round(x) * 4096 + Math.round(y);
      if (seen.has(key)) continue;
      seen.add(key);
      ctx.moveTo(x - 4, y - 4); ctx.lineTo(x + 4, y + 4);
      ctx.moveTo(x - 4, y + 4); ctx.lineTo(x + 4, y - 4);
    }
    ctx.stroke();
  }

  last(row) {
    let end = [0, 0];
    this.path(row, (time, y) => { end = [this.view.x(time), y]; });
    return end;
  }

  drawLanes(ctx, ink) {
    const { view, at: { lanes } } = this;
    ctx.strokeStyle = ink.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const y of lanes) { ctx.moveTo(view.left, y); ctx.lineTo(view.width, y); }
    ctx.stroke();
  }

  drawNames(ctx, ink) {
    const { view, about, at: { lanes, rows, row } } = this;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillStyle = ink.text;
    ctx.font = ink.font;
    lanes.forEach((y, lane) => ctx.fillText(about.lanes[lane], 8, y, view.left - 12));
    ctx.fillStyle = ink.muted;
    ctx.font = ink.small;
    for (let n = 1; n <= rows; n++) {
      const name = ["block sent", "2nd time", "3rd"][n - 1] || `${n}th`;
      ctx.fillText(n === rows && this.data.air.mostTransmissions > rows ? `${n}th on` : name, 14, this.rowY(n) + row / 2, view.left - 18);
    }
  }

  rowY(transmission) {
    const { airTop, rows, row } = this.at;
    return airTop + (Math.min(transmission, rows) - 1) * (row + 3);
  }

  // Where a transmission stands: x, y, width, height.
  box(i) {
    const { air } = this.data, { view, at: { row } } = this;
    const x = view.x(air.time[i]), width = (this.about.ttiNs || 0) / view.perPixel();
    const height = row / air.mostSlots;
    return [x, this.rowY(air.transmission[i]) + air.slot[i] * height, width, height];
  }

  drawAir(ctx, ink) {
    const { air } = this.data, { view } = this;
    if (!air.rows) return;
    if (view.user >= 0 && this.about.users.length > 1) this.drawBlocks(ctx, this.airOfUser.get(-1).rows, () => "other", ink);
    this.drawBlocks(ctx, (this.airOfUser.get(view.user) || { rows: [] }).rows, i => air.failed[i] ? "bad" : "good", ink);
  }

  drawBlocks(ctx, rows, style, ink) {
    const { air } = this.data, { view, at } = this, tti = this.about.ttiNs || 0;
    const begin = lowest(rows.length, i => air.time[rows[i]], view.t0 - tti), end = lowest(rows.length, i => air.time[rows[i]], view.t1);
    if (tti / view.perPixel() < 2) return this.drawShares(ctx, rows, begin, end, style, ink);
    for (let i = begin; i < end; i++) {
      const [x, y, width, height] = this.box(rows[i]);
      ctx.fillStyle = ink[style(rows[i])];
      ctx.fillRect(x, y, Math.max(1, width - Math.min(1, width / 4)), Math.max(1, height - (height > 4 ? 1 : 0)));
    }
  }

  // For each pixel and row how many blocks were sent, and below which share of them failed.
  drawShares(ctx, rows, begin, end, style, ink) {
    const { air } = this.data, { view, at } = this;
    const width = Math.ceil(view.width), counts = new Map();
    for (let i = begin; i < end; i++) {
      const n = rows[i], key = (Math.min(air.transmission[n], at.rows) - 1) * width + Math.max(0, Math.round(view.x(air.time[n])));
      const found = counts.get(key), bad = style(n) === "bad" ? 1 : 0;
      if (found) { found[0]++; found[1] += bad; } else counts.set(key, [1, bad]);
    }
    const other = begin < end && style(rows[begin]) === "other";
    for (const [key, [count, bad]] of counts) {
      const x = key % width, y = this.rowY(Math.floor(key / width) + 1), failed = at.row * bad / count;
      ctx.fillStyle = other ? ink.other : ink.good;
      ctx.fillRect(x, y, 1, at.row - failed);
      if (bad) { ctx.fillStyle = ink.bad; ctx.fillRect(x, y + at.row - failed, 1, failed); }
    }
  }

  // The packet that was picked, above all else, with its blocks.
  drawPinned(ctx, ink) {
    const { view, data: { air, packets } } = this, row = view.pinned;
    ctx.lineJoin = "round";
    for (const [colour, width] of [[ink.page, 6], [ink.text, 3]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      this.stroke(ctx, [row]);
    }
    const blocks = new Set(this.blocksOf(row).map(one => one.block));
    ctx.strokeStyle = ink.text;
    ctx.lineWidth = 1.5;
    if (blocks.size) {
      const rows = this.airOfUser.get(packets.user[row]).rows;
      const begin = lowest(rows.length, i => air.time[rows[i]], packets.sent[row]);
      for (let i = begin; i < rows.length && air.time[rows[i]] <= packets.ended[row]; i++)
        if (blocks.has(air.block[rows[i]])) {
          const [x, y, width, height] = this.box(rows[i]);
          ctx.strokeRect(x, y, Math.max(2, width - 1), Math.max(2, height - 1));
        }
    }
    this.drawLost(ctx, ink, [row]);
  }

  // What blocks carry of a packet.
  blocksOf(row) {
    const { carried } = this.data, found = [];
    for (let i = carried.row.indexOf(row); i >= 0; i = carried.row.indexOf(row, i + 1))
      found.push({ block: carried.block[i], bytes: carried.bytes[i], offset: carried.offset[i] });
    return found;
  }
}
