// What is in view: which points have which colour, where they lie on the screen, one frame of it.

import { drawMarks } from "./marks.mjs";
import { payloads } from "./payloads.mjs";
import { Grid } from "./pointer.mjs";

const REACH = 9; // how near the pointer must be to a point, in pixels
const FEW = [[400, 7], [4000, 5], [20000, 3], [60000, 2]]; // points in view → size of a dot

export class MapView {
  // Called at every rerun that changed something, and when the theme changed.
  update(component) {
    this.send = component.setTriggerValue;
    const before = this.data;
    this.data = component.data;
    this.stage.style.height = `${this.data.height}px`;
    this.canvas.setAttribute("aria-label", this.data.label);
    this.readTheme();
    const moved = !before || before.points !== this.data.points;
    if (moved) {
      [this.points, this.grid, this.view] = [null, null, null];
      this.band = null;
    }
    if (!before || before.names !== this.data.names) [this.names, this.found] = [null, []];
    this.shades = null;
    this.arrived();
  }

  // Something was put into `payloads`.
  arrived() {
    if (!this.data) return;
    this.names ??= payloads.get(this.data.names) ?? null;
    this.points ??= payloads.get(this.data.points) ?? null;
    if (!this.names || !this.points) return;
    this.began ??= performance.now();
    const { low, high } = this.data.box;
    this.home = { x0: low[0], y0: low[1], x1: high[0], y1: high[1] };
    this.view ??= { ...this.home };
    if (!this.shades) {
      this.paint();
      this.drawLegend();
      this.seek();
    }
    this.redraw();
  }

  readTheme() {
    const style = getComputedStyle(this.stage);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    this.paper = read("--st-background-color", this.data.colours.paper);
    this.ink = read("--st-text-color", this.data.colours.ink);
    this.live = this.data.colours.live;
    this.font = `${read("--st-code-font", "monospace")}, monospace`;
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    probe.fillStyle = this.paper;
    probe.fillRect(0, 0, 1, 1);
    this.paperRgb = [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  // Which colour each point has; 255 is not drawn.
  paint() {
    const { names, points, data } = this;
    const by = this.colour.value;
    this.shades = new Uint8Array(points.rows);
    let drawn = 0;
    const ramp = Array.from({ length: 64 }, (_, at) => rampColour(at / 63, data.ramp));
    this.palette = by === "kind" ? data.kinds.map((kind) => rgbOf(kind.colour)) : ramp;
    const { norms, kinds } = names;
    const [least, most] = by === "norm" ? data.norms : [0, points.rows - 1];
    const scale = most > least ? 63 / (most - least) : 0;
    for (let row = 0; row < points.rows; row++) {
      const kind = kinds[row];
      if (Number.isNaN(points.x[row]) || this.hidden.has(kind) || !data.kinds[kind].drawn) {
        this.shades[row] = 255;
        continue;
      }
      drawn++;
      const value = by === "norm" ? norms[row] : row;
      this.shades[row] = by === "kind" ? kind : Math.max(0, Math.min(63, (value - least) * scale));
    }
    this.canvas.dataset.drawn = drawn;
  }

  toX(x) {
    return ((x - this.view.x0) / (this.view.x1 - this.view.x0)) * this.width;
  }

  toY(y) {
    return ((this.view.y1 - y) / (this.view.y1 - this.view.y0)) * this.height;
  }

  fromPixel(left, top) {
    const { view } = this;
    return [
      view.x0 + (left / this.width) * (view.x1 - view.x0),
      view.y1 - (top / this.height) * (view.y1 - view.y0),
    ];
  }

  redraw() {
    if (this.waiting || !this.points || !this.names) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      if (this.points && this.names && this.stage.clientWidth) this.frame();
    });
  }

  frame() {
    const begin = performance.now();
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = this.stage.clientWidth;
    this.height = this.stage.clientHeight;
    const [wide, high] = [Math.round(this.width * this.ratio), Math.round(this.height * this.ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      [this.canvas.width, this.canvas.height] = [wide, high];
    }
    this.splat.resize(wide, high);
    const inView = this.inside ?? this.points.rows;
    const dot = Math.round((FEW.find(([most]) => inView <= most)?.[1] ?? 1) * this.ratio);
    const { points, shades, palette, view, paperRgb } = this;
    this.inside = this.splat.draw(points, shades, palette, view, Math.max(1, dot), paperRgb);
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    this.pen.putImageData(this.splat.image, 0, 0);
    drawMarks(this, this.inside);
    const now = performance.now();
    const { dataset } = this.canvas;
    dataset.view = [view.x0, view.x1, view.y0, view.y1].join(",");
    dataset.points = this.data.points;
    dataset.frame = (now - begin).toFixed(2);
    dataset.first ??= (now - this.began).toFixed(1);
    const size = FEW.find(([most]) => this.inside <= most)?.[1] ?? 1;
    if (Math.round(size * this.ratio) !== dot && !this.settling) {
      this.settling = true; // the number in view decides the size of the dots: once more with it
      this.redraw();
    } else this.settling = false;
  }

  goHome() {
    this.view = { ...this.home };
    this.redraw();
  }

  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const { view, home } = this;
    const [x, y] = this.fromPixel(left, top);
    const wide = (view.x1 - view.x0) * factor;
    const whole = home.x1 - home.x0;
    if (wide > whole * 400 || wide < whole * 1e-5) return;
    view.x0 = x + (view.x0 - x) * factor;
    view.x1 = x + (view.x1 - x) * factor;
    view.y0 = y + (view.y0 - y) * factor;
    view.y1 = y + (view.y1 - y) * factor;
    this.redraw();
  }

  pan(across, down) {
    const { view } = this;
    const dx = (across / this.width) * (view.x1 - view.x0);
    const dy = (down / this.height) * (view.y1 - view.y0);
    view.x0 -= dx;
    view.x1 -= dx;
    view.y0 += dy;
    view.y1 += dy;
    this.redraw();
  }

  under(left, top) {
    this.grid ??= new Grid(this.points, this.home);
    const [x, y] = this.fromPixel(left, top);
    const reachX = (REACH / this.width) * (this.view.x1 - this.view.x0);
    const reachY = (REACH / this.height) * (this.view.y1 - this.view.y0);
    return this.grid.nearest(x, y, reachX, reachY, this.shades);
  }
}

export function rgbOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// The colour a part of the way, 0 to 1, along the stops.
export function rampColour(part, stops) {
  const at = part * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [from, to] = [rgbOf(stops[low]), rgbOf(stops[low + 1])];
  return from.map((value, each) => Math.round(value + (to[each] - value) * (at - low)));
}
