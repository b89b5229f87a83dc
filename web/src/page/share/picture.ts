/** Picture of the answer: its sentence, the critical path and the charts, as a PNG. */

import type { Bar, Explanation } from "../../core/api";
import { charts, LEFT, RIGHT } from "../figures/chart";
import { ink, type Paint, PAINTS } from "../figures/paints";
import { boxesOf, stretchesOf } from "../figures/strip";
import { shownSpan } from "../figures/time";

const WIDTH = 1000;
const MARGIN = 24;
const STRIP = 40;
const BAR = 22;
const FONT = "system-ui, sans-serif";

export interface Pictured {
  readonly headline: string;
  readonly bars: readonly Bar[];
  readonly explanation: Explanation | undefined;
  readonly endS: number;
}

/** Returns the picture as PNG. */
export async function pictureOf(shown: Pictured): Promise<Blob> {
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d")!;
  const plots = [...charts.values()].map((one) => one.ctx.canvas);
  const inner = WIDTH - 2 * MARGIN;
  ctx.font = `600 24px ${FONT}`;
  const lines = wrapped(ctx, shown.headline, inner);
  const { bars } = shown;
  const heights = plots.map((one) => (one.height * inner) / one.width + 28);
  canvas.width = WIDTH;
  canvas.height = 2 * MARGIN + lines.length * 32 + bars.length * BAR + (shown.explanation ? STRIP + 28 : 0) + heights.reduce((sum, one) => sum + one, 0) + 16;
  ctx.fillStyle = ink("--page");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = ink("--text");
  ctx.font = `600 24px ${FONT}`;
  ctx.textBaseline = "top";
  let y = MARGIN;
  for (const line of lines) {
    ctx.fillText(line, MARGIN, y);
    y += 32;
  }
  y = drawBars(ctx, bars, y + 8, inner);
  if (shown.explanation) y = drawStrip(ctx, shown.explanation, shown.endS, y + 12, inner);
  [...charts.keys()].forEach((title, at) => {
    ctx.fillStyle = ink("--text");
    ctx.font = `600 14px ${FONT}`;
    ctx.fillText(title, MARGIN, y + 6);
    ctx.drawImage(plots[at]!, MARGIN, y + 26, inner, heights[at]! - 28);
    y += heights[at]!;
  });
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser cannot make a PNG of this size."))), "image/png"),
  );
}

function drawBars(ctx: CanvasRenderingContext2D, bars: readonly Bar[], top: number, inner: number): number {
  const most = Math.max(...bars.map(({ size }) => size), 0);
  ctx.font = `14px ${FONT}`;
  bars.forEach((bar, at) => {
    const y = top + at * BAR;
    ctx.fillStyle = ink("--text");
    ctx.fillText(bar.name, MARGIN, y + 2);
    ctx.fillText(`${bar.note}  ${bar.value}`, MARGIN + inner - 130, y + 2);
    ctx.fillStyle = colourOf(Object.values(PAINTS).find(({ name }) => name === bar.paint));
    ctx.fillRect(MARGIN + 220, y + 2, (bar.size / most) * (inner - 370), BAR - 6);
  });
  return top + bars.length * BAR;
}

function drawStrip(ctx: CanvasRenderingContext2D, explanation: Explanation, endS: number, top: number, inner: number): number {
  const span = shownSpan(endS);
  const wide = inner - LEFT - RIGHT;
  const x = (time: number) => MARGIN + LEFT + (wide * (time - span[0])) / (span[1] - span[0]);
  for (const box of boxesOf(stretchesOf(explanation), span)) {
    let y = top;
    for (const part of box.parts) {
      ctx.fillStyle = colourOf(PAINTS[part.cause]);
      ctx.fillRect(x(box.from), y, Math.max(x(box.to) - x(box.from), 0.5), STRIP * part.share);
      y += STRIP * part.share;
    }
  }
  return top + STRIP + 12;
}

function colourOf(paint: Paint | undefined): string {
  return ink(`--k-${paint?.family ?? "rest"}`);
}

function wrapped(ctx: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && ctx.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
