/** Access to the columns of tables. */

import type { Column, Table } from "./api";

/** Returns a table's column; an error if there is none of this name. */
export function column(table: Table, name: string): Column {
  const found = table.columns.get(name);
  if (!found) throw new Error(`the table ${table.name} has no column ${name}`);
  return found;
}

/** Returns the values of a column of numbers or truth values as doubles. Whole numbers above 2^53 are rounded. */
export function numbers(table: Table, name: string): Float64Array {
  const { values } = column(table, name);
  return values instanceof Float64Array ? values : Float64Array.from(values as ArrayLike<number | bigint>, Number);
}

/** Returns the values of a column of texts. */
export function texts(table: Table, name: string): string[] {
  const found = column(table, name);
  if (found.kind !== "text") throw new Error(`the column ${name} of the table ${table.name} has no texts`);
  return Array.from(found.values, (code) => found.names[code]!);
}
