// All points onto pixels, on the processor: each pixel takes the mean colour of its points, and the
// more points it holds the less the background shows through.

const DENSE = 255;

export class Splat {
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    [this.width, this.height] = [width, height];
    // count, red, green, blue of a pixel beside each other: one line of the cache for each point
    this.sums = new Uint32Array(4 * width * height);
    this.image = new ImageData(width, height);
    this.out = new Int32Array(this.image.data.buffer);
  }

  // Returns how many points lie inside. `shades` holds each point's place in `palette`, 255 for
  // points that are not drawn; `paper` is [r, g, b].
  draw(points, shades, palette, view, dot, paper) {
    const { width, height, sums } = this;
    sums.fill(0);
    const { x, y, rows } = points;
    const { x0, y1 } = view;
    const across = width / (view.x1 - x0);
    const up = height / (y1 - view.y0);
    const before = dot >> 1;
    const flat = Uint8Array.from(palette.flat()); // three numbers a shade
    let inside = 0;
    for (let row = 0; row < rows; row++) {
      const shade = shades[row];
      if (shade === 255) continue;
      const fx = (x[row] - x0) * across;
      const fy = (y1 - y[row]) * up;
      if (!(fx >= 0 && fx < width && fy >= 0 && fy < height)) continue; // NaN fails as well
      inside++;
      const r = flat[3 * shade];
      const g = flat[3 * shade + 1];
      const b = flat[3 * shade + 2];
      if (dot === 1) {
        const at = 4 * ((fy | 0) * width + (fx | 0));
        sums[at]++;
        sums[at + 1] += r;
        sums[at + 2] += g;
        sums[at + 3] += b;
        continue;
      }
      const left = Math.max(0, (fx | 0) - before);
      const right = Math.min(width, (fx | 0) - before + dot);
      const bottom = Math.min(height, (fy | 0) - before + dot);
      for (let line = Math.max(0, (fy | 0) - before); line < bottom; line++) {
        for (let at = 4 * (line * width + left); at < 4 * (line * width + right); at += 4) {
          sums[at]++;
          sums[at + 1] += r;
          sums[at + 2] += g;
          sums[at + 3] += b;
        }
      }
    }
    this.mix(paper, dot);
    return inside;
  }

  mix(paper, dot) {
    const { sums, out } = this;
    const dark = paper[0] + paper[1] + paper[2] < 384; // a lone point is fainter on dark
    const least = dot > 1 ? 0.85 : dark ? 0.65 : 0.45;
    const cover = new Float32Array(DENSE + 1);
    for (let n = 1; n <= DENSE; n++) {
      cover[n] = least + (1 - least) * Math.min(1, Math.log(n) / Math.log(24));
    }
    const [pr, pg, pb] = paper;
    const empty = (255 << 24) | (pb << 16) | (pg << 8) | pr;
    for (let pixel = 0, at = 0; pixel < out.length; pixel++, at += 4) {
      const count = sums[at];
      if (count === 0) {
        out[pixel] = empty;
        continue;
      }
      const part = cover[count > DENSE ? DENSE : count];
      const rest = 1 - part;
      const share = part / count;
      const r = sums[at + 1] * share + pr * rest;
      const g = sums[at + 2] * share + pg * rest;
      const b = sums[at + 3] * share + pb * rest;
      out[pixel] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
  }
}
