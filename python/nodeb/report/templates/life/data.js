// Columns of the page as typed arrays.

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Bytes of a column stand in order of their significance: all the first ones, all the second ones.
function column(flat, at, { type, rows }) {
  const values = new ARRAYS[type](rows), width = values.BYTES_PER_ELEMENT;
  if (width === 1) { values.set(flat.subarray(at, at + rows)); return values; }
  const bytes = new Uint8Array(values.buffer);
  for (let byte = 0; byte < width; byte++)
    for (let i = 0, from = at + byte * rows, to = byte; i < rows; i++, from++, to += width) bytes[to] = flat[from];
  return values;
}

function summed(steps, first) {
  const times = new Float64Array(steps.length);
  for (let i = 0, at = first; i < steps.length; i++) times[i] = at += steps[i];
  return times;
}

async function decoded(base64, layout) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const flat = new Uint8Array(await new Response(stream).arrayBuffer());
  const tables = {};
  let at = 0;
  for (const about of layout) {
    const values = column(flat, at, about);
    at += values.byteLength;
    const table = tables[about.table] ??= { rows: about.rows };
    table[about.name] = "first" in about ? summed(values, about.first) : values;
  }
  return tables;
}

// Times of stays, and which stays are a packet's: those from first[row] to first[row + 1].
function placed({ packets, hops }) {
  const first = new Uint32Array(packets.rows + 1);
  const entered = new Float64Array(hops.place.length), begun = new Float64Array(entered.length);
  const left = new Float64Array(entered.length), ended = new Float64Array(packets.rows);
  for (let row = 0; row < packets.rows; row++) {
    let hop = first[row];
    const end = first[row + 1] = hop + hops.count[row], sent = packets.sent[row];
    for (; hop < end; hop++) {
      entered[hop] = sent + hops.entered[hop];
      begun[hop] = entered[hop] + hops.begun[hop];
      left[hop] = begun[hop] + hops.left[hop];
    }
    ended[row] = sent + Math.max(packets.took[row], packets.handed[row]);
  }
  Object.assign(hops, { first, entered, begun, left });
  packets.ended = ended;
}

// Rows of a table by user, in order of time, and for packets until when those so far have lived.
function byUser(table, users, ended) {
  const counts = new Map(users.map(({ user }) => [user, 0]));
  for (let row = 0; row < table.user.length; row++) counts.set(table.user[row], (counts.get(table.user[row]) || 0) + 1);
  const lists = new Map([...counts].map(([user, count]) => [user, { rows: new Uint32Array(count), at: 0 }]));
  for (let row = 0; row < table.user.length; row++) { const list = lists.get(table.user[row]); list.rows[list.at++] = row; }
  const found = new Map([...lists].map(([user, list]) => [user, reaching(list.rows, ended)]));
  found.set(-1, found.size === 1 ? [...found.values()][0] : reaching(Uint32Array.from(table.user, (_, row) => row), ended));
  return found;
}

function reaching(rows, ended) {
  const reach = ended && new Float64Array(rows.length);
  if (ended) for (let i = 0, most = 0; i < rows.length; i++) reach[i] = most = Math.max(most, ended[rows[i]]);
  return { rows, reach };
}

// The first place in a list whose value is not below a limit.
function lowest(count, valueAt, limit) {
  let low = 0, high = count;
  while (low < high) { const middle = (low + high) >> 1; if (valueAt(middle) < limit) low = middle + 1; else high = middle; }
  return low;
}
