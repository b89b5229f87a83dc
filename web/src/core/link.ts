/**
 * Scenarios in links: the text, compressed (raw DEFLATE) and in base64url, is a part of the address's fragment, so that
 * it is sent to nobody. `nodeb play` writes the same form.
 */

/** Name of the scenario in a fragment, as in `#s=...`. */
export const SCENARIO = "s";
/** Maximum size of a scenario read from a link, so that a prepared link cannot fill the memory. */
const MAX_BYTES = 4_000_000;

/** Returns a text compressed for a link. */
export async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the text that `packed` compressed; rejects if the link is damaged, foreign or too long. */
export async function unpacked(link: string): Promise<string> {
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
