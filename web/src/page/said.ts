/** What the scenarios' replications say, kept up to date while they grow. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

import type { Engine, Replicated, Said } from "../core/api";
import type { Side } from "./simulation";

/** An answer, and what it is about. */
interface Answered {
  readonly said: Said;
  readonly sides: readonly Replicated[];
}

export class Answers {
  private readonly answered = signal<Answered | undefined>(undefined);
  /** What an answer is to be about; nothing while a side has no results. */
  private readonly wanted: ReadonlySignal<readonly Replicated[] | undefined>;
  readonly said = computed<Said | undefined>(() => {
    const [answered, wanted] = [this.answered.value, this.wanted.value];
    return answered && wanted?.length === answered.sides.length ? answered.said : undefined;
  });
  /** True while a newer answer is on its way. */
  readonly isBusy = computed(() => this.wanted.value !== this.answered.value?.sides);
  private isAsking = false;

  constructor(
    private readonly engine: Engine,
    sides: ReadonlySignal<readonly Side[]>,
  ) {
    this.wanted = computed(() => {
      const found = sides.value.map((side) => side.replicated.value);
      return found.length && found.every((one) => one !== undefined) ? found : undefined;
    });
    effect(() => void this.ask(this.wanted.value));
  }

  /** Asks for an answer, one after the other: while one is on its way, only the newest wish is kept. */
  private async ask(wanted: readonly Replicated[] | undefined): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    for (let sides = wanted; sides && sides !== this.answered.peek()?.sides; sides = this.wanted.peek())
      this.answered.value = { said: await this.engine.answer(sides), sides };
    this.isAsking = false;
  }
}
