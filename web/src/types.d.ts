/** Files that the build turns into modules. */

declare module "*.css";

declare module "*.toml" {
  const text: string;
  export default text;
}

/** The parts of the reports' page of packet timelines that draw (`python/nodeb/templates/life`). */
declare module "life-parts" {
  type Columns = Record<string, ArrayLike<number>>;

  export interface LifeAbout {
    lanes: string[];
    places: [name: string, from: number, to: number][];
    nodeB: number;
    ttiNs: number | null;
    beginNs: number;
    endNs: number;
    knownNs: number;
    users: { user: number; group: string }[];
    names: Record<string, string[]>;
  }

  export interface LifeData {
    packets: Columns & { rows: number };
    hops: Columns;
    air: Columns & { rows: number };
    carried: { row: Uint32Array; block: Uint32Array; bytes: ArrayLike<number>; offset: ArrayLike<number> };
    moments: Columns & { kind: number[]; of?: unknown };
  }

  export class View {
    constructor(about: LifeAbout);
    whole: [number, number];
    t0: number;
    t1: number;
    user: number;
    pinned: number;
    left: number;
    width: number;
    x(time: number): number;
    time(x: number): number;
    show(t0: number, t1: number): void;
    zoom(factor: number, around?: number): void;
    move(share: number): void;
  }

  export class Scene {
    constructor(about: LifeAbout, data: LifeData, view: View);
    at: { bottom: number; channel: number };
    draw(ctx: CanvasRenderingContext2D, ink: Inks): void;
  }

  export class Marks {
    constructor(about: LifeAbout, data: LifeData, view: View, whose: () => number);
    hasChannel: boolean;
    draw(ctx: CanvasRenderingContext2D, ink: Inks, y: number): void;
    drawChannel(ctx: CanvasRenderingContext2D, ink: Inks, y: number): void;
    drawGivenUp(ctx: CanvasRenderingContext2D, ink: Inks, scene: Scene): void;
    told(x: number): string;
  }

  export interface Inks {
    readonly page: string;
  }
  /** Parts of a page that draw on its canvas. */
  interface Drawing {
    readonly view: View;
    readonly scene: Scene;
    readonly marks: Marks;
  }
  export function inks(): Inks;
  export function fitted(canvas: HTMLCanvasElement, drawing: Drawing, width: number): number;
  export function drawAxis(ctx: CanvasRenderingContext2D, ink: Inks, view: View, height: number): void;
  export function drawGutter(ctx: CanvasRenderingContext2D, ink: Inks, drawing: Drawing): void;
  export const TOP: number;
  export function byUser(table: Columns, users: { user: number }[]): unknown;
  export function lowest(count: number, valueAt: (at: number) => number, limit: number): number;
  export function packetAt(scene: Scene, x: number, y: number): number;
  export function blockAt(scene: Scene, x: number, y: number): number;
  export function toldOfPacket(about: LifeAbout, data: LifeData, row: number): string;
  export function toldOfBlock(about: LifeAbout, data: LifeData, row: number): string;
  export function usePointer(
    canvas: HTMLCanvasElement,
    on: { view: View; changed: () => void; hover: (x: number, y: number) => void; click: (x: number, y: number) => void },
  ): void;
}

/** The simulator's WebAssembly module, compressed by gzip, in base64. */
declare module "nodeb-web.wasm" {
  const text: string;
  export default text;
}

/** The script of a worker. */
declare module "worker:*" {
  const source: string;
  export default source;
}
