/** The answer of one scenario, and the comparison of two: sentence, picture, key figures. */

import type { Rows, Said, SideSaid } from "../../core/api";
import { BarChart } from "../figures/bars";

/** Returns the sentence on one scenario, or on which of two is better; empty without results. */
export function sentenceOf(said: Said | undefined): string {
  const text = said?.compared?.headline ?? said?.sides[0]?.headline ?? "";
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function Answer({ said }: { said: SideSaid }) {
  const bars = said.causes ?? (said.picture && "bars" in said.picture ? said.picture : null);
  return (
    <>
      {bars && <BarChart title={bars.title} bars={bars.bars} />}
      {said.picture && "rows" in said.picture && <Table rows={said.picture} />}
      <dl class="tiles">
        {said.facts.map(({ name, shown, meaning }) => (
          <div class="tile" key={name} title={meaning}>
            <dt>{name}</dt>
            <dd>
              {shown.value}
              <small>{shown.interval}</small>
            </dd>
          </div>
        ))}
      </dl>
      <Remarks {...said} />
    </>
  );
}

function Remarks({ marks, notes }: Pick<SideSaid, "marks" | "notes">) {
  return (
    <>
      {marks.map(({ sign, text, folded }) => !folded && <p class="note" key={text}>{sign} {text}</p>)}
      {notes.map((text, at) => (
        <p class="note" key={text} role={at ? undefined : "status"}>
          {text}
        </p>
      ))}
    </>
  );
}

export function AllMetrics({ said }: { said: SideSaid }) {
  return (
    <details>
      <summary>All metrics</summary>
      {said.everything.map((rows) => (
        <Table key={rows.title} rows={rows} />
      ))}
    </details>
  );
}

export function Comparison({ compared: { table, everything, marks, notes } }: { compared: NonNullable<Said["compared"]> }) {
  return (
    <>
      {table && <Table rows={table} />}
      <Remarks marks={marks} notes={notes} />
      <details>
        <summary>All metrics, with ratios</summary>
        {everything.map((rows) => (
          <Table key={rows.title} rows={rows} />
        ))}
      </details>
    </>
  );
}

function Table({ rows: { title, head, rows } }: { rows: Rows }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title || "Table"}>
      <table>
        {head.some(Boolean) && (
          <thead>
            <tr>
              {head.map((name, at) => (
                <th key={at} class={at ? undefined : "corner"}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map(([name, ...cells], at) => (
            <tr key={at}>
              <th>{typeof name === "string" ? name : name?.value}</th>
              {cells.map((cell, column) => (
                <td key={column}>{typeof cell === "string" ? cell : cell.value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
