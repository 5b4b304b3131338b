// The map itself: what is in view, what the pointer and the keys do, what goes back to the server.

const REACH = 9; // how near the pointer must be to a point, in pixels
const FEW = [[400, 7], [4000, 5], [20000, 3], [60000, 2]]; // points in view → size of a dot

class TokenMap {
  constructor(root) {
    this.root = root;
    const part = (name) => root.querySelector(`[data-part="${name}"]`);
    for (const name of ["stage", "tip", "status", "search", "match", "colour", "results", "legend"]) {
      this[name] = part(name);
    }
    this.canvas = root.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.splat = new Splat();
    this.found = [];
    this.hidden = new Set();
    this.listen(part);
    this.watcher = new ResizeObserver(() => this.redraw());
    this.watcher.observe(this.stage);
  }

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
      [this.band, this.asked] = [null, performance.now()];
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
    this.paper = read("--st-background-color", "#ffffff");
    this.ink = read("--st-text-color", "#31333f");
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

  drawLegend() {
    this.legend.replaceChildren();
    const { data } = this;
    if (this.colour.value !== "kind") {
      const [low, high] = this.colour.value === "norm" ? data.norms : [0, this.points.rows - 1];
      const bar = document.createElement("span");
      bar.className = "ramp";
      bar.style.background = `linear-gradient(to right, ${data.ramp.join(", ")})`;
      const digits = this.colour.value === "norm" ? 3 : 0;
      this.legend.append(low.toFixed(digits), bar, high.toFixed(digits));
      return;
    }
    data.kinds.forEach((kind, at) => {
      if (!kind.count || !kind.drawn) return;
      const button = document.createElement("button");
      button.type = "button";
      button.title = kind.help;
      button.setAttribute("aria-pressed", String(!this.hidden.has(at)));
      const dot = document.createElement("i");
      dot.style.background = kind.colour;
      button.append(dot, `${kind.name} ${kind.count.toLocaleString("en")}`);
      button.onclick = () => {
        if (!this.hidden.delete(at)) this.hidden.add(at);
        this.paint();
        this.drawLegend();
        this.redraw();
      };
      this.legend.append(button);
    });
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

  tell(row, left, top) {
    this.tip.hidden = row < 0;
    if (row < 0) return;
    const { names, points, data } = this;
    const others = this.grid.stacked(row, this.shades);
    const lines = [
      `#${row} · ${data.kinds[names.kinds[row]].name} · ‖e‖ ${names.norms[row].toFixed(4)}`,
      `${data.short[0]} ${points.x[row].toPrecision(4)} · ${data.short[1]} ${points.y[row].toPrecision(4)}`,
      ...(others ? [`and ${others.toLocaleString("en")} more at this very place`] : []),
    ];
    const title = document.createElement("b");
    title.textContent = nameOf(names, row);
    this.tip.replaceChildren(title, ...lines.map((line) => {
      const each = document.createElement("div");
      each.textContent = line;
      return each;
    }));
    const beyond = left + 16 + this.tip.offsetWidth > this.width;
    this.tip.style.left = `${Math.max(0, beyond ? left - 12 - this.tip.offsetWidth : left + 14)}px`;
    this.tip.style.top = `${Math.min(top + 14, this.height - this.tip.offsetHeight - 2)}px`;
  }

  pick(row) {
    if (row < 0) return;
    this.data = { ...this.data, chosen: row, neighbours: [] };
    this.status.textContent = `Chosen: ${nameOf(this.names, row)}, row ${row}.`;
    this.redraw();
    this.send("pick", row);
  }

  // Marks what the search box asks for, drawn or not, and lists the first of them.
  seek() {
    const query = this.search.value;
    const { names, points } = this;
    this.results.replaceChildren();
    if (!query || !names || !points) {
      this.found = [];
      this.status.textContent = "";
      return this.redraw();
    }
    this.found = findRows(names, query, this.match.value === "exact");
    const placed = this.found.filter((row) => !Number.isNaN(points.x[row]));
    const absent = this.found.length - placed.length;
    const count = this.found.length.toLocaleString("en");
    const rest = absent ? `, ${absent.toLocaleString("en")} of them not on the map` : "";
    this.status.textContent = `${count} ${this.found.length === 1 ? "token" : "tokens"} found${rest}`;
    for (const row of this.found.slice(0, 8)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${nameOf(names, row)} #${row}`;
      button.onclick = () => this.pick(row);
      this.results.append(button);
    }
    this.redraw();
  }

  listen(part) {
    const { canvas } = this;
    part("in").onclick = () => this.zoom(0.6);
    part("out").onclick = () => this.zoom(1 / 0.6);
    part("home").onclick = () => this.goHome();
    part("png").onclick = () => this.savePicture();
    this.regionButton = part("region");
    this.regionButton.onclick = () => this.setRegionMode(!this.regionMode);
    this.search.oninput = () => this.seek();
    this.match.onchange = () => this.seek();
    this.search.onkeydown = (event) => {
      if (event.key === "Enter" && this.found.length) this.pick(this.found[0]);
    };
    this.colour.onchange = () => {
      this.paint();
      this.drawLegend();
      this.redraw();
    };
    canvas.onwheel = (event) => {
      if (!this.points) return;
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0016), event.offsetX, event.offsetY);
    };
    canvas.onpointerdown = (event) => this.press(event);
    canvas.onpointermove = (event) => this.move(event);
    canvas.onpointerup = (event) => this.release(event);
    canvas.onpointerleave = () => { this.tip.hidden = true; };
    canvas.onkeydown = (event) => this.key(event);
    canvas.onblur = () => {
      this.byKeyboard = false;
      this.tip.hidden = true;
      this.redraw();
    };
  }

  setRegionMode(on) {
    this.regionMode = on;
    this.regionButton.setAttribute("aria-pressed", String(on));
    this.canvas.style.cursor = on ? "crosshair" : "grab";
  }

  goHome() {
    this.view = { ...this.home };
    this.redraw();
  }

  savePicture() {
    this.canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "token-map.png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  press(event) {
    if (!this.points || event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.byKeyboard = false;
    const [left, top] = [event.offsetX, event.offsetY];
    this.drag = { left, top, fromLeft: left, fromTop: top, region: event.shiftKey || this.regionMode };
    this.tip.hidden = true;
  }

  move(event) {
    if (!this.points || !this.names) return;
    const [left, top] = [event.offsetX, event.offsetY];
    const { drag } = this;
    if (!drag) return this.tell(this.under(left, top), left, top);
    if (drag.region) {
      const [x0, y0] = this.fromPixel(drag.fromLeft, drag.fromTop);
      const [x1, y1] = this.fromPixel(left, top);
      this.band = { x0, y0, x1, y1 };
      this.redraw();
    } else this.pan(left - drag.left, top - drag.top);
    [drag.left, drag.top] = [left, top];
  }

  release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    const far = Math.hypot(event.offsetX - drag.fromLeft, event.offsetY - drag.fromTop);
    if (far < 4) {
      if (!drag.region) this.pick(this.under(event.offsetX, event.offsetY));
    } else if (drag.region) {
      this.sendRegion(this.band);
      this.setRegionMode(false);
    }
  }

  sendRegion({ x0, y0, x1, y1 }) {
    this.band = { x0, y0, x1, y1 };
    this.send("region", {
      x: [Math.min(x0, x1), Math.max(x0, x1)],
      y: [Math.min(y0, y1), Math.max(y0, y1)],
      points: this.data.points,
    });
    this.redraw();
  }

  key(event) {
    if (!this.points || !this.names) return;
    const step = 0.1 * this.width;
    const actions = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(0.7),
      "=": () => this.zoom(0.7),
      "-": () => this.zoom(1 / 0.7),
      0: () => this.goHome(),
      r: () => this.sendRegion(this.view),
      Enter: () => this.pick(this.under(this.width / 2, this.height / 2)),
      Escape: () => { this.band = null; this.redraw(); },
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.byKeyboard = true;
    action();
    const row = this.under(this.width / 2, this.height / 2);
    this.tell(row, this.width / 2, this.height / 2);
    if (row >= 0) this.status.textContent = `In the middle: ${nameOf(this.names, row)}, row ${row}.`;
  }

  destroy() {
    this.watcher.disconnect();
    cancelAnimationFrame(this.waiting);
    maps.delete(this);
  }
}

function rgbOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function rampColour(part, stops) {
  const at = part * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [from, to] = [rgbOf(stops[low]), rgbOf(stops[low + 1])];
  return from.map((value, each) => Math.round(value + (to[each] - value) * (at - low)));
}

const mounted = new WeakMap(); // shadow root → its map

export default function (component) {
  const { data, parentElement } = component;
  let map = mounted.get(parentElement);
  if (!map) {
    map = new TokenMap(parentElement);
    mounted.set(parentElement, map);
  }
  maps.add(map);
  map.update(component);
  return () => map.destroy();
}
