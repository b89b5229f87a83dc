/** Changes of variants, such as another radio, that keep the keys that both variants have. */

import { Document, reread } from "./document";
import type { Node, Path, Schema, Variant } from "./schema";

/** Returns the text with another variant at a path. */
export function choose(document: Document, schema: Schema, path: Path, option: Variant): string {
  const current = document.at(path);
  if (typeof current !== "object" || current === null) return document.set(path, schema.sampleVariant(option));
  const old = Object.keys(current)[0]!;
  const inside = [...path, option.name];
  let changed = reread(document.rename([...path, old], option.name));
  const shape = schema.shape(option.node);
  if (shape.kind !== "table") return changed.text;
  for (const [key, value] of Object.entries((changed.at(inside) ?? {}) as object))
    if (!fits(schema, shape.keys.get(key), value)) changed = reread(changed.remove([...inside, key]));
  if (changed.at(path) === undefined) return changed.set(path, schema.sampleVariant(option));
  for (const key of shape.required)
    if (changed.at([...inside, key]) === undefined)
      changed = reread(changed.add([...inside, key], schema.sample(shape.keys.get(key)!)));
  return changed.text;
}

/** Returns true if a key of another variant can stay: it exists here, and its value is of the same kind. */
function fits(schema: Schema, node: Node | undefined, value: unknown): boolean {
  if (!node) return false;
  const shape = schema.shape(node);
  if (shape.kind === "choice") return shape.options.some((one) => one.name === value);
  if (shape.kind !== "variant") return true;
  if (typeof value === "number") return shape.bare !== undefined;
  const name = typeof value === "object" && value !== null ? Object.keys(value)[0] : value;
  return shape.options.some((one) => one.name === name);
}
