// The canvas around lanes and packets: its colours, size, time axis and left margin.

function inks() {
  const style = getComputedStyle(document.documentElement), get = name => style.getPropertyValue(`--${name}`).trim();
  const family = "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif";
  return {
    page: get("page"), panel: get("panel"), line: get("line"), grid: get("grid"), text: get("text"), muted: get("muted"),
    data: get("data"), again: get("again"), ack: get("ack"), ask: get("ask"), lost: get("lost"), good: get("k-move"), bad: get("k-air"),
    families: Object.fromEntries(["start", "window", "air", "move", "turn", "loss", "host", "rest"].map(name => [name, get(`k-${name}`)])),
    other: `${get("k-rest")}77`, fast: `${get("k-loss")}38`, timeout: `${get("k-loss")}80`, start: `${get("k-start")}80`, onGood: "#10151a",
    font: `13px ${family}`, small: `12px ${family}`,
  };
}

// Fits the canvas and its lanes to a width; `below` returns the height of what is drawn below the lanes. Returns the height.
function fitted(canvas, { view, scene, marks }, width, below = () => 0) {
  const ratio = window.devicePixelRatio || 1, isNarrow = width < 640;
  view.width = width;
  view.left = isNarrow ? 74 : 92;
  scene.resize(isNarrow, marks.hasChannel);
  const height = scene.at.bottom + below();
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  return height;
}

function drawAxis(ctx, ink, view, height) {
  ctx.font = ink.small;
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  for (const [time, name] of ticks(view, (view.width - view.left) / 130)) {
    const x = Math.round(view.x(time)) + 0.5;
    ctx.strokeStyle = ink.grid;
    ctx.lineWidth = 1;
    ctx.beginPath(); ctx.moveTo(x, TOP - 8); ctx.lineTo(x, height); ctx.stroke();
    ctx.fillStyle = ink.muted;
    const half = ctx.measureText(name).width / 2;
    ctx.fillText(name, Math.min(Math.max(x, view.left + half), view.width - half - 6), 13);
  }
}

// Clears the margin to the left of the time axis, and draws the names of the lanes there again.
function drawGutter(ctx, ink, { view, scene, marks }) {
  ctx.fillStyle = ink.page;
  ctx.fillRect(0, TOP - 4, view.left - 1, scene.at.bottom - TOP + 4);
  scene.drawNames(ctx, ink);
  if (!marks.hasChannel) return;
  ctx.fillStyle = ink.muted;
  ctx.font = ink.small;
  ctx.fillText("channel", 14, scene.at.channel + BAND / 2);
}
