// What lies under the pointer, and what two fingers do.

const SIDE = 256;

// Points sorted into cells, so that the one under the pointer is found without asking all.
export class Grid {
  constructor(points, box) {
    this.points = points;
    this.box = box;
    const cells = new Uint32Array(points.rows);
    this.starts = new Uint32Array(SIDE * SIDE + 1);
    for (let row = 0; row < points.rows; row++) {
      const here = Number.isNaN(points.x[row]);
      cells[row] = here ? SIDE * SIDE : this.cell(points.x[row], points.y[row]);
      if (!here) this.starts[cells[row] + 1]++;
    }
    for (let cell = 0; cell < SIDE * SIDE; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.rows = new Uint32Array(this.starts[SIDE * SIDE]);
    for (let row = 0; row < points.rows; row++) {
      if (cells[row] < SIDE * SIDE) this.rows[next[cells[row]]++] = row;
    }
  }

  column(x) {
    const at = Math.floor(((x - this.box.x0) / (this.box.x1 - this.box.x0)) * SIDE);
    return Math.min(SIDE - 1, Math.max(0, at)); // what lies outside is kept in the outermost cells
  }

  line(y) {
    const at = Math.floor(((y - this.box.y0) / (this.box.y1 - this.box.y0)) * SIDE);
    return Math.min(SIDE - 1, Math.max(0, at));
  }

  cell(x, y) {
    return this.line(y) * SIDE + this.column(x);
  }

  // The drawn row nearest to (x, y) on the screen, within the reach; −1 where there is none.
  nearest(x, y, reachX, reachY, shades) {
    const { points } = this;
    let best = 1;
    let found = -1;
    for (let line = this.line(y - reachY); line <= this.line(y + reachY); line++) {
      for (let column = this.column(x - reachX); column <= this.column(x + reachX); column++) {
        const cell = line * SIDE + column;
        for (let at = this.starts[cell]; at < this.starts[cell + 1]; at++) {
          const row = this.rows[at];
          if (shades[row] === 255) continue;
          const dx = (points.x[row] - x) / reachX;
          const dy = (points.y[row] - y) / reachY;
          const away = dx * dx + dy * dy;
          if (away < best) [best, found] = [away, row];
        }
      }
    }
    return found;
  }

  // How many other drawn rows have the very same place.
  stacked(row, shades) {
    const { points } = this;
    const cell = this.cell(points.x[row], points.y[row]);
    let others = 0;
    for (let at = this.starts[cell]; at < this.starts[cell + 1]; at++) {
      const other = this.rows[at];
      const same = points.x[other] === points.x[row] && points.y[other] === points.y[row];
      if (same && other !== row && shades[other] !== 255) others++;
    }
    return others;
  }
}

// Two fingers zoom about the place between them, and take that place along.
export class Fingers {
  constructor() {
    this.at = new Map(); // pointerId → [left, top]
  }

  get several() {
    return this.at.size > 1;
  }

  down(event) {
    if (event.isPrimary) this.at.clear(); // whatever was never lifted, as the browser saw it
    if (this.at.size < 2) this.at.set(event.pointerId, [event.offsetX, event.offsetY]);
  }

  up(event) {
    this.at.delete(event.pointerId);
  }

  // What moving one of two fingers does: {factor, left, top, across, down}; else null.
  moved(event) {
    if (!this.at.has(event.pointerId)) return null;
    const before = this.span();
    this.at.set(event.pointerId, [event.offsetX, event.offsetY]);
    const after = this.span();
    if (!before) return null;
    return {
      factor: before.apart / after.apart,
      left: before.left,
      top: before.top,
      across: after.left - before.left,
      down: after.top - before.top,
    };
  }

  span() {
    if (!this.several) return null;
    const [[x0, y0], [x1, y1]] = [...this.at.values()];
    const apart = Math.max(1, Math.hypot(x1 - x0, y1 - y0));
    return { left: (x0 + x1) / 2, top: (y0 + y1) / 2, apart };
  }
}
