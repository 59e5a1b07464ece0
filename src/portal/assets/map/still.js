// A map as a still picture, which needs neither MapLibre nor a graphics card.
import { cameraAround, centerOf, onEarth, projection } from './mercator.js';
import { followTheme, wantsCounties } from './outlines.js';
import { paint } from './paint.js';

/**
 * A picture in `element` of the outlines that `styled` returns, with counties or without, as large as `bounds` allows.
 * It has as much of MapLibre's Map as pins and buttons ask for. It shows nothing until `draw`, which throws if the
 * outlines cannot be had.
 */
export function stillMap(element, styled, { bounds, padding, firstZoom, maxZoom }) {
  const canvas = document.createElement('canvas');
  canvas.className = 'map-still';
  canvas.setAttribute('aria-hidden', 'true');
  const listeners = [];
  /** GeoJSON by its URL; null while it is on its way. */
  const files = new Map();
  let drawing;
  let removed = false;
  let size;
  let camera;
  /** How the camera comes about, for a picture of any size. */
  let aim = () => cameraAround(bounds, size, padding, firstZoom);

  const still = {
    draw: () => (drawing ??= load()),
    remove() {
      removed = true;
      resized.disconnect();
      canvas.remove();
    },
    on: (event, listener) => event === 'move' && listeners.push(listener),
    project: (at) => projection(camera, size)(at),
    isMoving: () => false,
    getCenter: () => centerOf(camera),
    getZoom: () => camera.zoom,
    getMaxZoom: () => maxZoom,
    zoomIn: () => zoomTo(camera.zoom + 1),
    zoomOut: () => zoomTo(camera.zoom - 1),
    fitBounds: (box, { padding: all }) =>
      move(() => cameraAround(box, size, { top: all, right: all, bottom: all, left: all }, maxZoom)),
  };
  const resized = new ResizeObserver(() => move(aim));
  resized.observe(element);
  followTheme(repaint);
  followPixelRatio(() => !removed, repaint);
  move(aim);
  return still;

  function move(newAim) {
    aim = newAim;
    size = { width: element.clientWidth, height: element.clientHeight };
    camera = aim();
    for (const listener of listeners) listener();
    repaint();
    if (drawing) load();
  }

  function zoomTo(zoom) {
    const { x, y } = camera;
    move(() => onEarth({ x, y, zoom }, size, maxZoom));
  }

  /** Loads what is not there yet, and draws each file in a frame of its own. */
  async function load() {
    await document.fonts.ready;
    const { sources } = styled(wantsCounties(still));
    const urls = Object.values(sources).map(({ data }) => data);
    const missing = urls.filter((data) => typeof data === 'string' && !files.has(data));
    for (const url of missing) files.set(url, null);
    for (const [url, reply] of missing.map((url) => [url, fetch(url)])) {
      files.set(url, await (await reply).json());
      await new Promise(requestAnimationFrame);
      repaint();
    }
  }

  function repaint() {
    if (removed || ![...files.values()].some(Boolean)) return;
    const { sources, layers } = styled(wantsCounties(still));
    const features = (name) => featuresOf(files.get(sources[name].data) ?? sources[name].data);
    paint(canvas, layers, features, camera, size);
    if (!canvas.isConnected) element.prepend(canvas);
  }
}

/** A URL whose file is not there yet has no features. */
const featuresOf = (data) => data.features ?? (data.type === 'Feature' ? [data] : []);

/** Calls back when the window comes to a screen with other pixels, as long as it is wanted. */
function followPixelRatio(wanted, callback) {
  const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const changed = () => {
    if (!wanted()) return;
    callback();
    followPixelRatio(wanted, callback);
  };
  query.addEventListener('change', changed, { once: true });
}
