/** Completion of keys and values in a scenario's text, from the schema. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

import { Document } from "./document";
import type { Node, Path, Schema } from "./schema";

/** Returns a source of completions for a schema. */
export function completionsOf(schema: Schema) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    if (/^\s*#/.test(before)) return null;
    return headerCompletion(schema, before, context.pos) ?? lineCompletion(schema, context, before);
  };
}

/** Completes the name of a table: `[radio.`. */
function headerCompletion(schema: Schema, before: string, pos: number): CompletionResult | null {
  const found = /^\s*\[\[?([\w.]*)$/.exec(before);
  if (!found) return null;
  const path = found[1]!.split(".").slice(0, -1);
  const word = found[1]!.split(".").at(-1)!;
  const node = schema.at(numbered(path));
  return node ? { from: pos - word.length, options: keysOf(schema, node) } : null;
}

/** Completes a key, or the value after `=`. */
function lineCompletion(schema: Schema, context: CompletionContext, before: string): CompletionResult | null {
  const table = tableAbove(context);
  const value = /([\w.]+)\s*=\s*("?)([\w .-]*)$/.exec(before);
  if (value) {
    const node = schema.at([...table, ...value[1]!.split(".")]);
    return node ? { from: context.pos - value[3]!.length - value[2]!.length, options: valuesOf(schema, node) } : null;
  }
  const key = /^\s*([\w.]*)$/.exec(before)?.[1];
  if (key === undefined || (key === "" && !context.explicit)) return null;
  const word = key.split(".").at(-1)!;
  const node = schema.at([...table, ...key.split(".").slice(0, -1)]);
  return node ? { from: context.pos - word.length, options: keysOf(schema, node) } : null;
}

/** Returns the path of the table whose header stands above the cursor. */
function tableAbove(context: CompletionContext): Path {
  const text = context.state.doc.sliceString(0, context.pos);
  const found = Document.read(text.slice(0, text.lastIndexOf("\n") + 1));
  return found instanceof Document ? found.tableAt(text.length) : [];
}

/** Adds the index of the first element below `users`, which is an array. */
function numbered(path: readonly string[]): Path {
  return path.flatMap((key, at) => (at === 0 && key === "users" ? [key, 0] : [key]));
}

function keysOf(schema: Schema, node: Node): Completion[] {
  const shape = schema.shape(node);
  if (shape.kind === "tables") return keysOf(schema, shape.item);
  if (shape.kind === "variant")
    return shape.options.map((one) => ({ label: one.name, type: "enum", info: one.description }));
  if (shape.kind !== "table") return [];
  return [...shape.keys].map(([key, one]) => ({ label: key, type: "property", info: schema.about(one) }));
}

function valuesOf(schema: Schema, node: Node): Completion[] {
  const shape = schema.shape(node);
  const options =
    shape.kind === "choice" || shape.kind === "variant"
      ? shape.options.map((one) => ({ label: JSON.stringify(one.name), type: "enum", info: one.description }))
      : [];
  if (shape.kind === "switch") return ["true", "false"].map((label) => ({ label, type: "keyword" }));
  return options.length ? options : [{ label: schema.sample(node), type: "constant", info: schema.about(node) }];
}
