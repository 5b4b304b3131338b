// What lies over the points: axes, found tokens, the chosen one with its neighbours, the path of h.
// All text is drawn with fillText: a token is never read as markup.

import { nameOf } from "./payloads.mjs";

const MOST_RINGS = 4000;

export function drawMarks(map, inside) {
  const { pen, width, height } = map;
  pen.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  pen.font = `12px ${map.font}`;
  pen.textBaseline = "middle";
  const taken = [];
  drawAxes(map);
  for (const cross of map.data.crosses ?? []) drawCross(map, cross);
  drawNeighbours(map, taken);
  drawFound(map);
  drawPath(map, taken);
  if (inside > 0 && inside <= 140) nameVisible(map, taken);
  if (map.band) {
    const { x0, y0, x1, y1 } = map.band;
    const [left, top] = [map.toX(Math.min(x0, x1)), map.toY(Math.max(y0, y1))];
    pen.strokeStyle = map.live;
    pen.setLineDash([5, 3]);
    pen.lineWidth = 1.5;
    pen.strokeRect(left, top, map.toX(Math.max(x0, x1)) - left, map.toY(Math.min(y0, y1)) - top);
    pen.setLineDash([]);
  }
  if (map.byKeyboard) {
    pen.strokeStyle = map.ink;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(width / 2 - 9, height / 2);
    pen.lineTo(width / 2 + 9, height / 2);
    pen.moveTo(width / 2, height / 2 - 9);
    pen.lineTo(width / 2, height / 2 + 9);
    pen.stroke();
  }
}

// Round numbers from low to high, about as many as wanted, and the digits to print them with.
export function steps(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function drawAxes(map) {
  const { pen, view, width, height } = map;
  pen.fillStyle = map.ink;
  pen.globalAlpha = 0.65;
  pen.font = `11px ${map.font}`;
  const columns = steps(view.x0, view.x1, width / 130);
  for (const x of columns.found) {
    const at = map.toX(x);
    if (at < 60 || at > width - 24) continue;
    pen.fillRect(at, height - 4, 1, 4);
    pen.textAlign = "center";
    pen.fillText(x.toFixed(columns.digits), at, height - 12);
  }
  const lines = steps(view.y0, view.y1, height / 90);
  pen.textAlign = "left";
  for (const y of lines.found) {
    const at = map.toY(y);
    if (at < 34 || at > height - 34) continue;
    pen.fillRect(0, at, 4, 1);
    pen.fillText(y.toFixed(lines.digits), 7, at);
  }
  pen.globalAlpha = 0.9;
  pen.fillText(`↑ ${map.data.axes[1]}`, 8, 14);
  pen.textAlign = "right";
  pen.fillText(`${map.data.axes[0]} →`, width - 8, height - 30);
  pen.globalAlpha = 1;
  pen.font = `12px ${map.font}`;
}

function drawCross(map, { x, y, label }) {
  const { pen } = map;
  const [at, level] = [map.toX(x), map.toY(y)];
  pen.strokeStyle = pen.fillStyle = map.ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(at - 6, level);
  pen.lineTo(at + 6, level);
  pen.moveTo(at, level - 6);
  pen.lineTo(at, level + 6);
  pen.stroke();
  pen.textAlign = "left";
  pen.fillText(label, at + 9, level);
}

function ring(map, row, radius, line) {
  const { pen, points } = map;
  pen.lineWidth = line;
  pen.beginPath();
  pen.arc(map.toX(points.x[row]), map.toY(points.y[row]), radius, 0, 2 * Math.PI);
  pen.stroke();
}

// A word beside a place, on a strip of paper, unless it would cover another one.
function word(map, text, x, y, colour, taken, always) {
  const { pen } = map;
  const wide = pen.measureText(text).width;
  const left = x + 9 + wide > map.width ? x - 9 - wide : x + 9;
  const box = [left - 2, y - 8, left + wide + 2, y + 8];
  const hit = taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]);
  if (hit && !always) return;
  taken.push(box);
  pen.globalAlpha = 0.85;
  pen.fillStyle = map.paper;
  pen.fillRect(box[0], box[1], box[2] - box[0], 16);
  pen.globalAlpha = 1;
  pen.fillStyle = colour;
  pen.textAlign = "left";
  pen.fillText(text, left, y);
}

function drawNeighbours(map, taken) {
  const { pen, points, data } = map;
  const placed = (row) => row >= 0 && row < points.rows && !Number.isNaN(points.x[row]);
  const near = (data.neighbours ?? []).filter(placed);
  const chosen = data.chosen ?? -1;
  pen.strokeStyle = map.ink;
  if (placed(chosen)) {
    pen.globalAlpha = 0.5;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const row of near) {
      pen.moveTo(map.toX(points.x[chosen]), map.toY(points.y[chosen]));
      pen.lineTo(map.toX(points.x[row]), map.toY(points.y[row]));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }
  for (const row of near) ring(map, row, 4, 1.5);
  const named = (row) => word(
    map, nameOf(map.names, row), map.toX(points.x[row]), map.toY(points.y[row]),
    row === chosen ? map.live : map.ink, taken, row === chosen,
  );
  if (placed(chosen)) {
    pen.strokeStyle = map.live;
    ring(map, chosen, 7, 3);
    named(chosen);
  }
  near.forEach(named);
}

function drawFound(map) {
  const { pen, points } = map;
  pen.strokeStyle = map.live;
  const many = map.found.length > 200;
  for (const row of map.found.slice(0, MOST_RINGS)) {
    if (!Number.isNaN(points.x[row])) ring(map, row, many ? 2.5 : 5, many ? 1 : 2);
  }
}

function drawPath(map, taken) {
  const { pen, data } = map;
  const path = data.path ?? [];
  if (!path.length) return;
  pen.strokeStyle = map.live;
  pen.lineWidth = 2;
  pen.beginPath();
  path.forEach(({ x, y }, at) => {
    if (at) pen.lineTo(map.toX(x), map.toY(y));
    else pen.moveTo(map.toX(x), map.toY(y));
  });
  pen.stroke();
  const end = path.length - 1;
  const worded = [end, 0, ...[0.25, 0.5, 0.75].map((part) => Math.round(part * end))];
  const outside = ({ x, y }) =>
    x < map.view.x0 || x > map.view.x1 || y < map.view.y0 || y > map.view.y1;
  pen.fillStyle = map.live;
  path.forEach((step, at) => {
    if (outside(step) && at !== end) return;
    pen.beginPath();
    pen.arc(...edge(map, step), at === end ? 6 : 3.5, 0, 2 * Math.PI);
    pen.fill();
  });
  for (const at of new Set(worded)) { // over all dots
    const step = path[at];
    if (outside(step) && at !== end) continue;
    const text = outside(step) ? `${step.label}: outside this view` : step.label;
    word(map, text, ...edge(map, step), map.live, taken, at === end);
  }
}

// The place of a step; the edge of the map where it lies beyond.
function edge(map, { x, y }) {
  return [
    Math.min(map.width - 12, Math.max(12, map.toX(x))),
    Math.min(map.height - 44, Math.max(30, map.toY(y))),
  ];
}

// Few enough points: every one is named.
function nameVisible(map, taken) {
  const { points, view } = map;
  for (let row = 0; row < points.rows; row++) {
    const [x, y] = [points.x[row], points.y[row]];
    if (map.shades[row] === 255 || x < view.x0 || x > view.x1 || y < view.y0 || y > view.y1) continue;
    word(map, nameOf(map.names, row), map.toX(x), map.toY(y), map.ink, taken, false);
  }
}
