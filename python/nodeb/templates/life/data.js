// Decodes the data in the page into columns, as typed arrays.

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Returns a column. Its bytes are ordered by significance: the lowest byte of every number, then the next, and so on.
function column(flat, at, { type, rows }) {
  const width = Number(type[1]);
  if (type[0] === "f") {
    const bytes = new Uint8Array(8 * rows);
    for (let byte = 0; byte < 8; byte++) for (let i = 0, from = at + byte * rows, to = byte; i < rows; i++, to += 8) bytes[to] = flat[from + i];
    return new Float64Array(bytes.buffer);
  }
  if (width === 1) return flat.slice(at, at + rows);
  const values = new (width === 2 ? Uint16Array : width <= 4 ? Uint32Array : Float64Array)(rows);
  for (let byte = 0, scale = 1; byte < width; byte++, scale *= 256)
    for (let i = 0, from = at + byte * rows; i < rows; i++) values[i] += flat[from + i] * scale;
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
    at += Number(about.type[1]) * about.rows;
    const table = tables[about.table] ??= { rows: about.rows };
    table[about.name] = "first" in about ? summed(values, about.first) : values;
  }
  return tables;
}

// Adds absolute times to packets and hops. A packet has the hops from first[row] up to, but excluding, first[row + 1].
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

// Returns the rows of a table by user, in order of time; the key -1 has the rows of all users. For packets, `reach` has
// for each row the latest end of this and all earlier packets.
function byUser(table, users, ended) {
  const counts = new Uint32Array(users.reduce((most, { user }) => Math.max(most, user), 0) + 1), every = new Uint32Array(table.user.length);
  for (let row = 0; row < every.length; row++) { every[row] = row; counts[table.user[row]]++; }
  const found = new Map([[-1, reaching(every, ended)]]);
  if (users.length === 1) return found.set(users[0].user, found.get(-1));
  const lists = users.map(({ user }) => [user, new Uint32Array(counts[user])]), rows = [], at = new Uint32Array(counts.length);
  for (const [user, list] of lists) rows[user] = list;
  for (let row = 0; row < every.length; row++) { const user = table.user[row]; rows[user][at[user]++] = row; }
  for (const [user, list] of lists) found.set(user, reaching(list, ended));
  return found;
}

function reaching(rows, ended) {
  const reach = ended && new Float64Array(rows.length);
  if (ended) for (let i = 0, most = 0; i < rows.length; i++) reach[i] = most = Math.max(most, ended[rows[i]]);
  return { rows, reach };
}

// Returns the first index of a sorted list whose value is not below a limit.
function lowest(count, valueAt, limit) {
  let low = 0, high = count;
  while (low < high) { const middle = (low + high) >> 1; if (valueAt(middle) < limit) low = middle + 1; else high = middle; }
  return low;
}
