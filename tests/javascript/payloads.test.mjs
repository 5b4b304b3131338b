import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import hold, {
  findRows, holdPayload, maps, nameOf, payloads,
} from "../../tiedviz/ui/token_map/canvas/payloads.mjs";

// As `payload.py` lays them out; `test_javascript.py` sends what Python really packs.
function packed(header, ...arrays) {
  let text = JSON.stringify(header);
  text += " ".repeat((4 - (text.length % 4)) % 4);
  const before = [new Uint32Array([text.length]), Buffer.from(text)];
  const parts = [...before, ...arrays].map((each) =>
    Buffer.from(each.buffer, each.byteOffset, each.byteLength));
  return new Uint8Array(Buffer.concat(parts));
}

function names(...tokens) {
  const text = Buffer.from(tokens.join(""));
  return packed(
    { role: "names", key: "n", rows: tokens.length, textBytes: text.length },
    Float32Array.from(tokens, (_, row) => row / 2),
    Uint16Array.from(tokens, (token) => token.length),
    Uint8Array.from(tokens, (_, row) => row % 3),
    text,
  );
}

function points(key) {
  return packed({ role: "points", key, rows: 2 }, new Float32Array([1, NaN]), new Float32Array([3, 4]));
}

beforeEach(() => {
  payloads.clear();
  maps.clear();
});

test("names come out as they went in, whatever their alphabet", () => {
  const tokens = ["␣king", "你好", "😀", "", "##ing"];
  holdPayload(names(...tokens));
  const held = payloads.get("n");
  assert.equal(held.rows, 5);
  assert.deepEqual(tokens.map((_, row) => nameOf(held, row)), tokens);
  assert.deepEqual([...held.norms], [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual([...held.kinds], [0, 1, 2, 0, 1]);
});

test("points are two arrays, and a row without a place is not a number", () => {
  holdPayload(points("p"));
  const held = payloads.get("p");
  assert.deepEqual([...held.x], [1, NaN]);
  assert.deepEqual([...held.y], [3, 4]);
});

test("bytes that begin anywhere in their buffer are read all the same", () => {
  const bytes = points("p");
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);
  holdPayload(shifted.subarray(1));
  assert.deepEqual([...payloads.get("p").y], [3, 4]);
});

test("the latest six are kept and every map is told", () => {
  let told = 0;
  maps.add({ arrived: () => told++ });
  for (let each = 0; each < 8; each++) holdPayload(points(`p${each}`));
  assert.deepEqual([...payloads.keys()], ["p2", "p3", "p4", "p5", "p6", "p7"]);
  assert.equal(told, 8);
});

test("the component takes bytes and nothing else", () => {
  hold({ data: points("p") });
  hold({ data: null });
  hold({ data: "p" });
  assert.deepEqual([...payloads.keys()], ["p"]);
});

test("a search finds beginnings, whole tokens and rows by number", () => {
  holdPayload(names("␣king", "king", "␣kings", "queen", "\u2066␣king\u2069"));
  const held = payloads.get("n");
  assert.deepEqual(findRows(held, "king", false), [0, 1, 2, 4]);
  assert.deepEqual(findRows(held, "king", true), [0, 1, 4]);
  assert.deepEqual(findRows(held, " king", true), [0, 4]);
  assert.deepEqual(findRows(held, "id:3", false), [3]);
  assert.deepEqual(findRows(held, "#4", true), [4]);
  assert.deepEqual(findRows(held, "id:5", false), []);
  assert.deepEqual(findRows(held, "King", false), []);
});
