// Panel about the selected packet: a text on each of its events.

// Returns the events of a packet, in order: time, event, place, and style of the table row.
function events(about, data, scene, row) {
  const { packets, hops, air } = data, found = [];
  const put = (time, what, where, look = "") => found.push({ time, what, where, look });
  const place = number => about.places[number][0];
  put(packets.sent[row], packets.again[row] ? "sent again" : "sent", place(packets.origin[row]), packets.again[row] ? "again" : "");
  for (let hop = hops.first[row]; hop < hops.first[row + 1]; hop++) {
    const where = place(hops.place[hop]);
    put(hops.entered[hop], "comes to", where);
    if (hops.end[hop] === scene.lost) put(hops.left[hop], `lost: ${about.names.cause[packets.cause[row]]}`, where, "bad");
    else if (hops.end[hop] !== scene.underWay) put(hops.left[hop], `leaves after ${spoken(hops.left[hop] - hops.entered[hop])}`, where);
  }
  const parts = new Map(scene.blocksOf(row).map(part => [part.block, part]));
  const rows = parts.size ? scene.airOfUser.get(-1).rows : [];
  for (let i = lowest(rows.length, n => air.time[rows[n]], packets.sent[row]); i < rows.length && air.time[rows[i]] <= packets.ended[row]; i++) {
    const part = parts.get(air.block[rows[i]]), n = rows[i];
    if (!part) continue;
    const bytes = `bytes ${part.offset} to ${part.offset + part.bytes - 1}`, again = air.transmission[n] > 1;
    const what = again ? `block #${part.block} again, sending ${air.transmission[n]}` : `block #${part.block}, ${bytes}`;
    put(air.time[n], what + (air.failed[n] ? ": failed" : ""), "air", air.failed[n] ? "bad" : again ? "again" : "");
  }
  const end = about.names.end[packets.end[row]], at = packets.sent[row] + packets.took[row];
  if (end === "received") put(at, "received", place(packets.place[row]));
  if (end === "lost" && !found.some(one => one.look === "bad" && one.what.startsWith("lost")))
    put(at, `lost: ${about.names.cause[packets.cause[row]]}`, place(packets.place[row]), "bad");
  if (packets.handed[row]) put(packets.sent[row] + packets.handed[row], "handed over in order", "application");
  return found.map((one, i) => [one, i]).sort(([a, i], [b, j]) => a.time - b.time || i - j).map(([one]) => one);
}

function element(name, text, look) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (look) made.className = look;
  return made;
}

function table(list, sent) {
  const made = element("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  for (const name of ["time", "since sent", "what", "where"]) { const cell = element("th", name); cell.scope = "col"; head.append(cell); }
  const places = digits(list.map(one => one.time));
  for (const { time, what, where, look } of list) {
    const row = body.insertRow();
    row.className = look;
    row.append(element("td", exact(time, places)), element("td", `+${spoken(time - sent)}`), element("td", what), element("td", where));
  }
  return made;
}

// Fills the panel with texts on a packet. `actions` are its buttons: a name and a function each.
function showPacket(panel, about, data, scene, row, actions) {
  const { packets } = data;
  const title = element("h2", `${named(about, packets, row)}, packet #${packets.packet[row]}`);
  const facts = element("p", toldOfPacket(about, data, row).split("\n").slice(1).join("; ") + ".", "facts muted");
  const buttons = element("div", undefined, "row");
  for (const [name, act] of actions) { const one = element("button", name); one.type = "button"; one.addEventListener("click", act); buttons.append(one); }
  const scroll = element("div", undefined, "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "All that happened to this packet");
  scroll.append(table(events(about, data, scene, row), packets.sent[row]));
  panel.replaceChildren(title, facts, buttons, scroll);
}

function showNothing(panel, nothing) { panel.replaceChildren(nothing); }
