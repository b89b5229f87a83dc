/** Canvas of packet timelines, from the server to the application, on the time axis of all figures. */

import { blockAt, drawAxis, drawGutter, fitted, inks, Marks, packetAt, Scene, toldOfBlock, toldOfPacket, TOP, usePointer, View } from "life-parts";

import type { Life, Scenario } from "../../core/api";
import { show, shownSpan } from "../figures/time";
import { drawn } from "./tables";

export class LifeCanvas {
  readonly view: View;
  readonly scene: Scene;
  readonly marks: Marks;
  private readonly found: ReturnType<typeof drawn>;
  private readonly resizing: ResizeObserver;
  private ink = inks();
  private height = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    life: Life,
    scenario: Scenario,
    private readonly endS: number,
    private readonly onTip: (text: string) => void,
  ) {
    this.found = drawn(life, scenario);
    const { about, data } = this.found;
    this.view = new View(about);
    this.view.whole = [0, endS * 1e9];
    this.scene = new Scene(about, data, this.view);
    this.marks = new Marks(about, data, this.view, () => this.view.user);
    usePointer(canvas, { view: this.view, changed: () => this.share(), hover: (x, y) => this.hover(x, y), click: (x, y) => this.pin(x, y) });
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(canvas.parentElement!);
    this.resize();
  }

  close(): void {
    this.resizing.disconnect();
  }

  /** Draws the shown span of time. */
  draw(): void {
    const { ctx, ink, view, scene, marks } = this;
    const [from, to] = shownSpan(this.endS);
    view.show(from * 1e9, to * 1e9);
    ctx.fillStyle = ink.page;
    ctx.fillRect(0, 0, view.width, this.height);
    drawAxis(ctx, ink, view, this.height);
    if (marks.hasChannel) marks.drawChannel(ctx, ink, scene.at.channel);
    scene.draw(ctx, ink);
    marks.drawGivenUp(ctx, ink, scene);
    drawGutter(ctx, ink, this);
    marks.draw(ctx, ink, TOP + 2);
  }

  /** Takes the colours of the page again, after a change between light and dark. */
  repaint(): void {
    this.ink = inks();
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
    this.height = fitted(this.canvas, this, width);
    this.draw();
  }

  private hover(x: number, y: number): void {
    this.onTip(x < this.view.left ? "" : this.tipAt(x, y));
  }

  private tipAt(x: number, y: number): string {
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
    this.onTip(this.tipAt(x, y));
  }
}
