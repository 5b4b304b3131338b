// The map in front of a person: pointer, keys, search, legend, and what goes back to the server.

import { findRows, maps, nameOf } from "./payloads.mjs";
import { Fingers } from "./pointer.mjs";
import { Splat } from "./splat.mjs";
import { MapView } from "./view.mjs";

class TokenMap extends MapView {
  constructor(root) {
    super();
    this.root = root;
    const part = (name) => root.querySelector(`[data-part="${name}"]`);
    for (const name of ["stage", "tip", "status", "search", "match", "colour", "results", "legend"]) {
      this[name] = part(name);
    }
    this.canvas = root.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.splat = new Splat();
    this.fingers = new Fingers();
    this.found = [];
    this.hidden = new Set();
    this.listen(part);
    this.watcher = new ResizeObserver(() => this.redraw());
    this.watcher.observe(this.stage);
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
    canvas.onpointercancel = (event) => {
      this.fingers.up(event);
      this.drag = null;
    };
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
    this.fingers.down(event);
    if (this.fingers.several) { // a pinch begins; nothing is dragged or picked by it
      this.drag = this.band = null;
      this.redraw();
      return;
    }
    this.drag = { left, top, fromLeft: left, fromTop: top, region: event.shiftKey || this.regionMode };
    this.tip.hidden = true;
  }

  move(event) {
    if (!this.points || !this.names) return;
    const pinch = this.fingers.moved(event);
    if (pinch) {
      this.zoom(pinch.factor, pinch.left, pinch.top);
      this.pan(pinch.across, pinch.down);
      return;
    }
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
    this.fingers.up(event);
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

const mounted = new WeakMap(); // shadow root → its map

export default function show(component) {
  const { parentElement } = component;
  let map = mounted.get(parentElement);
  if (!map) {
    map = new TokenMap(parentElement);
    mounted.set(parentElement, map);
  }
  maps.add(map);
  map.update(component);
  return () => map.destroy();
}
