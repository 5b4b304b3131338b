import assert from "node:assert/strict";
import { test } from "node:test";

import { Fingers, Grid } from "../../tiedviz/ui/token_map/canvas/pointer.mjs";

const BOX = { x0: 0, y0: 0, x1: 1, y1: 1 };

function grid(...places) {
  const points = {
    rows: places.length,
    x: Float32Array.from(places, ([x]) => x),
    y: Float32Array.from(places, ([, y]) => y),
  };
  return new Grid(points, BOX);
}

// Without cells: what the grid must agree with.
function plainly({ points }, x, y, reach, shades) {
  let [best, found] = [1, -1];
  for (let row = 0; row < points.rows; row++) {
    const away = ((points.x[row] - x) / reach) ** 2 + ((points.y[row] - y) / reach) ** 2;
    if (shades[row] !== 255 && away < best) [best, found] = [away, row];
  }
  return found;
}

test("the nearest point is that of a plain search, outside the box as well", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const places = Array.from({ length: 3000 }, () => [random() * 1.4 - 0.2, random() * 1.4 - 0.2]);
  const cells = grid(...places);
  const shades = new Uint8Array(3000);
  for (let row = 0; row < 3000; row += 7) shades[row] = 255;
  for (let each = 0; each < 500; each++) {
    const [x, y] = [random() * 1.4 - 0.2, random() * 1.4 - 0.2];
    assert.equal(cells.nearest(x, y, 0.03, 0.03, shades), plainly(cells, x, y, 0.03, shades));
  }
});

test("what is out of reach, hidden or without a place is not found", () => {
  const cells = grid([0.5, 0.5], [NaN, NaN], [0.9, 0.9]);
  assert.equal(cells.nearest(0.51, 0.5, 0.02, 0.02, [0, 0, 0]), 0);
  assert.equal(cells.nearest(0.55, 0.5, 0.02, 0.02, [0, 0, 0]), -1);
  assert.equal(cells.nearest(0.51, 0.5, 0.02, 0.02, [255, 0, 0]), -1);
});

test("points at the very same place are counted, hidden ones are not", () => {
  const cells = grid([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.500001]);
  assert.equal(cells.stacked(0, [0, 0, 0, 0]), 2);
  assert.equal(cells.stacked(0, [0, 255, 0, 0]), 1);
  assert.equal(cells.stacked(3, [0, 0, 0, 0]), 0);
});

function finger(pointerId, offsetX, offsetY, isPrimary = pointerId === 1) {
  return { pointerId, offsetX, offsetY, isPrimary };
}

test("two fingers apart zoom about the place between them and take it along", () => {
  const fingers = new Fingers();
  fingers.down(finger(1, 100, 50));
  assert.equal(fingers.several, false);
  assert.equal(fingers.moved(finger(1, 100, 50)), null);
  fingers.down(finger(2, 200, 50));
  assert.equal(fingers.several, true);
  const pinch = fingers.moved(finger(2, 300, 50));
  assert.deepEqual(pinch, { factor: 0.5, left: 150, top: 50, across: 50, down: 0 });
});

test("a third finger changes nothing, and one that was never lifted is forgotten", () => {
  const fingers = new Fingers();
  fingers.down(finger(1, 0, 0));
  fingers.down(finger(2, 10, 0));
  fingers.down(finger(3, 20, 0));
  assert.equal(fingers.moved(finger(3, 90, 0)), null);
  fingers.down(finger(1, 5, 5)); // a new primary one
  assert.equal(fingers.several, false);
  fingers.up(finger(1, 5, 5));
  assert.equal(fingers.at.size, 0);
});
