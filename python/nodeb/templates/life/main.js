// Creates the page from its data, and redraws it after each input.

async function begin() {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const about = read("about"), data = await decoded(document.getElementById("columns").textContent, about.layout);
  performance.mark("life-decoded");
  placed(data);
  const view = new View(about), scene = new Scene(about, data, view), strips = new Strips(about, data, view);
  const marks = new Marks(about, data, view, () => strips.shownUser());
  const page = new Page(about, data, view, { scene, strips, marks, spans: new Spans(spansOf(data, about.path), view, about.path?.user, about.paints) });
  performance.mark("life-sorted");
  page.open();
  performance.mark("life-shown");
  performance.measure("life-first-view", { start: 0, end: "life-shown" });
}

class Page {
  constructor(about, data, view, parts) {
    Object.assign(this, { about, data, view }, parts);
    for (const id of ["canvas", "stage", "tip", "panel", "shown", "user", "find", "tools", "nothing"]) this[id] = document.getElementById(id);
    this.ctx = this.canvas.getContext("2d");
    this.ink = inks();
    this.key = document.getElementById("causes");
    this.pointer = null;
    this.causes = null;
    this.changed = this.changed.bind(this);
  }

  open() {
    const { about, view, data, scene } = this;
    for (const { user, group } of about.users) this.user.add(new Option(`${user} (${group})`, user));
    if (about.users.length > 1) this.user.add(new Option("all", -1));
    fromAddress(location.hash, view, about, data.packets);
    this.listen();
    for (const one of document.querySelectorAll(".of-air")) one.hidden = !data.air.rows;
    for (const one of document.querySelectorAll(".of-many")) one.hidden = !data.air.rows || about.users.length < 2;
    showKey(this.key, this.spans);
    this.resize();
    this.settle();
    // Interface for scripts that embed the page: set spans, handle the question for a packet's causes, move the view.
    window.nodebLife = {
      setSpans: list => { this.spans.user = undefined; this.spans.set(list); showKey(this.key, this.spans); this.resize(); this.settle(); },
      onCauses: ask => { this.causes = ask; this.settle(); },
      show: (from, to) => { view.show(from, to); this.changed(); },
      pin: number => this.pin(this.rowOf(number)),
      draw: () => this.draw(),
      view, scene,
    };
  }

  listen() {
    const { view, data, about, changed } = this, pin = row => this.pin(row);
    const neighbour = by => this.neighbour(by);
    usePointer(this.canvas, { view, changed, hover: (x, y) => this.hover(x, y), click: (x, y) => this.click(x, y) });
    useKeys(this.canvas, { view, changed, pin, neighbour, find: this.find });
    useButtons({ view, changed });
    this.user.addEventListener("change", () => { view.user = Number(this.user.value); this.changed(); });
    this.tools.addEventListener("submit", event => { event.preventDefault(); this.search(this.find.value); });
    new ResizeObserver(() => this.resize()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.ink = inks(); this.draw(); });
    addEventListener("hashchange", () => { fromAddress(location.hash, view, about, data.packets); this.settle(); this.changed(); });
  }

  resize() {
    if (!this.stage.clientWidth) return; // the page is not laid out yet, or was removed
    this.height = fitted(this.canvas, this, this.stage.clientWidth, () => this.spans.height() + this.strips.height());
    this.draw();
  }

  changed() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.draw(); this.remember(); });
  }

  remember() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      // A page that is embedded in another one may have no address of its own.
      try { history.replaceState(null, "", toAddress(this.view, this.data.packets)); } catch { /* nothing to remember it in */ }
    }, 200);
  }

  draw() {
    const { ctx, ink, view, scene, strips, marks } = this;
    ctx.fillStyle = ink.page;
    ctx.fillRect(0, 0, view.width, this.height);
    drawAxis(ctx, ink, view, this.height);
    if (marks.hasChannel) marks.drawChannel(ctx, ink, scene.at.channel);
    const { count, isDense } = scene.draw(ctx, ink);
    if (this.spans.list.length) this.spans.trace(ctx, ink, scene, number => this.rowOf(number));
    marks.drawGivenUp(ctx, ink, scene);
    drawGutter(ctx, ink, this);
    marks.draw(ctx, ink, TOP + 2);
    const top = scene.at.bottom;
    if (this.spans.list.length) this.spans.draw(ctx, ink, top);
    strips.draw(ctx, ink, top + this.spans.height());
    this.drawPointer();
    const span = `${exact(Math.round(view.t0))} to ${exact(Math.round(view.t1))}`;
    this.shown.textContent = `${count.toLocaleString("en")} packets in ${spoken(view.t1 - view.t0)}${isDense ? ", drawn together" : ""}`;
    this.shown.title = span;
    this.user.value = view.user;
    this.key.hidden = !this.spans.list.length || !this.spans.isShown();
  }

  drawPointer() {
    const { ctx, ink, view, pointer } = this;
    if (!pointer || pointer.x < view.left) return;
    ctx.strokeStyle = ink.muted;
    ctx.lineWidth = 1;
    ctx.setLineDash([3, 3]);
    ctx.beginPath(); ctx.moveTo(pointer.x, TOP - 8); ctx.lineTo(pointer.x, this.height); ctx.stroke();
    ctx.setLineDash([]);
  }

  hover(x, y) {
    this.pointer = x < 0 ? null : { x, y };
    const text = x < this.view.left ? "" : this.told(x, y);
    this.tip.hidden = !text;
    if (text) {
      this.tip.textContent = text;
      const left = Math.min(x + 14, this.stage.clientWidth - this.tip.offsetWidth - 4);
      const top = y + 18 + this.tip.offsetHeight > this.height ? y - this.tip.offsetHeight - 10 : y + 18;
      this.tip.style.left = `${Math.max(2, left)}px`;
      this.tip.style.top = `${Math.max(2, top)}px`;
    }
    if (!this.waits) { this.waits = true; requestAnimationFrame(() => { this.waits = false; this.draw(); }); }
  }

  told(x, y) {
    const { about, data, scene, strips, view } = this, strip = strips.under(y);
    if (y < TOP + 12) return this.marks.told(x);
    if (strip) return `${exact(Math.round(view.time(x)))}\n${strips.told(view.time(x), strip)}`;
    if (y >= scene.at.bottom && y < scene.at.bottom + this.spans.height()) return this.spans.told(view.time(x));
    const block = blockAt(scene, x, y);
    if (block >= 0) return toldOfBlock(about, data, block);
    const row = packetAt(scene, x, y);
    return row >= 0 ? toldOfPacket(about, data, row) : "";
  }

  click(x, y) {
    const { scene, data, view } = this, below = y - scene.at.bottom;
    if (below >= 0 && below < this.spans.height()) return this.pin(this.rowOf(this.spans.at(view.time(x))?.packet ?? 0));
    const block = blockAt(scene, x, y);
    const packet = packetAt(scene, x, y);
    if (packet >= 0) return this.pin(packet);
    const carried = block >= 0 ? data.carried.block.indexOf(data.air.block[block]) : -1;
    this.pin(carried >= 0 ? data.carried.row[carried] : -1);
  }

  pin(row) {
    this.view.pinned = row;
    if (row >= 0 && this.view.user >= 0) this.view.user = this.data.packets.user[row];
    this.settle();
    this.changed();
  }

  // Fills the panel with texts on the selected packet.
  settle() {
    const { view, about, data, scene, panel } = this, row = view.pinned;
    if (row < 0) return showNothing(panel, this.nothing);
    const { sent, ended, packet } = data.packets, room = (ended[row] - sent[row]) * 0.15 + 1000;
    const actions = [
      ["Previous", () => this.neighbour(-1)], ["Next", () => this.neighbour(1)],
      ["Zoom to it", () => { view.show(sent[row] - room, ended[row] + room); this.changed(); }],
      ["Let go", () => this.pin(-1)],
    ];
    if (this.causes || this.spans.ledTo(packet[row]).length) actions.push(["What led to it", () => this.ask(row)]);
    for (const other of this.sameSegment(row)) actions.push([`#${packet[other]}: ${named(about, data.packets, other)}`, () => this.pin(other)]);
    showPacket(panel, about, data, scene, row, actions);
    if (this.explains(row)) panel.append(causesOf(this.spans, packet[row], number => this.go(number)));
  }

  // Returns true if the page has spans of causes for the user of the packet.
  explains(row) { return this.spans.list.length > 0 && [undefined, this.data.packets.user[row]].includes(this.spans.user); }

  // Selects a packet by its number, if the page has this packet.
  go(number) {
    const row = this.rowOf(number), { sent, ended } = this.data.packets;
    if (row < 0) return;
    this.view.reveal(sent[row], ended[row]);
    this.pin(row);
  }

  // Returns the rows of other data packets with the same segment, at most 8.
  sameSegment(row) {
    const { data: { packets }, scene } = this, found = [];
    if (packets.purpose[row] !== scene.isData) return found;
    for (let other = 0; other < packets.rows && found.length < 8; other++)
      if (other !== row && packets.seq[other] === packets.seq[row] && packets.user[other] === packets.user[row] && packets.purpose[other] === scene.isData) found.push(other);
    return found;
  }

  // Shows the causes that led to a packet: asks the embedding script, or zooms to the spans that the page has.
  ask(row) {
    const number = this.data.packets.packet[row];
    if (this.causes) return this.causes(number);
    const led = this.spans.ledTo(number);
    this.view.show(led[0].begin, led.at(-1).end);
    this.changed();
  }

  // Selects the previous (-1) or next (1) packet of the same user: an ACK after an ACK, else one that is no ACK.
  neighbour(by) {
    const { view, data: { packets }, scene } = this, row = view.pinned;
    if (row < 0) return;
    for (let next = row + by; next >= 0 && next < packets.rows; next += by)
      if (packets.user[next] === packets.user[row] && (packets.purpose[next] === scene.ack) === (packets.purpose[row] === scene.ack)) {
        view.reveal(packets.sent[next], packets.ended[next]);
        return this.pin(next);
      }
  }

  rowOf(number) {
    const { packets } = this.data, row = lowest(packets.rows, i => packets.packet[i], number);
    return packets.packet[row] === number ? row : -1;
  }

  // Searches for a sequence number, for `:` and a port of real packets, or for `#` and the number of a packet.
  // Repeating a search selects the next packet found.
  search(text) {
    const number = Number(text.trim().replace(/^#/, "")), { packets } = this.data, { view, scene } = this;
    const isPacket = text.trim().startsWith("#");
    if (text.trim().startsWith(":")) return this.searchPort(Number(text.trim().slice(1)));
    const rows = scene.ofUser.get(view.user).rows;
    const data = isPacket ? [] : [...rows].filter(row => packets.purpose[row] === scene.isData);
    const below = data.reduce((best, row) => packets.seq[row] <= number && packets.seq[row] > best ? packets.seq[row] : best, -1);
    const found = !text.trim() ? [] : isPacket ? [this.rowOf(number)].filter(row => row >= 0) : data.filter(row => packets.seq[row] === below);
    this.showNext(found, text.trim() || "nothing");
  }

  searchPort(port) {
    const { packets } = this.data, { view, scene } = this;
    const has = row => packets.from_port && (packets.from_port[row] === port || packets.to_port[row] === port);
    this.showNext([...scene.ofUser.get(view.user).rows].filter(has), `port ${port}`);
  }

  // Shows the packet in `found` that follows the selected one; after the last, the first.
  showNext(found, what) {
    const { packets } = this.data, { view } = this;
    // After a drawing that waits for the next frame, which shows the number of packets.
    if (!found.length) { requestAnimationFrame(() => { this.shown.textContent = `nothing was found for ${what}`; }); return; }
    const row = found[(found.indexOf(view.pinned) + 1) % found.length];
    const room = (packets.ended[row] - packets.sent[row]) * 2;
    view.show(packets.sent[row] - room, packets.ended[row] + room);
    this.pin(row);
  }
}

begin();
