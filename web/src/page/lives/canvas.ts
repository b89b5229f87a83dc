/** Canvas of the lives of packets, from the server to the application, on the time axis of all figures. */

import { blockAt, type Inks, Marks, packetAt, Scene, ticks, toldOfBlock, toldOfPacket, TOP, usePointer, View } from "life-parts";

import type { Life, Scenario } from "../../core/api";
import { ink } from "../figures/paints";
import { show, shownSpan } from "../figures/time";
import { drawn } from "./tables";

const FAMILIES = ["start", "window", "air", "move", "turn", "loss", "host", "rest"];
const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif";

export class LifeCanvas {
  private readonly view: View;
  private readonly scene: Scene;
  private readonly marks: Marks;
  private readonly found: ReturnType<typeof drawn>;
  private readonly resizing: ResizeObserver;
  private inks: Inks = inksOf();
  private height = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    life: Life,
    scenario: Scenario,
    private readonly endS: number,
    private readonly onTell: (text: string) => void,
  ) {
    this.found = drawn(life, scenario);
    const { about, data } = this.found;
    this.view = new View(about);
    this.view.whole = [0, endS * 1e9];
    this.scene = new Scene(about, data, this.view);
    this.marks = new Marks(about, data, this.view, () => this.view.user);
    usePointer(canvas, { view: this.view, changed: () => this.share(), hover: (x, y) => this.tell(x, y), click: (x, y) => this.pin(x, y) });
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(canvas.parentElement!);
    this.resize();
  }

  close(): void {
    this.resizing.disconnect();
  }

  /** Draws the shown span of time; returns how many packets it shows. */
  draw(): number {
    const { ctx, view, scene, marks } = this;
    const [from, to] = shownSpan(this.endS);
    view.show(from * 1e9, to * 1e9);
    ctx.fillStyle = String(this.inks["page"]);
    ctx.fillRect(0, 0, view.width, this.height);
    this.drawAxis();
    if (marks.hasChannel) marks.drawChannel(ctx, this.inks, scene.at.channel);
    const { count } = scene.draw(ctx, this.inks);
    marks.drawGivenUp(ctx, this.inks, scene);
    ctx.fillStyle = String(this.inks["page"]);
    ctx.fillRect(0, TOP - 4, view.left - 1, scene.at.bottom - TOP + 4);
    scene.drawNames(ctx, this.inks);
    marks.draw(ctx, this.inks, TOP + 2);
    return count;
  }

  /** Takes the colours of the page again, after a change between light and dark. */
  repaint(): void {
    this.inks = inksOf();
    this.draw();
  }

  private get ctx(): CanvasRenderingContext2D {
    return this.canvas.getContext("2d")!;
  }

  private share(): void {
    show(this.endS, this.view.t0 / 1e9, this.view.t1 / 1e9);
  }

  private resize(): void {
    const width = this.canvas.parentElement!.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    const isNarrow = width < 640;
    this.view.width = width;
    this.view.left = isNarrow ? 74 : 92;
    this.scene.resize(isNarrow, this.marks.hasChannel);
    this.height = this.scene.at.bottom;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  private drawAxis(): void {
    const { ctx, view } = this;
    ctx.font = String(this.inks["small"]);
    ctx.textBaseline = "middle";
    ctx.textAlign = "center";
    for (const [time, name] of ticks(view, (view.width - view.left) / 130)) {
      const x = Math.round(view.x(time)) + 0.5;
      ctx.strokeStyle = String(this.inks["grid"]);
      ctx.beginPath();
      ctx.moveTo(x, TOP - 8);
      ctx.lineTo(x, this.height);
      ctx.stroke();
      ctx.fillStyle = String(this.inks["muted"]);
      const half = ctx.measureText(name).width / 2;
      ctx.fillText(name, Math.min(Math.max(x, view.left + half), view.width - half - 6), 13);
    }
  }

  private tell(x: number, y: number): void {
    this.onTell(x < this.view.left ? "" : this.told(x, y));
  }

  private told(x: number, y: number): string {
    const { about, data } = this.found;
    if (y < TOP + 12) return this.marks.told(x);
    const block = blockAt(this.scene, x, y);
    if (block >= 0) return toldOfBlock(about, data, block);
    const row = packetAt(this.scene, x, y);
    return row >= 0 ? toldOfPacket(about, data, row) : "";
  }

  private pin(x: number, y: number): void {
    this.view.pinned = packetAt(this.scene, x, y);
    this.draw();
    this.onTell(this.told(x, y));
  }
}

function inksOf(): Inks {
  const plain = ["page", "panel", "line", "grid", "text", "muted", "data", "again", "ack", "ask", "lost"];
  return {
    ...Object.fromEntries(plain.map((name) => [name, ink(`--${name}`)])),
    good: ink("--k-move"),
    bad: ink("--k-air"),
    families: Object.fromEntries(FAMILIES.map((name) => [name, ink(`--k-${name}`)])),
    other: `${ink("--k-rest")}77`,
    fast: `${ink("--k-loss")}38`,
    timeout: `${ink("--k-loss")}80`,
    start: `${ink("--k-start")}80`,
    onGood: "#10151a",
    font: `13px ${FONT}`,
    small: `12px ${FONT}`,
  };
}
