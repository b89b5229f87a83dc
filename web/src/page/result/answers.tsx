/** The answer of one scenario, and the comparison of two: sentence, picture, key figures. */

import { allFacts, factsOf } from "../answer/facts";
import { differencesOf, differenceText, meansOf, signOf, verdictText } from "../answer/comparison";
import { headline } from "../answer/headline";
import { ringsOf } from "../answer/rings";
import type { Results } from "../answer/rows";
import { counted } from "../answer/words";
import { CauseBars } from "../figures/bars";
import { RingBars } from "../figures/rings";
import type { Side } from "../simulation";

/** Returns the sentence on one side, or on which of two is better; empty while a side has no results. */
export function sentenceOf(sides: readonly Side[]): string {
  const [a, b] = sides.map((side) => side.results.value);
  if (sides.length === 2) return a && b ? verdictText(differencesOf(a, b), Math.min(a.found.runs, b.found.runs)) : "";
  const [side] = sides;
  const first = side?.first.value;
  return first && a ? headline({ scenario: first.scenario, replication: first.replication, results: a, causes: side!.causes.value }) : "";
}

/** Picture and key figures of one side. */
export function Answer({ side }: { side: Side }) {
  const [first, results, causes] = [side.first.value, side.results.value, side.causes.value];
  if (!first || !results) return null;
  const rings = ringsOf(first.replication.tables);
  return (
    <>
      {causes.length > 0 && <CauseBars title="Where the time went" causes={causes} />}
      {!causes.length && rings.length > 0 && <RingBars rings={rings} />}
      <dl class="tiles">
        {factsOf(results, first.scenario.users).map((fact) => (
          <div class="tile" key={fact.metric} title={fact.meaning}>
            <dt>{fact.label}</dt>
            <dd>
              {fact.text.value}
              <small>{fact.text.interval}</small>
            </dd>
          </div>
        ))}
      </dl>
      <p class="note" role="status">
        {counted(results.found.runs, "replication")}
        {of(results.found)}, seed {first.scenario.seed}; intervals: 95 %.
      </p>
    </>
  );
}

export function AllMetrics({ results }: { results: Results }) {
  return (
    <details>
      <summary>All metrics</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="All metrics">
        <table>
          <thead>
            <tr>
              <th class="corner">metric</th>
              <th>mean</th>
              <th>95 % interval</th>
            </tr>
          </thead>
          <tbody>
            {allFacts(results).map((one) => (
              <tr key={one.metric + one.group}>
                <th title={one.meaning}>
                  {one.label}
                  {one.group && ` (${one.group})`}
                </th>
                <td>{one.text.value}</td>
                <td>{one.text.interval}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Table of both sides' means and their paired difference, with a verdict for each metric. */
export function Comparison({ a, b }: { a: Results; b: Results }) {
  const all = differencesOf(a, b);
  const pairs = Math.min(a.found.runs, b.found.runs);
  const expected = Math.min(a.found.expected, b.found.expected);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Comparison">
        <table>
          <thead>
            <tr>
              <th class="corner">metric</th>
              <th>A</th>
              <th>B</th>
              <th>B minus A (95 %)</th>
              <th>verdict</th>
            </tr>
          </thead>
          <tbody>
            {all.map((one) => {
              const [before, now] = meansOf(one);
              return (
                <tr key={one.metric.name}>
                  <th title={one.metric.meaning}>
                    {signOf(one)} {one.metric.label}
                  </th>
                  <td>{before.value}</td>
                  <td>{now.value}</td>
                  <td>{differenceText(one).inOneCell}</td>
                  <td class={VERDICTS[one.verdict.kind] ?? ""}>
                    {one.verdict.kind === "differs" ? (one.verdict.sign > 0 ? "more" : "less") : one.verdict.kind}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="note" role="status">
        {counted(pairs, "pair")}
        {of({ runs: pairs, expected })} with the same random numbers; same: within 2 % of A.
      </p>
    </>
  );
}

/** Returns the expected number of replications if more are coming. */
function of({ runs, expected }: { runs: number; expected: number }): string {
  return runs < expected ? ` of ${expected}` : "";
}

const VERDICTS: Record<string, string> = { better: "near", worse: "far", undecided: "open" };
