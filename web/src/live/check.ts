/** Checks of answers to exercises, as in the Python package (`nodeb.labs`). */

import type { Engine } from "../core/api";
import { changed, type Changes } from "./text";

/** A number that follows from simulations: `times * (metric - minus) / over`. */
export interface Quantity {
  readonly metric: string;
  readonly group?: string;
  /** Changed keys of the scenario. */
  readonly with?: Changes;
  readonly times?: number;
  readonly minus?: Quantity;
  readonly over?: Quantity;
  readonly runs?: number;
}

/** Wrong answer that is expected, with its hint: a multiple of the right one, or another quantity. */
type Wrong = { readonly hint: string } & ({ readonly times: number } | { readonly answer: Quantity });

/** Description of an exercise in the page (`docs/live.py`). */
export interface ExerciseAbout {
  readonly name: string;
  readonly question: string;
  readonly right: string;
  readonly scenario: string;
  readonly answer?: Quantity;
  readonly unit?: string;
  readonly tolerance?: number;
  readonly wrong?: readonly Wrong[];
  readonly choices?: readonly { readonly text: string; readonly value: Quantity; readonly hint: string }[];
  readonly pick?: "largest" | "smallest";
}

export interface Verdict {
  readonly right: boolean;
  readonly text: string;
}

/** Simulated number and the half-width of its interval. */
interface Value {
  readonly mean: number;
  readonly half: number;
}

const RUNS = 20;
const TOLERANCE = 0.05;

/** Simulates a quantity. */
export async function simulated(quantity: Quantity, text: string, engine: Engine): Promise<Value> {
  const { metric, group = "all", times = 1, minus, over, runs = RUNS } = quantity;
  const scenario = changed(text, quantity.with ?? {});
  const replications = await engine.replicate({ text: scenario, runs });
  const said = await engine.answer([{ text: scenario, replications, paths: [] }]);
  const row = said.sides[0]!.summary.find((one) => one.metric === metric && one.group === group);
  if (!row || row.mean === null) throw new Error(`the simulation has no metric ${metric} of ${group}`);
  let [mean, half] = [row.mean, (row.high! - row.low!) / 2];
  if (minus) {
    const less = await simulated(minus, text, engine);
    [mean, half] = [mean - less.mean, Math.hypot(half, less.half)];
  }
  if (over) {
    const below = await simulated(over, text, engine);
    if (below.mean === 0) throw new Error(`${metric} cannot be divided by ${over.metric}, which is 0`);
    mean /= below.mean;
    half = Math.hypot(half, mean * below.half) / Math.abs(below.mean);
  }
  return { mean: times * mean, half: Math.abs(times) * half };
}

/** Checks an answer: a number in the exercise's unit, or the number of a choice, from 1. */
export async function check(exercise: ExerciseAbout, given: number, engine: Engine): Promise<Verdict> {
  const { answer, scenario, tolerance = TOLERANCE } = exercise;
  if (!answer) return checkChoice(exercise, given, engine);
  const isNear = ({ mean, half }: Value) => Math.abs(given - mean) <= tolerance * Math.abs(mean) + half;
  const value = await simulated(answer, scenario, engine);
  if (isNear(value)) return { right: true, text: exercise.right };
  for (const one of exercise.wrong ?? []) {
    const other =
      "answer" in one
        ? await simulated(one.answer, scenario, engine)
        : { mean: one.times * value.mean, half: Math.abs(one.times) * value.half };
    if (isNear(other)) return { right: false, text: one.hint };
  }
  return { right: false, text: `the answer is too ${given > value.mean ? "large" : "small"}.` };
}

async function checkChoice(exercise: ExerciseAbout, given: number, engine: Engine): Promise<Verdict> {
  const choices = exercise.choices ?? [];
  const values = await Promise.all(choices.map(({ value }) => simulated(value, exercise.scenario, engine)));
  const means = values.map(({ mean }) => mean);
  const best = exercise.pick === "smallest" ? Math.min(...means) : Math.max(...means);
  const place = given - 1;
  return means[place] === best ? { right: true, text: exercise.right } : { right: false, text: choices[place]!.hint };
}
