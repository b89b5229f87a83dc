/** Links that hold the page's scenarios in their fragment: `#s=...` for A, `&b=...` for B, `&v=...` for the version. */

import { packed, SCENARIO, unpacked } from "../../core/link";

const SECOND = "b";
const VERSION = "v";
/** Version of the links that this page writes; links without one are of version 1. */
const CURRENT = 1;

/** Returns the fragment for one or two scenarios. */
export async function fragmentOf(texts: readonly string[]): Promise<string> {
  const parts = [`${VERSION}=${CURRENT}`, `${SCENARIO}=${await packed(texts[0]!)}`];
  if (texts[1] !== undefined) parts.push(`${SECOND}=${await packed(texts[1])}`);
  return `#${parts.join("&")}`;
}

/** Scenarios of a link, or the reason why it has none. */
export type Opened = { readonly texts: readonly string[]; readonly problem: "" } | { readonly texts: readonly []; readonly problem: string };

/** Reads a fragment. Nothing in it is executed: it becomes text for the editor. */
export async function opened(fragment: string): Promise<Opened> {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const version = Number(said.get(VERSION) ?? CURRENT);
  const nothing = (problem: string): Opened => ({ texts: [], problem });
  if (![...said.keys()].length) return nothing("");
  if (!said.has(SCENARIO)) return nothing("This link holds no scenario; expected a link that this page made.");
  if (!Number.isInteger(version) || version < 1) return nothing(`The link's version is ${said.get(VERSION)}; expected ${CURRENT}.`);
  if (version > CURRENT) return nothing(`The link was made by a newer nodeb (version ${version} of links; this page reads ${CURRENT}).`);
  try {
    const all = [said.get(SCENARIO), said.get(SECOND)].filter((one): one is string => one !== null);
    return { texts: await Promise.all(all.map(unpacked)), problem: "" };
  } catch {
    return nothing("The scenario in this link is damaged; expected the whole link, which can be long. Ask for it again.");
  }
}
