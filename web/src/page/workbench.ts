/** State of the page: its scenarios, the one that is edited, and the address that holds them. */

import { computed, effect, signal } from "@preact/signals";

import type { About, Engine } from "../core/api";
import { zoomed } from "./figures/time";
import { type Node, Schema } from "./scenario/schema";
import { Answers } from "./said";
import { fragmentOf, opened } from "./share/link";
import { Side } from "./simulation";
import { type Start, STARTS } from "./starts";

/** Time without changes, ms, after which the address of the page follows the scenarios. */
const ADDRESS_MS = 400;

export class Workbench {
  readonly schema: Schema;
  readonly sides = signal<readonly Side[]>([]);
  /** Position of the side that is edited. */
  readonly edited = signal(0);
  readonly start = signal<Start | undefined>(undefined);
  /** Problem of the link that the page was opened with. */
  readonly problem = signal("");
  readonly side = computed(() => this.sides.value[this.edited.value]);
  readonly answers: Answers;
  private timer = 0;
  private written = "";

  constructor(
    readonly engine: Engine,
    about: About,
  ) {
    this.schema = new Schema(about.schema as Node);
    this.answers = new Answers(engine, this.sides);
    effect(() => this.remember(this.sides.value.map((side) => side.text.value)));
    addEventListener("hashchange", () => {
      if (location.hash !== this.written) void this.openAddress();
    });
  }

  /** Opens the scenarios of the page's address, or the first starting point. */
  async openAddress(): Promise<void> {
    const start = STARTS.find(({ name }) => location.hash === `#start=${name}`);
    if (start) return this.begin(start);
    const { hash } = location;
    const { texts, problem } = await opened(hash);
    if (hash !== location.hash) return; // Another address was opened meanwhile.
    this.problem.value = problem;
    if (texts.length) this.open(texts);
    else this.begin(STARTS[0]!);
  }

  begin(start: Start): void {
    this.open(start.texts);
    this.start.value = start;
  }

  open(texts: readonly string[]): void {
    this.sides.value.forEach((side) => side.stop());
    this.start.value = undefined;
    zoomed.value = undefined;
    this.edited.value = 0;
    this.sides.value = texts.map((text) => this.sideWith(text));
  }

  /** Changes the text of the side that is edited. */
  edit(text: string): void {
    this.problem.value = ""; // From now on the page's address follows the text.
    this.side.value?.edit(text);
  }

  /** Adds B as a copy of A, to be changed. */
  addSide(): void {
    const [a] = this.sides.value;
    this.sides.value = [a!, this.sideWith(a!.text.value)];
    this.edited.value = 1;
  }

  /** Removes the side that is edited; the other one stays. */
  removeSide(): void {
    this.side.value?.stop();
    this.sides.value = this.sides.value.filter((_, at) => at !== this.edited.value);
    this.edited.value = 0;
  }

  private sideWith(text: string): Side {
    const side = new Side(this.engine);
    side.edit(text);
    return side;
  }

  /** Puts the scenarios into the page's address when they no longer change. */
  private remember(texts: readonly string[]): void {
    clearTimeout(this.timer);
    if (!texts.length || this.problem.peek()) return;
    this.timer = window.setTimeout(() => {
      void fragmentOf(texts).then((fragment) => {
        this.written = fragment;
        history.replaceState(null, "", fragment);
      });
    }, ADDRESS_MS);
  }
}
