/**
 * Starting points: a question, two sentences on it, and one or two scenarios (`web/starts/*.toml`, and the ready cells
 * of the package).
 */

import bufferbloat from "../../../python/nodeb/cells/bufferbloat.toml";
import hsdpaSuburb from "../../../python/nodeb/cells/hsdpa-suburb.toml";
import lteEdge from "../../../python/nodeb/cells/lte-edge.toml";
import lteEmpty from "../../../python/nodeb/cells/lte-empty.toml";
import lteEvening from "../../../python/nodeb/cells/lte-evening.toml";
import lteStadium from "../../../python/nodeb/cells/lte-stadium.toml";
import lteTrain from "../../../python/nodeb/cells/lte-train.toml";
import umts2004 from "../../../python/nodeb/cells/umts-2004.toml";
import wifiBad from "../../../python/nodeb/cells/wifi-bad.toml";
import blockErrors from "../../starts/block-errors.toml";
import buffer from "../../starts/buffer.toml";
import fachOrDch from "../../starts/fach-or-dch.toml";
import harq from "../../starts/harq.toml";
import lteOrHsdpa from "../../starts/lte-or-hsdpa.toml";
import schedulers from "../../starts/schedulers.toml";
import sleep from "../../starts/sleep.toml";
import wireLosses from "../../starts/wire-losses.toml";
import { pathOf, reread } from "./scenario/document";

export interface Start {
  readonly name: string;
  readonly question: string;
  /** Two sentences on the values to compare. */
  readonly about: string;
  /** Scenario A, and B if the question compares two. */
  readonly texts: readonly string[];
}

/** Reads a starting point: its comment has the question, the sentences, and lines `B: key = value` that make B of A. */
export function startOf(name: string, source: string): Start {
  const end = source.indexOf("\n\n");
  const lines = source.slice(0, end).split("\n").map((line) => line.replace(/^# ?/, ""));
  const about = lines.slice(1).filter((line) => line && !line.startsWith("B: "));
  const text = `# ${lines[0]}\n\n${source.slice(end + 2)}`;
  const changes = lines.flatMap((line) => [...line.matchAll(/^B: ([\w.]+) = (.+)$/g)]);
  const other = changes.reduce((now, [, key, value]) => reread(now).set(pathOf(key!), value!), text);
  return { name, question: lines[0]!, about: about.join(" "), texts: changes.length ? [text, other] : [text] };
}

export const STARTS: readonly Start[] = [
  startOf("umts-2004", umts2004),
  startOf("block-errors", blockErrors),
  startOf("harq", harq),
  startOf("buffer", buffer),
  startOf("lte-or-hsdpa", lteOrHsdpa),
  startOf("schedulers", schedulers),
  startOf("fach-or-dch", fachOrDch),
  startOf("sleep", sleep),
  startOf("wire-losses", wireLosses),
  startOf("lte-evening", lteEvening),
  startOf("bufferbloat", bufferbloat),
  startOf("lte-empty", lteEmpty),
  startOf("lte-edge", lteEdge),
  startOf("lte-train", lteTrain),
  startOf("lte-stadium", lteStadium),
  startOf("hsdpa-suburb", hsdpaSuburb),
  startOf("wifi-bad", wifiBad),
];
