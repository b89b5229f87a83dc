/** A scenario and its results in forms for other programs. */

import type { Replication, SideSaid } from "../../core/api";
import { numbers } from "../../core/columns";

/** Returns commands for a shell that simulate the scenarios with the installed program. */
export function commandOf(texts: readonly string[]): string {
  const names = texts.length > 1 ? ["a.toml", "b.toml"] : ["scenario.toml"];
  const files = texts.map((text, at) => `cat > ${names[at]} <<'${endOf(text)}'\n${text.trimEnd()}\n${endOf(text)}\n`);
  const command = texts.length > 1 ? `nodeb compare ${names.join(" ")}` : `nodeb run ${names[0]}`;
  return `${files.join("")}${command}\n`;
}

/** Returns a delimiter for the here-document that the text does not contain, so that no line of the text ends it. */
function endOf(text: string): string {
  let end = "END";
  while (text.includes(end)) end += "_";
  return end;
}

/** Returns a Python program that simulates the scenarios. */
export function pythonOf(texts: readonly string[]): string {
  const names = texts.length > 1 ? ["a", "b"] : ["scenario"];
  const scenarios = texts.map((text, at) => `${names[at]} = nodeb.Scenario.from_toml(${quoted(text)})\n`);
  const call = texts.length > 1 ? 'nodeb.compare({"A": a.run(), "B": b.run()})' : "scenario.run()";
  return `import nodeb\n\n${scenarios.join("")}print(${call})\n`;
}

function quoted(text: string): string {
  return `"""\n${text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').trimEnd()}\n"""`;
}

/** Returns the metrics with the columns of `summary.csv`. */
export function metricsCsv(all: readonly { name: string; said: SideSaid }[]): string {
  const head = ["scenario", "group", "metric", "unit", "mean", "ci95_low", "ci95_high", "stdev", "runs"];
  const rows = all.flatMap(({ name, said }) =>
    said.summary.map((one) => [name, one.group, one.metric, one.unit, one.mean, one.low, one.high, one.stdev, one.n]),
  );
  return csv([head, ...rows]);
}

/** Returns the curves of one replication, one row for each phone and interval. */
export function curvesCsv({ overTime }: Replication): string {
  if (!overTime) return "";
  const { table } = overTime;
  const names = [...table.columns.keys()];
  const columns = names.map((name) => numbers(table, name));
  return csv([names, ...Array.from({ length: table.rows }, (_, row) => columns.map((one) => one[row]!))]);
}

function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null) =>
    typeof value !== "string" ? (Number.isNaN(value ?? NaN) ? "" : String(value)) : /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  return `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;
}
