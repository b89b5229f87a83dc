/**
 * Links that hold the page's scenarios in their fragment, which browsers do not send to servers: `s=` for A, `b=` for B
 * and `v=` for the version of the form. A scenario is its text, compressed (raw DEFLATE), in base64url. `nodeb play`
 * writes the same form.
 */

const SCENARIO = "s";
const SECOND = "b";
const VERSION = "v";
/** Version of the links that this page writes; links without one are of version 1. */
const CURRENT = 1;
/** Maximum size of a scenario read from a link, so that a prepared link cannot fill the memory. */
const MAX_BYTES = 4_000_000;

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

/** Returns a text compressed for a link. */
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the text that `packed` compressed; rejects if the link is damaged, foreign or too long. */
async function unpacked(link: string): Promise<string> {
  const binary = atob(link.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (one) => one.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > MAX_BYTES) throw new Error(`the scenario in the link is longer than ${MAX_BYTES} bytes`);
    parts.push(next.value as Uint8Array<ArrayBuffer>);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}
