// Fingers on the map. Two of them zoom about the place between them, and take that place along.

class Fingers {
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
