import assert from "node:assert/strict";
import { test } from "node:test";

import { steps } from "../../tiedviz/ui/token_map/canvas/marks.mjs";
import { MapView, rampColour, rgbOf } from "../../tiedviz/ui/token_map/canvas/view.mjs";

// A view of 200 by 100 pixels; nothing is drawn.
function view() {
  const map = new MapView();
  map.home = { x0: -1, y0: -1, x1: 3, y1: 1 };
  map.view = { ...map.home };
  [map.width, map.height] = [200, 100];
  map.redraw = () => {};
  return map;
}

test("a place goes onto the screen and back", () => {
  const map = view();
  assert.deepEqual([map.toX(-1), map.toX(3), map.toY(1), map.toY(-1)], [0, 200, 0, 100]);
  assert.deepEqual(map.fromPixel(map.toX(0.5), map.toY(0.25)), [0.5, 0.25]);
});

test("zooming keeps the place under the pointer where it is", () => {
  const map = view();
  const before = map.fromPixel(40, 30);
  map.zoom(0.5, 40, 30);
  assert.equal(map.view.x1 - map.view.x0, 2);
  const after = map.fromPixel(40, 30);
  before.forEach((value, axis) => assert.ok(Math.abs(value - after[axis]) < 1e-12));
});

test("there is an end to zooming, both ways", () => {
  const map = view();
  map.zoom(401);
  assert.deepEqual(map.view, map.home);
  map.zoom(1e-6);
  assert.deepEqual(map.view, map.home);
});

test("panning moves what is in view with the pointer, and home is home", () => {
  const map = view();
  const place = map.fromPixel(50, 50);
  map.pan(20, -10);
  assert.deepEqual(map.fromPixel(70, 40), place);
  map.goHome();
  assert.deepEqual(map.view, map.home);
});

test("the row under the pointer is found in any view", () => {
  const map = view();
  map.points = { rows: 2, x: new Float32Array([0, 2]), y: new Float32Array([0, 0.5]) };
  map.shades = new Uint8Array(2);
  assert.equal(map.under(map.toX(2) + 5, map.toY(0.5)), 1);
  assert.equal(map.under(map.toX(2) + 20, map.toY(0.5)), -1);
  map.zoom(0.1, map.toX(0), map.toY(0));
  assert.equal(map.under(map.toX(0) - 4, map.toY(0) + 4), 0);
});

test("a row has the colour of its kind, or of its place on the ramp, or none", () => {
  const map = view();
  map.names = { kinds: [0, 1, 1, 2], norms: [1, 2, 3, 4] };
  map.points = { rows: 4, x: [0, 0, NaN, 0], y: [0, 0, NaN, 0] };
  const drawn = { colour: "#102030", drawn: true };
  map.data = { kinds: [drawn, drawn, { ...drawn, drawn: false }], ramp: ["#000000", "#ffffff"], norms: [1, 2] };
  map.canvas = { dataset: {} };
  map.hidden = new Set();
  map.colour = { value: "kind" };
  map.paint();
  assert.deepEqual([...map.shades], [0, 1, 255, 255]);
  assert.deepEqual(map.palette[0], [16, 32, 48]);
  assert.equal(map.canvas.dataset.drawn, 2);
  map.colour.value = "norm";
  map.paint();
  assert.deepEqual([...map.shades], [0, 63, 255, 255]);
  map.hidden.add(0);
  map.paint();
  assert.equal(map.shades[0], 255);
});

test("colours between two stops", () => {
  assert.deepEqual(rgbOf("#c07a00"), [192, 122, 0]);
  const stops = ["#000000", "#0a0000", "#0aff00"];
  assert.deepEqual(rampColour(0, stops), [0, 0, 0]);
  assert.deepEqual(rampColour(0.25, stops), [5, 0, 0]);
  assert.deepEqual(rampColour(1, stops), [10, 255, 0]);
});

test("ticks stand at round numbers inside", () => {
  const { found, digits } = steps(-0.7, 0.7, 5);
  assert.equal(digits, 1);
  assert.deepEqual(found.map((each) => each.toFixed(digits)), ["-0.5", "0.0", "0.5"]);
  assert.equal(steps(0, 1000, 4).digits, 0);
});
