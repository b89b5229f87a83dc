/** The JSON Schema of scenarios, read as shapes of values: each shape has one kind of control. */

/** The part of JSON Schema that scenarios use. */
export interface Node {
  readonly $ref?: string;
  readonly $defs?: Record<string, Node>;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Record<string, Node>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Node;
}

export interface Option {
  readonly name: string;
  readonly description: string;
}

export interface Variant extends Option {
  readonly node: Node;
}

/** The kinds of values that a key can have. */
export type Shape =
  | { readonly kind: "quantity"; readonly units: readonly string[]; readonly example: string }
  | { readonly kind: "number"; readonly isWhole: boolean; readonly least?: number; readonly most?: number }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly options: readonly Option[] }
  | { readonly kind: "variant"; readonly options: readonly Variant[]; readonly bare?: Node }
  | { readonly kind: "table"; readonly keys: ReadonlyMap<string, Node>; readonly required: readonly string[] }
  | { readonly kind: "tables"; readonly item: Node }
  | { readonly kind: "text" }
  | { readonly kind: "other" };

export type Path = readonly (string | number)[];

/** A schema with the definitions that its references name. */
export class Schema {
  constructor(readonly root: Node) {}

  /** Returns a node's shape. */
  shape(node: Node): Shape {
    const found = this.resolved(node);
    const types = ([] as readonly string[]).concat(found.type ?? []);
    const units = /\?\(([^()]+)\)\$$/.exec(found.pattern ?? "")?.[1];
    if (units) return { kind: "quantity", units: units.split("|"), example: found.examples?.[0] ?? "" };
    if (found.enum) return { kind: "choice", options: found.enum.map((name) => ({ name, description: "" })) };
    if (found.oneOf) return { kind: "choice", options: found.oneOf.map(optionOf) };
    if (found.anyOf) return this.variant(found.anyOf);
    if (types.includes("boolean")) return { kind: "switch" };
    if (types.includes("integer") || types.includes("number"))
      return { kind: "number", isWhole: types.includes("integer"), least: found.minimum, most: found.maximum };
    if (types.includes("array")) {
      const item = found.items && this.resolved(found.items);
      return item?.properties ? { kind: "tables", item } : { kind: "other" };
    }
    if (types.includes("object"))
      return found.properties && !isNode(found.additionalProperties)
        ? { kind: "table", keys: new Map(Object.entries(found.properties)), required: found.required ?? [] }
        : { kind: "other" };
    return types.includes("string") ? { kind: "text" } : { kind: "other" };
  }

  /** Returns the node at a path, or nothing if the schema has no such key. */
  at(path: Path, from: Node = this.root): Node | undefined {
    const [key, ...rest] = path;
    if (key === undefined) return from;
    const shape = this.shape(from);
    const next =
      shape.kind === "table" ? shape.keys.get(String(key))
      : shape.kind === "tables" ? shape.item
      : shape.kind === "variant" ? shape.options.find((one) => one.name === key)?.node
      : undefined;
    return next && this.at(rest, next);
  }

  /** Returns what a key means, from itself or from its type. */
  about(node: Node): string {
    return (node.description ?? this.resolved(node).description ?? "").replaceAll("\n", " ");
  }

  /** Returns TOML for a new key: its default, or an example of its type with all required keys. */
  sample(node: Node): string {
    const shape = this.shape(node);
    const usual = node.default;
    if (typeof usual === "string" || typeof usual === "number" || typeof usual === "boolean")
      return JSON.stringify(usual);
    switch (shape.kind) {
      case "quantity":
        return JSON.stringify(shape.example);
      case "number":
        return String(shape.most === 1 ? 0.01 : Math.max(shape.least ?? 1, 1));
      case "switch":
        return "true";
      case "choice":
        return JSON.stringify(shape.options[0]!.name);
      case "variant":
        return shape.bare ? this.sample(shape.bare) : this.sampleVariant(named(usual, shape.options));
      case "table":
        return this.sampleTable(node);
      case "text":
        return '""';
      default:
        return "[]";
    }
  }

  /** Returns TOML that selects a variant: its name, or a table with its required keys. */
  sampleVariant(option: Variant): string {
    const shape = this.shape(option.node);
    if (shape.kind !== "table" || !shape.required.length) return JSON.stringify(option.name);
    return `{ ${option.name} = ${this.sampleTable(option.node)} }`;
  }

  private sampleTable(node: Node): string {
    const shape = this.shape(node);
    if (shape.kind !== "table" || !shape.required.length) return "{}";
    return `{ ${shape.required.map((key) => `${key} = ${this.sample(shape.keys.get(key)!)}`).join(", ")} }`;
  }

  private variant(options: readonly Node[]): Shape {
    const known = options.filter((one) => one.type !== "null");
    if (known.length === 1) return this.shape(known[0]!);
    const tables = known.filter((one) => one.title && one.properties?.[one.title]);
    if (tables.length) {
      return {
        kind: "variant",
        options: tables.map((one) => ({
          name: one.title!,
          description: one.description ?? "",
          node: one.properties![one.title!]!,
        })),
      };
    }
    const shapes = known.map((one) => [one, this.shape(one)] as const);
    const variant = shapes.find(([, shape]) => shape.kind === "variant")?.[1];
    const bare = shapes.find(([, shape]) => shape.kind === "number" || shape.kind === "quantity")?.[0];
    if (variant?.kind === "variant" && bare) return { ...variant, bare };
    return shapes.find(([, shape]) => shape.kind === "table")?.[1] ?? { kind: "other" };
  }

  private resolved(node: Node): Node {
    if (node.$ref) return this.resolved(this.root.$defs![node.$ref.replace("#/$defs/", "")]!);
    const known = node.anyOf?.filter((one) => one.type !== "null");
    return known?.length === 1 ? this.resolved(known[0]!) : node;
  }
}

function optionOf(node: Node): Option {
  return { name: node.const ?? "", description: node.description ?? "" };
}

function named(value: unknown, options: readonly Variant[]): Variant {
  const name = value && typeof value === "object" ? Object.keys(value)[0] : value;
  return options.find((one) => one.name === name) ?? options[0]!;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
