// What the server sent once and every map of this page shares: names of the rows, and points.
// They come as bytes, each through a component of its own that draws nothing, so that a click, which
// changes what is marked, sends none of them again.

const shared = (globalThis.tiedvizTokenMap ??= {
  payloads: new Map(), // key → parsed payload, the latest six
  maps: new Set(),
});
export const { payloads, maps } = shared;

export function holdPayload(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  if (!payloads.has(header.key)) {
    payloads.set(header.key, parsePayload(header, bytes, 4 + size));
    while (payloads.size > 6) payloads.delete(payloads.keys().next().value);
  }
  for (const map of maps) map.arrived();
}

function parsePayload(header, bytes, start) {
  let at = start;
  const take = (Kind, count) => {
    const length = count * Kind.BYTES_PER_ELEMENT;
    const part = bytes.slice(at, at + length); // a copy, so that it is aligned
    at += length;
    return new Kind(part.buffer);
  };
  const rows = header.rows;
  if (header.role === "points") {
    return { rows, x: take(Float32Array, rows), y: take(Float32Array, rows) };
  }
  const norms = take(Float32Array, rows);
  const lengths = take(Uint16Array, rows);
  const kinds = take(Uint8Array, rows);
  const text = new TextDecoder().decode(bytes.subarray(at, at + header.textBytes));
  const starts = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) starts[row + 1] = starts[row] + lengths[row];
  return { rows, norms, kinds, text, starts };
}

// The token of a row as it is printed.
export function nameOf(names, row) {
  return names.text.slice(names.starts[row], names.starts[row + 1]);
}

// Rows whose token is `query` or begins with it. A word may be typed without its leading space.
export function findRows(names, query, whole) {
  const asked = query.replaceAll(" ", "␣");
  const number = /^(?:id:|#)([0-9]{1,9})$/.exec(query.trim());
  if (number) return Number(number[1]) < names.rows ? [Number(number[1])] : [];
  const wanted = asked.startsWith("␣") ? [asked] : [asked, "␣" + asked];
  const found = [];
  for (let row = 0; row < names.rows; row++) {
    let from = names.starts[row];
    let to = names.starts[row + 1];
    if (names.text.charCodeAt(from) === 0x2066) [from, to] = [from + 1, to - 1]; // right to left
    for (const each of wanted) {
      if (whole && to - from !== each.length) continue;
      if (names.text.startsWith(each, from)) {
        found.push(row);
        break;
      }
    }
  }
  return found;
}

// The component that takes bytes in.
export default function hold({ data }) {
  if (ArrayBuffer.isView(data)) holdPayload(data);
}
