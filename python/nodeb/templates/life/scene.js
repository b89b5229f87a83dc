// Draws lanes, packets and blocks. Where packets or blocks are too dense, one line or box stands for several.

const TOP = 30, ALL_UP_TO = 4; // mean number of packets per pixel up to which each packet is drawn
const STYLES = ["ack", "data", "ask", "again"]; // styles of packets, in the order of drawing
const MOST_ROWS = 6; // transmissions of a block with a row of their own; later ones share the last row

// Returns the vertical positions of lanes, channel and rows of blocks, for a narrow or a wide screen.
function layout(about, air, isNarrow, hasChannel) {
  const gap = isNarrow ? 44 : 54, ways = air.mostTransmissions.map(most => Math.min(most, MOST_ROWS)), rows = ways[0] + ways[1];
  const row = rows ? Math.max(14, Math.min(34, air.mostSlots * 4)) : 0;
  const lanes = [], band = hasChannel ? 24 : 0;
  let y = TOP + 22;
  about.lanes.forEach((_, lane) => {
    lanes.push(y);
    y += lane === about.nodeB ? Math.max(gap, band + rows * (row + 3) + (rows ? 46 : 30)) : gap;
  });
  const channel = lanes[about.nodeB] + 12, airTop = channel + 6 + band;
  return { lanes, ways, rows, row, channel, airTop, bottom: lanes.at(-1) + 18 };
}

class Scene {
  constructor(about, data, view) {
    Object.assign(this, { about, data, view });
    const air = data.air;
    air.mostTransmissions = [0, 0]; // of a block to a phone, and of one from a phone
    for (let i = 0; i < air.rows; i++) air.mostTransmissions[air.up[i]] = Math.max(air.mostTransmissions[air.up[i]], air.transmission[i]);
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

  resize(isNarrow, hasChannel) { this.at = layout(this.about, this.data.air, isNarrow, hasChannel); }

  // Calls put(time, y) for each point of a packet's line; the last is its arrival, loss or last known position.
  path(row, put) {
    const { packets, hops } = this.data, { places, nodeB } = this.about, { lanes } = this.at;
    put(packets.sent[row], lanes[places[packets.origin[row]][1]]);
    for (let hop = hops.first[row]; hop < hops.first[row + 1]; hop++) {
      const [, from, to] = places[hops.place[hop]], onAir = hops.place[hop] === this.bearer;
      put(hops.entered[hop], lanes[from]);
      const begins = onAir ? lanes[nodeB] : lanes[from];
      if (hops.begun[hop] > hops.entered[hop]) put(hops.begun[hop], begins);
      if (hops.end[hop] === this.lost) put(hops.left[hop], (begins + lanes[to]) / 2);
      else if (hops.end[hop] === this.underWay) put(hops.left[hop], onAir && hops.begun[hop] === hops.entered[hop] ? lanes[from] : begins);
      else put(hops.left[hop], lanes[to]);
    }
    if (packets.handed[row]) put(packets.sent[row] + packets.handed[row], lanes.at(-1));
  }

  // Returns the rows of the shown user's packets that are under way in the shown time.
  visible() {
    const { rows, reach } = this.ofUser.get(this.view.user), { sent, ended } = this.data.packets;
    const { t0, t1 } = this.view, found = [];
    const begin = lowest(rows.length, i => reach[i], t0), end = lowest(rows.length, i => sent[rows[i]], t1);
    for (let i = begin; i < end; i++) if (ended[rows[i]] >= t0) found.push(rows[i]);
    return found;
  }

  style(row) {
    const { purpose, again } = this.data.packets;
    if (again[row]) return 3;
    return purpose[row] === this.ack ? 0 : purpose[row] === this.isData ? 1 : 2;
  }

  // Returns the packets to draw in groups of { style, strength from 0 to 2, rows }. Of many packets, one is drawn for
  // each style and pixel of the time of sending; its strength increases with the number of packets there.
  chosen() {
    const all = this.visible(), { view, data: { packets } } = this, groups = [];
    const room = Math.ceil(view.width - view.left) + 1, isDense = all.length > ALL_UP_TO * room;
    for (let n = 0; n < 3 * STYLES.length; n++) groups.push({ style: STYLES[Math.floor(n / 3)], strength: n % 3, rows: [] });
    if (!isDense) {
      for (const row of all) groups[3 * this.style(row) + 2].rows.push(row);
      return { groups, all, isDense };
    }
    // Lost packets are selected separately from other packets, so that they stay visible.
    const counts = new Uint32Array(2 * STYLES.length * (room + 1)), first = new Uint32Array(counts.length);
    for (const row of all) {
      const lost = packets.end[row] === this.lost ? 1 : 0, x = Math.max(0, Math.round(view.x(packets.sent[row]) - view.left) + 1);
      const place = (2 * this.style(row) + lost) * (room + 1) + Math.min(x, room);
      if (!counts[place]++) first[place] = row;
    }
    for (let kind = 0; kind < 2 * STYLES.length; kind++) {
      const part = counts.subarray(kind * (room + 1), (kind + 1) * (room + 1)), most = part.reduce((a, b) => Math.max(a, b), 1);
      part.forEach((count, x) => {
        if (count) groups[3 * (kind >> 1) + Math.ceil(3 * count / most) - 1].rows.push(first[kind * (room + 1) + x]);
      });
    }
    return { groups, all, isDense };
  }

  draw(ctx, ink) {
    this.drawLanes(ctx, ink);
    const { groups, all, isDense } = this.chosen();
    this.drawn = [];
    // With more lines, each line is fainter and thinner.
    const crowd = all.length / (this.view.width - this.view.left), isFew = crowd < 0.3;
    const faint = isDense ? 0.8 : Math.max(0.35, Math.min(1, 1.15 - 0.5 * crowd));
    for (const { style, strength, rows } of groups) {
      if (!rows.length) continue;
      ctx.strokeStyle = ink[style];
      ctx.globalAlpha = [0.25, 0.55, 0.9][strength] * (style === "again" ? 1 : faint);
      ctx.lineWidth = (isFew ? 1.4 : 1) * ({ again: 1.7, ack: 0.7 }[style] ?? 1);
      this.stroke(ctx, rows);
      for (const row of rows) this.drawn.push(row);
    }
    ctx.globalAlpha = 1;
    this.drawAir(ctx, ink);
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
    const { view, about, at: { lanes, ways, row } } = this;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillStyle = ink.text;
    ctx.font = ink.font;
    lanes.forEach((y, lane) => ctx.fillText(about.lanes[lane], 8, y, view.left - 12));
    ctx.fillStyle = ink.muted;
    ctx.font = ink.small;
    ways.forEach((rows, up) => {
      for (let n = 1; n <= rows; n++) {
        const name = [up ? "uplink block" : "block sent", "2nd time", "3rd"][n - 1] || `${n}th`;
        const isLast = n === rows && this.data.air.mostTransmissions[up] > rows;
        ctx.fillText(isLast ? `${n}th on` : name, 14, this.rowY(up * ways[0] + n) + row / 2, view.left - 18);
      }
    });
  }

  // Returns the number from 1 of the row of a block transmission. Rows of the uplink follow those of the downlink.
  rowOf(i) {
    const { data: { air }, at: { ways } } = this, up = air.up[i];
    return up * ways[0] + Math.min(air.transmission[i], ways[up]);
  }

  rowY(n) {
    const { airTop, row } = this.at;
    return airTop + (n - 1) * (row + 3);
  }

  // Returns x, y, width and height of the box of a block transmission.
  box(i) {
    const { air } = this.data, { view, at: { row } } = this;
    const x = view.x(air.time[i]), width = (this.about.ttiNs || 0) / view.perPixel();
    const height = row / air.mostSlots;
    return [x, this.rowY(this.rowOf(i)) + air.slot[i] * height, width, height];
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

  // Draws, for each pixel and row with blocks, the share of blocks received, and below it the share that failed.
  drawShares(ctx, rows, begin, end, style, ink) {
    const { air } = this.data, { view, at } = this, width = Math.ceil(view.width) + 1;
    const sent = new Uint32Array(width * at.rows), failed = new Uint32Array(sent.length);
    for (let i = begin; i < end; i++) {
      const n = rows[i], x = Math.min(width - 1, Math.max(0, Math.round(view.x(air.time[n]))));
      const place = (this.rowOf(n) - 1) * width + x;
      sent[place]++;
      failed[place] += air.failed[n];
    }
    const isOther = begin < end && style(rows[begin]) === "other";
    const paint = (colour, from, to) => {
      ctx.fillStyle = colour;
      for (let place = 0; place < sent.length; place++) {
        const share = sent[place] && !isOther ? failed[place] / sent[place] : 0, y = this.rowY(Math.floor(place / width) + 1);
        const [top, bottom] = [from(share), to(share)];
        if (sent[place] && bottom > top) ctx.fillRect(place % width, y + at.row * top, 1, at.row * (bottom - top));
      }
    };
    paint(isOther ? ink.other : ink.good, () => 0, share => 1 - share);
    paint(ink.bad, share => 1 - share, () => 1);
  }

  // Draws the selected packet and its blocks on top of everything else.
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
      const rows = this.airOfUser.get(-1).rows;
      const begin = lowest(rows.length, i => air.time[rows[i]], packets.sent[row]);
      for (let i = begin; i < rows.length && air.time[rows[i]] <= packets.ended[row]; i++)
        if (blocks.has(air.block[rows[i]])) {
          const [x, y, width, height] = this.box(rows[i]);
          ctx.strokeRect(x, y, Math.max(2, width - 1), Math.max(2, height - 1));
        }
    }
    this.drawLost(ctx, ink, [row]);
  }

  // Returns the blocks that carry a packet, with the bytes of the packet in each.
  blocksOf(row) {
    const { carried } = this.data, found = [];
    for (let i = carried.row.indexOf(row); i >= 0; i = carried.row.indexOf(row, i + 1))
      found.push({ block: carried.block[i], bytes: carried.bytes[i], offset: carried.offset[i] });
    return found;
  }
}
