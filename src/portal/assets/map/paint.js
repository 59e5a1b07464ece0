// Draws layers of outlines.js on a canvas, by the few things of MapLibre's style that they use.
import { outside, projection } from './mercator.js';

/** Names this far outside of the picture (pixels) can still be in the way of others, and around each is some room. */
const [beyond, room] = [100, 2];
/** How much lower MapLibre draws letters than a canvas does, in em. */
const lowered = 0.12;

/** Draws `layers` as the camera sees them. `features` returns the GeoJSON features of a source. */
export function paint(canvas, layers, features, camera, size) {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  // Of these pixels exactly, or the browser would scale them.
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const scene = { context, features, camera, size, taken: [] };
  const visible = layers.filter(
    ({ minzoom = 0, maxzoom = 99 }) => camera.zoom >= minzoom && camera.zoom < maxzoom,
  );
  for (const layer of visible.filter(({ type }) => type !== 'symbol')) painters[layer.type](layer, scene);
  // Of names that are in each other's way, the one of the upper layer stays.
  for (const layer of visible.filter(({ type }) => type === 'symbol').reverse()) nameAll(layer, scene);
}

const painters = {
  background({ paint }, { context, size }) {
    context.fillStyle = paint['background-color'];
    context.fillRect(0, 0, size.width, size.height);
  },
  fill(layer, scene) {
    scene.context.fillStyle = layer.paint['fill-color'];
    for (const { geometry } of wanted(layer, scene)) scene.context.fill(pathOf(geometry, scene), 'evenodd');
  },
  line(layer, scene) {
    const { context, camera } = scene;
    const { 'line-color': color, 'line-width': width, 'line-opacity': opacity = 1 } = layer.paint;
    context.save();
    context.strokeStyle = color;
    context.lineWidth = width;
    context.globalAlpha = opacity;
    context.miterLimit = 2;
    context.lineCap = layer.layout?.['line-cap'] ?? 'butt';
    context.lineJoin = layer.layout?.['line-join'] ?? 'miter';
    // Dashes grow with the map from one whole zoom to the next, as MapLibre's tiles do.
    const dash = width * 2 ** (camera.zoom % 1);
    context.setLineDash((layer.paint['line-dasharray'] ?? []).map((length) => length * dash));
    for (const { geometry } of wanted(layer, scene)) context.stroke(pathOf(geometry, scene));
    context.restore();
  },
};

/** Each shape's path, and the camera that it is for: files come one by one, and each means another picture. */
const paths = new WeakMap();

function pathOf(geometry, { camera, size }) {
  const known = paths.get(geometry);
  if (known?.camera === camera) return known.path;
  const path = new Path2D();
  const project = projection(camera, size);
  const unseen = outside(camera, size);
  for (const line of linesOf[geometry.type](geometry.coordinates).filter((line) => !unseen(line))) {
    for (const [i, position] of line.entries()) {
      const { x, y } = project(position);
      if (i === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    }
  }
  paths.set(geometry, { camera, path });
  return path;
}

const linesOf = {
  LineString: (line) => [line],
  MultiLineString: (lines) => lines,
  MultiPolygon: (polygons) => polygons.flat(),
};

function nameAll(layer, scene) {
  const { context, camera, size, taken } = scene;
  const { layout, paint } = layer;
  const em = layout['text-size'];
  const lineHeight = 1.2 * em;
  context.font = `${em}px ${layout['text-font']}, sans-serif`;
  context.letterSpacing = `${layout['text-letter-spacing'] * em}px`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.fillStyle = paint['text-color'];
  context.strokeStyle = paint['text-halo-color'];
  context.lineWidth = 2 * paint['text-halo-width'];
  const project = projection(camera, size);
  const named = wanted(layer, scene)
    .map(({ geometry, properties }) => ({ ...project(geometry.coordinates), properties }))
    .filter(({ x, y }) => near(x, size.width) && near(y, size.height));
  const key = ({ properties }) => value(layout['symbol-sort-key'], properties);
  for (const { x, y, properties } of named.sort((a, b) => key(a) - key(b))) {
    const lines = wrap(context, value(layout['text-field'], properties), layout['text-max-width'] * em);
    const halfWidth = Math.max(...lines.map((line) => context.measureText(line).width)) / 2 + room;
    const halfHeight = (lines.length * lineHeight) / 2 + room;
    const box = { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
    if (taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    for (const draw of ['strokeText', 'fillText'])
      for (const [i, line] of lines.entries())
        context[draw](line, x, y + lowered * em + (i - (lines.length - 1) / 2) * lineHeight);
  }
}

const near = (at, length) => at > -beyond && at < length + beyond;

/** A text as lines of about the same width. */
function wrap(context, text, maxWidth) {
  const width = (line) => context.measureText(line).width;
  const target = width(text) / Math.ceil(width(text) / maxWidth);
  const lines = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word;
    if (line && Math.abs(width(longer) - target) > Math.abs(width(line) - target)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const wanted = ({ source, filter = true }, { features, camera }) =>
  features(source).filter(({ properties }) => value(filter, properties, Math.floor(camera.zoom)));

/** What an expression of a style stands for. */
function value(expression, properties, zoom) {
  if (!Array.isArray(expression)) return expression;
  const [operation, ...operands] = expression;
  if (operation === 'get') return properties[operands[0]];
  if (operation === 'zoom') return zoom;
  return operations[operation](...operands.map((operand) => value(operand, properties, zoom)));
}

const operations = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '-': (a) => -a,
  all: (...these) => these.every(Boolean),
  any: (...these) => these.some(Boolean),
};
