/** Mistakes in a scenario's text: problems that prevent a simulation, and doubts. */

import type { Problem, Reading } from "../../core/api";

export interface Mistake {
  readonly line: number | null;
  readonly text: string;
  readonly severity: "error" | "warning";
}

/** Returns the mistakes that the simulator found in a text, those that prevent a simulation first. */
export function mistakesOf(reading: Reading | undefined): Mistake[] {
  if (!reading) return [];
  return [
    ...reading.problems.map((one) => mistake(one, "error")),
    ...reading.superfluous.map((one) => mistake(one, "warning")),
    ...reading.warnings.map((one) => mistake(one, "warning")),
    ...(reading.document && "sweep" in reading.document ? [NO_SWEEP] : []),
  ];
}

const NO_SWEEP: Mistake = {
  line: null,
  text: "sweep: the page simulates the scenario without its sweep; save the text and use `nodeb sweep scenario.toml`",
  severity: "warning",
};

function mistake({ line, key, problem, expected }: Problem, severity: Mistake["severity"]): Mistake {
  const where = key ? `${key}: ` : "";
  const right = expected ? `; expected ${expected}` : "";
  return { line, text: `${where}${problem}${right}`, severity };
}
