// All points onto pixels, on the processor: each pixel takes the mean colour of its points, and the
// more points it holds the less the background shows through.

const DENSE = 255;

class Splat {
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    [this.width, this.height] = [width, height];
    const pixels = width * height;
    this.counts = new Uint32Array(pixels);
    this.red = new Uint32Array(pixels);
    this.green = new Uint32Array(pixels);
    this.blue = new Uint32Array(pixels);
    this.image = new ImageData(width, height);
    this.out = new Uint32Array(this.image.data.buffer);
  }

  // Returns how many points lie inside. `shades` holds each point's place in `palette`, 255 for
  // points that are not drawn; `paper` is [r, g, b].
  draw(points, shades, palette, view, dot, paper) {
    const { width, height, counts, red, green, blue } = this;
    for (const sums of [counts, red, green, blue]) sums.fill(0);
    const { x, y, rows } = points;
    const across = width / (view.x1 - view.x0);
    const up = height / (view.y1 - view.y0);
    const before = dot >> 1;
    const flat = Uint8Array.from(palette.flat()); // three numbers a shade
    let inside = 0;
    for (let row = 0; row < rows; row++) {
      const shade = shades[row];
      if (shade === 255) continue;
      const fx = (x[row] - view.x0) * across;
      const fy = (view.y1 - y[row]) * up;
      if (!(fx >= 0 && fx < width && fy >= 0 && fy < height)) continue; // NaN fails as well
      inside++;
      const r = flat[3 * shade];
      const g = flat[3 * shade + 1];
      const b = flat[3 * shade + 2];
      if (dot === 1) {
        const pixel = (fy | 0) * width + (fx | 0);
        counts[pixel]++;
        red[pixel] += r;
        green[pixel] += g;
        blue[pixel] += b;
        continue;
      }
      const left = Math.max(0, (fx | 0) - before);
      const right = Math.min(width, (fx | 0) - before + dot);
      const bottom = Math.min(height, (fy | 0) - before + dot);
      for (let line = Math.max(0, (fy | 0) - before); line < bottom; line++) {
        for (let pixel = line * width + left; pixel < line * width + right; pixel++) {
          counts[pixel]++;
          red[pixel] += r;
          green[pixel] += g;
          blue[pixel] += b;
        }
      }
    }
    this.mix(paper, dot);
    return inside;
  }

  mix(paper, dot) {
    const { counts, red, green, blue, out } = this;
    const dark = paper[0] + paper[1] + paper[2] < 384; // a lone point is fainter on dark
    const least = dot > 1 ? 0.85 : dark ? 0.65 : 0.45;
    const cover = new Float32Array(DENSE + 1);
    for (let n = 1; n <= DENSE; n++) {
      cover[n] = least + (1 - least) * Math.min(1, Math.log(n) / Math.log(24));
    }
    const [pr, pg, pb] = paper;
    out.fill(((255 << 24) | (pb << 16) | (pg << 8) | pr) >>> 0);
    for (let pixel = 0; pixel < out.length; pixel++) {
      const count = counts[pixel];
      if (count === 0) continue;
      const part = cover[count > DENSE ? DENSE : count];
      const rest = 1 - part;
      const share = part / count;
      const r = red[pixel] * share + pr * rest;
      const g = green[pixel] * share + pg * rest;
      const b = blue[pixel] * share + pb * rest;
      out[pixel] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }
  }
}
