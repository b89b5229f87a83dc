// Input: pointer, wheel, keys and form fields.

const ZOOM = 1.6;

function usePointer(canvas, { view, changed, hover, click }) {
  const down = new Map();
  let moved = 0, spread = 0;
  const x = event => event.clientX - canvas.getBoundingClientRect().left;
  const y = event => event.clientY - canvas.getBoundingClientRect().top;
  const gap = () => { const [a, b] = [...down.values()]; return Math.abs(a.x - b.x) + Math.abs(a.y - b.y); };

  canvas.addEventListener("pointerdown", event => {
    down.set(event.pointerId, { x: x(event), y: y(event) });
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
    if (down.size === 2) spread = gap();
  });
  canvas.addEventListener("pointermove", event => {
    const before = down.get(event.pointerId), now = { x: x(event), y: y(event) };
    if (!before) return hover(now.x, now.y);
    down.set(event.pointerId, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (down.size === 2) {
      const [a, b] = [...down.values()], wide = Math.max(10, gap());
      view.zoom(spread / wide, view.time((a.x + b.x) / 2));
      spread = wide;
    } else if (moved > 3) {
      canvas.classList.add("dragged");
      view.move((before.x - now.x) / (view.width - view.left));
    }
    if (moved > 3) changed();
  });
  const up = event => {
    if (event.type === "pointerup" && down.size === 1 && moved <= 3) click(x(event), y(event));
    down.delete(event.pointerId);
    canvas.classList.remove("dragged");
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => hover(-1, -1));
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(Math.sign(event.deltaX || event.deltaY) * 0.1);
    else view.zoom(Math.exp(Math.min(200, Math.max(-200, event.deltaY)) / 400), view.time(Math.max(view.left, x(event))));
    changed();
  }, { passive: false });
}

function useKeys(canvas, { view, changed, pin, neighbour, find }) {
  const keys = {
    "+": () => view.zoom(1 / ZOOM), "=": () => view.zoom(1 / ZOOM), "-": () => view.zoom(ZOOM), "_": () => view.zoom(ZOOM),
    ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2), Home: () => view.show(...view.whole),
    "[": () => neighbour(-1), "]": () => neighbour(1), Escape: () => pin(-1), "/": () => find.focus(),
  };
  document.addEventListener("keydown", event => {
    const inField = event.target.closest("input, select, textarea, .scroll");
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || (inField && event.key !== "Escape")) return;
    if (event.key.startsWith("Arrow") && event.target !== canvas && event.target !== document.body) return;
    event.preventDefault();
    act();
    changed();
  });
}

function useButtons({ view, changed }) {
  const on = (id, act) => document.getElementById(id).addEventListener("click", () => { act(); changed(); });
  on("earlier", () => view.move(-0.4));
  on("later", () => view.move(0.4));
  on("nearer", () => view.zoom(1 / ZOOM));
  on("farther", () => view.zoom(ZOOM));
  on("whole", () => view.show(...view.whole));
}

// Returns the fragment of the page's address: #t=FROM,TO in seconds, user, packet.
function toAddress(view, packets) {
  const parts = [];
  if (view.t0 > view.whole[0] || view.t1 < view.whole[1]) parts.push(`t=${(view.t0 / 1e9).toFixed(9)},${(view.t1 / 1e9).toFixed(9)}`);
  parts.push(`user=${view.user < 0 ? "all" : view.user}`);
  if (view.pinned >= 0) parts.push(`packet=${packets.packet[view.pinned]}`);
  return `#${parts.join("&")}`;
}

function fromAddress(hash, view, about, packets) {
  const said = new URLSearchParams(hash.slice(1));
  if (said.has("user")) {
    const user = said.get("user") === "all" ? -1 : Number(said.get("user"));
    if (user === -1 || about.users.some(one => one.user === user)) view.user = user;
  }
  const number = Number(said.get("packet"));
  const row = number ? lowest(packets.rows, i => packets.packet[i], number) : -1;
  view.pinned = row >= 0 && packets.packet[row] === number ? row : -1;
  if (view.pinned >= 0 && view.user >= 0) view.user = packets.user[row];
  const [from, to] = (said.get("t") || "").split(",").map(part => Number(part) * 1e9);
  if (to > from) view.show(from, to);
  else if (view.pinned >= 0) view.reveal(packets.sent[view.pinned], packets.ended[view.pinned]);
}
