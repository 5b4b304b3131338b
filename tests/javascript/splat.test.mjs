import assert from "node:assert/strict";
import { test } from "node:test";

import { Splat } from "../../tiedviz/ui/token_map/canvas/splat.mjs";

globalThis.ImageData ??= class {
  constructor(width, height) {
    this.data = new Uint8ClampedArray(4 * width * height);
  }
};

const VIEW = { x0: 0, y0: 0, x1: 4, y1: 3 };
const PALETTE = [[255, 0, 0], [0, 0, 255]];
const WHITE = [255, 255, 255];
const DOZENS = Array.from({ length: 24 }, () => [1.5, 1.5]); // as many as cover a pixel wholly

function drawn(places, shades, dot = 1, paper = WHITE) {
  const splat = new Splat();
  splat.resize(4, 3);
  const points = {
    rows: places.length,
    x: Float32Array.from(places, ([x]) => x),
    y: Float32Array.from(places, ([, y]) => y),
  };
  const inside = splat.draw(points, Uint8Array.from(shades), PALETTE, VIEW, dot, paper);
  const { data } = splat.image;
  const pixel = (left, top) => [0, 1, 2, 3].map((part) => data[4 * (4 * top + left) + part]);
  return { inside, pixel };
}

test("a point colours the pixel it lies on and no other; up is up", () => {
  const { inside, pixel } = drawn([[1.5, 2.5]], [0]);
  assert.equal(inside, 1);
  const [red, green, blue, opacity] = pixel(1, 0);
  assert.ok(red === 255 && green < 255 && green === blue && opacity === 255);
  assert.deepEqual(pixel(1, 1), [255, 255, 255, 255]);
});

test("what is hidden, outside or without a place is not drawn", () => {
  const { inside, pixel } = drawn([[1.5, 1.5], [4, 1], [-0.1, 1], [NaN, NaN]], [255, 0, 0, 0]);
  assert.equal(inside, 0);
  assert.deepEqual(pixel(1, 1), [255, 255, 255, 255]);
});

test("two colours on one pixel mix, and more points cover more", () => {
  const one = drawn([[1.5, 1.5]], [0]).pixel(1, 1);
  const many = drawn(DOZENS, DOZENS.map(() => 0)).pixel(1, 1);
  assert.ok(many[1] < one[1]);
  assert.deepEqual(many, [255, 0, 0, 255]);
  const both = drawn(DOZENS, DOZENS.map((_, at) => at % 2)).pixel(1, 1);
  assert.deepEqual(both, [127, 0, 127, 255]);
});

test("a larger dot covers its square and is cut at the edge", () => {
  const { pixel } = drawn([[0.5, 2.5]], [1], 3);
  for (const [left, top] of [[0, 0], [1, 0], [0, 1], [1, 1]]) assert.ok(pixel(left, top)[0] < 128);
  assert.deepEqual(pixel(2, 0), [255, 255, 255, 255]);
});

test("a lone point is fainter on white than on dark", () => {
  const far = (pixel, paper) => Math.abs(pixel[1] - paper[1]) / Math.abs(0 - paper[1] || 1);
  const light = drawn([[1.5, 1.5]], [0]).pixel(1, 1);
  const dark = drawn([[1.5, 1.5]], [0], 1, [10, 10, 10]).pixel(1, 1);
  assert.ok(far(dark, [10, 10, 10]) > far(light, WHITE));
});
