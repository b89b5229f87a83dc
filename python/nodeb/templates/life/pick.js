// Finds the packet or the block under the pointer.

const NEAR = 9; // pixels

function distance(x, y, x0, y0, x1, y1) {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const share = length ? Math.min(1, Math.max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
  return Math.hypot(x - x0 - share * (x1 - x0), y - y0 - share * (y1 - y0));
}

// Returns the row of the drawn packet nearest to a point; -1 if none is within NEAR pixels.
function packetAt(scene, x, y) {
  let best = -1, nearest = NEAR;
  for (const row of scene.drawn) {
    let px = NaN, py = NaN;
    scene.path(row, (time, at) => {
      const to = scene.view.x(time);
      if (Math.min(px, to) - NEAR <= x && x <= Math.max(px, to) + NEAR) {
        const found = distance(x, y, px, py, to, at);
        if (found < nearest) { nearest = found; best = row; }
      }
      px = to; py = at;
    });
  }
  return best;
}

// Returns the index of the block transmission at a point; -1 if there is none.
function blockAt(scene, x, y) {
  const { view, data: { air }, at } = scene;
  if (!air.rows || y < at.airTop || y > scene.rowY(at.rows) + at.row) return -1;
  const tti = scene.about.ttiNs || 0, time = view.time(x), rows = scene.airOfUser.get(-1).rows;
  const begin = lowest(rows.length, i => air.time[rows[i]], time - Math.max(tti, view.perPixel()));
  let found = -1;
  for (let i = begin; i < rows.length && air.time[rows[i]] <= time + view.perPixel(); i++) {
    const [left, top, width, height] = scene.box(rows[i]);
    const isIn = x >= left - 1 && x <= left + Math.max(2, width) && y >= top && y <= top + height;
    if (isIn && (found < 0 || air.user[rows[i]] === view.user)) found = rows[i];
  }
  return found;
}

// Returns a short text that names a packet: its purpose and sequence number.
function named(about, packets, row) {
  const what = about.names.purpose[packets.purpose[row]];
  const number = what === "data" || what === "ack" ? ` ${packets.seq[row]}` : "";
  return `${what === "ack" ? "ACK" : what}${number}${packets.again[row] ? " (sent again)" : ""}`;
}

function toldOfPacket(about, { packets }, row) {
  const end = about.names.end[packets.end[row]], took = spoken(packets.took[row]);
  const lines = [`${named(about, packets, row)}, ${packets.bytes[row]} B, packet #${packets.packet[row]}`];
  lines.push(`sent at ${exact(packets.sent[row])} by ${about.places[packets.origin[row]][0]}`);
  if (end === "lost") lines.push(`lost after ${took} at ${about.places[packets.place[row]][0]}: ${about.names.cause[packets.cause[row]]}`);
  else lines.push(end === "received" ? `received after ${took}` : `still under way after ${took}`);
  if (packets.handed[row] > packets.took[row]) lines.push(`handed over ${spoken(packets.handed[row] - packets.took[row])} later, in order`);
  if (packets.blocks[row]) lines.push(`${packets.blocks[row]} blocks, ${packets.repeats[row]} retransmissions`);
  if (packets.from_port && packets.from_port[row]) lines.push(`port ${packets.from_port[row]} to ${packets.to_port[row]}`);
  if (about.users.length > 1) lines.push(`user ${packets.user[row]}`);
  return lines.join("\n");
}

function toldOfBlock(about, { air }, i) {
  const lines = [`${air.up[i] ? "uplink block" : "block"} #${air.block[i]}, transmission ${air.transmission[i]}${air.failed[i] ? ": failed" : ""}`];
  lines.push(`at ${exact(air.time[i])}, ${air.units[i]} units`);
  if (about.users.length > 1) lines.push(`user ${air.user[i]}`);
  return lines.join("\n");
}
