/** Answers of the module as values: JSON with the columns of tables in arrays (`crates/web/src/frame.rs`). */

import { type Column, EngineError, type ErrorKind, type Table } from "./api";
import { aligned } from "./module";

/** Description of a table in an answer. */
interface TableHead {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly ColumnHead[];
}

interface ColumnHead {
  readonly name: string;
  readonly kind: Column["kind"];
  /** Position of the array in bytes, after the JSON text. */
  readonly at: number;
  readonly length: number;
  readonly names: string[] | null;
}

/** Answer whose tables are still descriptions. */
export class Answer<T> {
  private constructor(
    readonly result: T,
    readonly bytes: ArrayBuffer,
    private readonly begin: number,
  ) {}

  /** Reads an answer; an error of the module is thrown. */
  static of<T>(bytes: ArrayBuffer): Answer<T> {
    const length = new DataView(bytes).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as { result: T } | { error: ErrorKind; message: string };
    if ("error" in head) throw new EngineError(head.error, head.message);
    return new Answer(head.result, bytes, 8 + aligned(length));
  }

  /** Returns a table of the answer. Its columns are views of the answer's bytes. */
  table({ name, rows, columns }: TableHead): Table {
    return { name, rows, columns: new Map(columns.map((one) => [one.name, this.column(one)])) };
  }

  /** Returns tables of the answer by name. */
  tables(heads: readonly TableHead[]): Map<string, Table> {
    return new Map(heads.map((one) => [one.name, this.table(one)]));
  }

  private column({ kind, at, length, names }: ColumnHead): Column {
    const { bytes, begin } = this;
    switch (kind) {
      case "u64":
        return { kind, values: new BigUint64Array(bytes, begin + at, length) };
      case "u32":
        return { kind, values: new Uint32Array(bytes, begin + at, length) };
      case "f64":
        return { kind, values: new Float64Array(bytes, begin + at, length) };
      case "f32":
        return { kind, values: new Float32Array(bytes, begin + at, length) };
      case "bool":
        return { kind, values: new Uint8Array(bytes, begin + at, length) };
      case "text":
        return { kind, values: new Uint32Array(bytes, begin + at, length), names: names! };
    }
  }
}

export type { TableHead };
