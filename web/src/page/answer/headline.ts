/** The sentence with which a run's answer begins, as in `nodeb.results.answer`. */

import type { Replication, Scenario, Table } from "../../core/api";
import { numbers, texts } from "../../core/columns";
import { ALL_UP } from "../../core/group";
import { type Cause, mainCauses } from "./causes";
import { number, scaleOf } from "./numbers";
import type { Results } from "./rows";
import { counted, joined, percent, sentence } from "./words";

const FULL = 0.95;
const GROUPS = 4;

/** Inputs of a headline. */
export interface Ran {
  readonly scenario: Scenario;
  readonly results: Results;
  /** One replication with its tables. */
  readonly replication: Replication;
  /** Causes of the first phone's first transfer; empty if they are not known. */
  readonly causes: readonly Cause[];
}

/**
 * Returns one or two sentences: how long a transfer took, or what a cell delivers, and why. If there are downloads and
 * uploads, they are about the downloads, and a sentence about the uploads follows.
 */
export function headline(ran: Ran): string {
  return [main(ran), uploads(ran.results)].filter(Boolean).join(" ");
}

/** Returns a sentence about the uploads beside downloads; nothing if there are none. */
function uploads(results: Results): string {
  const [took, rate] = [results.row("download_s", ALL_UP), results.row("received_bps", ALL_UP)];
  if (took) return `An upload took ${results.text(took).withLevel}.`;
  return rate ? `The uploads got ${results.text(rate).withLevel} each.` : "";
}

/** Returns true if all connections are uploads. */
function areUploads({ tables }: Replication): boolean {
  const directions = directionsOf(tables.get("flows")!);
  return directions.length > 0 && directions.every((one) => one === "up");
}

/** Returns the direction of each connection; nothing if all are downloads. */
function directionsOf(flows: Table): string[] {
  return flows.columns.has("direction") ? texts(flows, "direction") : [];
}

/** Returns the names of the groups that the answer is about: those of downloads if there are also uploads. */
function groupsOf({ results, replication }: Ran): string[] {
  const flows = replication.tables.get("flows")!;
  const [directions, groups] = [directionsOf(flows), texts(flows, "group")];
  if (areUploads(replication)) return results.groups;
  return results.groups.filter((name) => !directions.some((one, row) => one === "up" && groups[row] === name));
}

function main(ran: Ran): string {
  const { results, scenario } = ran;
  const isUp = areUploads(ran.replication);
  const [receiver, transfer, done] = isUp ? ["server", "upload", "sent"] : ["phone", "download", "loaded"];
  const end = number(ran.replication.endS, "s");
  if (!(results.mean("received_bps") > 0)) {
    const phones = isUp || scenario.users === 1 ? `the ${receiver}` : `any of ${scenario.users} phones`;
    return sentence(`nothing arrived at ${phones} in ${end}.`);
  }
  const unfinished = 1 - (results.row("complete")?.mean ?? 1);
  if (unfinished === 1 && scenario.users === 1)
    return `The ${transfer} did not finish in ${end}; ${percent(received(ran.replication))} of it had arrived.`;
  if (unfinished >= 0.5 && unfinished < 1)
    return [`${percent(unfinished)} of the transfers had not finished when the run ended after ${end}.`, cell(ran)]
      .filter(Boolean)
      .join(" ");
  if (results.row("cell_bps") && !isUp) return cell(ran);
  if (scenario.users > 1 && isUp) return `From its start to its last byte, a phone sends ${ofEach(ran)}.`;
  if (scenario.users > 1) return `From its request to its last byte, a phone receives ${ofEach(ran)}.`;
  if (results.row("load_median_s")) return `Half of what was ${done} took at most ${results.sure("load_median_s")}.`;
  if (!results.row("download_s")) return `The ${receiver} received ${results.sure("received_bps")}.`;
  return `The ${transfer} took ${results.sure("download_s")}. ${mainCauses(ran.causes)}`.trim();
}

/** Returns what a cell delivers; nothing for uploads, of which the cell's bearers carry only the ACKs. */
function cell({ results, scenario, replication }: Ran): string {
  if (!results.row("cell_bps") || areUploads(replication)) return "";
  const downloads = directionsOf(replication.tables.get("flows")!).filter((one) => one === "down").length;
  const phones = counted(downloads || scenario.users, "phone");
  const text = `The cell delivers ${results.sure("cell_bps")} to ${phones}.`;
  const busy = results.row("cell_busy");
  if (!busy) return text;
  return `${text} It is ${busy.mean >= FULL ? "full: " : ""}busy ${results.text(busy).value} of the time.`;
}

/** Returns the rate of a phone; with several groups, that of each group, or the lowest and the highest. */
function ofEach(ran: Ran): string {
  const { results } = ran;
  const rows = groupsOf(ran).flatMap((group) => results.row("received_bps", group) ?? []);
  if (!rows.length) return results.sure("received_bps");
  const text = (row: (typeof rows)[number]) =>
    `${results.text(row, scaleOf(row.mean, row.unit)).value} (${row.group})`;
  if (rows.length <= GROUPS) return joined(rows.map(text));
  const sorted = [...rows].sort((a, b) => a.mean - b.mean);
  return `from ${text(sorted[0]!)} to ${text(sorted.at(-1)!)}`;
}

/** Returns the share of the first phone's bytes that had arrived. */
function received({ tables }: Replication): number {
  const flows = tables.get("flows")!;
  const [arrived, size] = [numbers(flows, "delivered_bytes")[0]!, numbers(flows, "app_bytes")[0]!];
  return size > 0 ? arrived / size : 0;
}
