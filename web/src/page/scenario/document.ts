/**
 * A scenario's text, with changes in place: comments, order and blank lines stay as they are.
 *
 * Each change returns a new text. Tables can be written as headers, as dotted keys or inline; changes keep the form
 * that the text has.
 */

import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";

import type { Path } from "./schema";

export interface SyntaxProblem {
  readonly line: number;
  readonly message: string;
}

/** A key with its value: where it stands, and the full path of the key. */
interface Pair {
  readonly path: Path;
  readonly node: AST.TOMLKeyValue;
}

type Value = Readonly<Record<string, unknown>>;

export class Document {
  private readonly pairs: readonly Pair[];
  private readonly headers: readonly AST.TOMLTable[];

  private constructor(
    readonly text: string,
    readonly value: Value,
    private readonly top: AST.TOMLTopLevelTable,
  ) {
    this.headers = top.body.filter((one) => one.type === "TOMLTable");
    this.pairs = top.body.flatMap((one) =>
      one.type === "TOMLTable" ? one.body.flatMap((pair) => pairsOf(pair, one.resolvedKey)) : pairsOf(one, []),
    );
  }

  /** Reads a text, or returns its first error. */
  static read(text: string): Document | SyntaxProblem {
    try {
      const program = parseTOML(text);
      return new Document(text, getStaticTOMLValue(program) as Value, program.body[0]);
    } catch (error) {
      if (error instanceof ParseError) return { line: error.lineNumber, message: error.message };
      throw error;
    }
  }

  /** Returns the value at a path, or nothing if the text has no such key. */
  at(path: Path): unknown {
    return path.reduce<unknown>(
      (value, key) => (value && typeof value === "object" ? (value as Record<string, unknown>)[key] : undefined),
      this.value,
    );
  }

  /** Returns the path of the table in which a position of the text stands. */
  tableAt(offset: number): Path {
    return this.headers.filter((one) => one.range[0] <= offset).at(-1)?.resolvedKey ?? [];
  }

  /** Sets the value of a key, which is added if it is missing. */
  set(path: Path, toml: string): string {
    const pair = this.pairs.find((one) => same(one.path, path));
    if (pair) return this.replaced(pair.node.value.range, toml);
    if (this.at(path) === undefined) return this.add(path, toml);
    return reread(this.remove(path)).add(path, toml);
  }

  /** Removes a key, or a table with all its keys. */
  remove(path: Path): string {
    // Pairs of inline tables go one by one, as the comma between two of them belongs to either.
    const inline = this.pairs.findLast((one) => begins(one.path, path) && !this.isInside(one, path) && isInline(one));
    if (inline) return reread(this.replaced(this.cutOf(inline), "")).remove(path);
    const cuts = [
      ...this.headers.filter((one) => begins(one.resolvedKey, path)).map((one) => this.linesOf(one.range)),
      ...this.pairs.filter((one) => begins(one.path, path) && !this.isInside(one, path)).map((one) => this.cutOf(one)),
    ].sort((a, b) => b[0] - a[0]);
    return cuts.reduce((text, [from, to]) => text.slice(0, from) + text.slice(to), this.text);
  }

  /** Renames the last key of a path wherever the text has it, in headers and in dotted keys. */
  rename(path: Path, name: string): string {
    const at = path.length - 1;
    const keys = [
      ...this.headers.filter((one) => begins(one.resolvedKey, path)).map((one) => keyOf(one, [], at)),
      ...this.pairs.filter((one) => begins(one.path, path)).map((one) => keyOf(one.node, this.above(one), at)),
    ].flatMap((one) => (one ? [one.range] : []));
    const unique = [...new Map(keys.map((range) => [range[0], range])).values()].sort((a, b) => b[0] - a[0]);
    return unique.reduce((text, [from, to]) => text.slice(0, from) + name + text.slice(to), this.text);
  }

  /** Adds a key that the text does not have, in the form of the nearest table around it. */
  add(path: Path, toml: string): string {
    for (let depth = path.length - 1; depth > 0; depth--) {
      const table = path.slice(0, depth);
      const line = `${path.slice(depth).join(".")} = ${toml}`;
      const owner = this.pairs.find((one) => same(one.path, table));
      if (owner) return this.addInline(owner.node.value, line);
      const header = this.headers.find((one) => same(one.resolvedKey, table));
      if (header) return this.insertedAfter(this.endOf(header), line);
      const sibling = this.pairs.findLast((one) => begins(one.path, table) && !isInline(one));
      const above = sibling && this.above(sibling);
      if (above && table.length > above.length)
        return this.insertedAfter(sibling.node.range[1], `${table.slice(above.length).join(".")}.${line}`);
      if (this.headers.some((one) => begins(one.resolvedKey, table))) break;
    }
    return path.length > 1 ? this.addSection(path, toml) : this.addTop(String(path[0]), toml);
  }

  /** Adds an element to an array of tables. */
  addElement(path: Path, body: string): string {
    return `${this.text.replace(/\n*$/, "\n")}\n[[${path.join(".")}]]\n${body}\n`;
  }

  /** Adds a key to an inline table, or turns another value, such as a variant's bare name, into one. */
  private addInline(value: AST.TOMLContentNode, line: string): string {
    const last = value.type === "TOMLInlineTable" ? value.body.at(-1) : undefined;
    return last ? this.replaced([last.range[1], last.range[1]], `, ${line}`) : this.replaced(value.range, `{ ${line} }`);
  }

  /** Adds a section with one key, above the users if it does not belong to them. */
  private addSection(path: Path, toml: string): string {
    const parent = path.slice(0, -1).filter((one) => typeof one === "string");
    const section = `[${parent.join(".")}]\n${path.at(-1)} = ${toml}\n`;
    const users = this.headers.find((one) => one.kind === "array");
    if (!users || begins(path, users.resolvedKey.slice(0, 1))) return `${this.text.replace(/\n*$/, "\n")}\n${section}`;
    const at = this.beginOf(users.range[0]);
    return this.replaced([at, at], `${section}\n`);
  }

  private addTop(key: string, toml: string): string {
    const last = this.top.body.findLast((one) => one.type === "TOMLKeyValue");
    if (last) return this.insertedAfter(last.range[1], `${key} = ${toml}`);
    const first = this.headers[0];
    const at = first ? this.beginOf(first.range[0]) : this.text.length;
    return this.replaced([at, at], `${key} = ${toml}\n\n`);
  }

  private endOf(header: AST.TOMLTable): number {
    return header.body.at(-1)?.range[1] ?? header.key.range[1];
  }

  /** Inserts a line below the line of a position. */
  private insertedAfter(offset: number, line: string): string {
    const end = this.text.indexOf("\n", offset);
    return end < 0 ? `${this.text}\n${line}\n` : this.replaced([end + 1, end + 1], `${line}\n`);
  }

  private replaced([from, to]: readonly [number, number], toml: string): string {
    return this.text.slice(0, from) + toml + this.text.slice(to);
  }

  /** Returns the path of the table that a pair's dotted key continues. */
  private above(pair: Pair): Path {
    return pair.path.slice(0, pair.path.length - pair.node.key.keys.length);
  }

  /** Returns true if a pair belongs to a larger part that `remove` cuts anyway. */
  private isInside(pair: Pair, path: Path): boolean {
    const table = pair.node.parent;
    if (table.type === "TOMLInlineTable") return begins(this.above(pair), path);
    return table.type === "TOMLTable" && begins(table.resolvedKey, path);
  }

  private cutOf(pair: Pair): [number, number] {
    const { parent, range } = pair.node;
    if (parent.type !== "TOMLInlineTable") return this.linesOf(range);
    const at = parent.body.indexOf(pair.node);
    const after = parent.body[at + 1];
    if (after) return [range[0], after.range[0]];
    return at ? [parent.body[at - 1]!.range[1], range[1]] : [range[0], range[1]];
  }

  /** Returns the range of the lines of a part; blank lines after a header's part are included. */
  private linesOf([from, to]: readonly [number, number]): [number, number] {
    const begin = this.beginOf(from);
    const end = this.text.indexOf("\n", to);
    const after = end < 0 ? this.text.length : end + 1;
    const isTable = this.text[from] === "[";
    const blank = isTable ? /^\n*/.exec(this.text.slice(after))![0].length : 0;
    return [begin, after + blank];
  }

  private beginOf(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }
}

/** Returns a value as TOML on one line. */
export function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return typeof value === "string" ? JSON.stringify(value) : String(value);
  return `{ ${Object.entries(value).map(([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlOf(one)}`).join(", ")} }`;
}

/** Returns the path of a dotted key, such as `users.0.start`. */
export function pathOf(key: string): Path {
  return key.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** Returns true if a text is one value in TOML. */
export function isToml(text: string): boolean {
  return !/[\n#]/.test(text) && Document.read(`value = ${text}`) instanceof Document;
}

/** Reads a text that a change made. */
export function reread(text: string): Document {
  const found = Document.read(text);
  if (found instanceof Document) return found;
  throw new Error(`line ${found.line}: ${found.message}`);
}

/** Returns a pair and those in its inline table, with their full paths. */
function pairsOf(node: AST.TOMLKeyValue, above: Path): Pair[] {
  const path = [...above, ...node.key.keys.map(nameOf)];
  return [{ path, node }, ...insideOf(node.value, path)];
}

function insideOf(value: AST.TOMLContentNode, path: Path): Pair[] {
  if (value.type === "TOMLInlineTable") return value.body.flatMap((one) => pairsOf(one, path));
  if (value.type === "TOMLArray") return value.elements.flatMap((one, at) => insideOf(one, [...path, at]));
  return [];
}

/** Returns the part of a key that stands for the element `at` of a path, if it is in this key. */
function keyOf(node: AST.TOMLTable | AST.TOMLKeyValue, above: Path, at: number): AST.TOMLBare | AST.TOMLQuoted | undefined {
  if (node.type === "TOMLKeyValue") return node.key.keys[at - above.length];
  const names = node.resolvedKey.flatMap((one, place) => (typeof one === "string" ? [place] : []));
  return node.key.keys[names.indexOf(at)];
}

function isInline({ node }: Pair): boolean {
  return node.parent.type === "TOMLInlineTable";
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function same(one: Path, other: Path): boolean {
  return one.length === other.length && begins(one, other);
}

/** Returns true if a path begins with another one, or equals it. */
function begins(path: Path, first: Path): boolean {
  return path.length >= first.length && first.every((key, at) => path[at] === key);
}
