// Draws the map of each element with `data-map`, once it comes into view. Its list of places stays for screen readers,
// and is what is seen without this script, or where the browser cannot draw a map.
import { boxAround } from './clusters.js';
import { nameLayers, outlines, wantsCounties, wayLayers, waySources } from './outlines.js';
import { pinsOn } from './pins.js';

/** Nothing is hidden by the buttons at the right. */
const padding = { top: 40, bottom: 40, left: 40, right: 64 };
/** A single point is shown with about this much around it. */
const firstZoom = 7.5;
/** How far in our outlines have something to show, and a provider's tiles. */
const [lastOutlineZoom, lastTileZoom] = [10, 17];
/** How far out a map goes by itself. */
const leastZoom = 2;

const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    draw(target).catch(() => showList(target));
  }
});
for (const figure of document.querySelectorAll('[data-map]')) inView.observe(figure);

const showList = (figure) => figure.classList.add('map-failed');

async function draw(figure) {
  const [maplibre] = await Promise.all([
    import('./maplibre-gl.mjs'),
    stylesheet('./maplibre-gl.css'),
  ]);
  const element = figure.querySelector('.map');
  const points = [...figure.querySelectorAll('[data-at]')].map(pointOf);
  const { style: tiles, line } = figure.dataset;
  const way = line && JSON.parse(line);
  const map = new maplibre.Map({
    container: element,
    bounds: boxAround([...points.map(({ at }) => at), ...(way ?? [])]),
    fitBoundsOptions: { padding, maxZoom: firstZoom },
    maxZoom: tiles ? lastTileZoom : lastOutlineZoom,
    attributionControl: tiles ? { compact: true } : false,
    cooperativeGestures: true,
    dragRotate: false,
    pitchWithRotate: false,
    renderWorldCopies: false,
    fadeDuration: 0, // each frame of a fade would be drawn in full
    locale: { 'Map.Title': 'Map' }, // the figure around it says of what
    // The page's own policy is to name nobody: a provider may ask who its key is used by.
    transformRequest: (url) => ({ url, referrerPolicy: tiles ? 'origin' : 'same-origin' }),
  });
  map.touchZoomRotate.disableRotation();
  const unit = document.body.dataset.units === 'imperial' ? 'imperial' : 'metric';
  map.addControl(new maplibre.NavigationControl({ showCompass: false }));
  map.addControl(new maplibre.ScaleControl({ maxWidth: 80, unit }), 'bottom-left');
  pinsOn(element, points, map);
  const token = (name) => getComputedStyle(figure).getPropertyValue(name).trim();
  const showOurs = () => showOutlines(map, token, way, () => showList(figure));
  if (tiles) showTiles(map, tiles, token, way, showOurs);
  else showOurs();
}

/** A place of the list. */
const pointOf = ({ dataset: { at, look, mark, href, here }, textContent }) => ({
  ...{ at: JSON.parse(at), look, mark, href, here: here !== undefined },
  name: textContent.trim().replaceAll(/\s+/g, ' '),
});

/** Draws the way on a provider's style, whose URL is `tiles`; without that style it calls `otherwise`. */
function showTiles(map, tiles, token, way, otherwise) {
  const failed = () => {
    map.setMaxZoom(lastOutlineZoom);
    otherwise();
  };
  map.once('error', failed);
  map.once('style.load', () => {
    map.off('error', failed); // from now on it is a tile that is missing
    if (!way) return;
    map.addSource('way', waySources(way).way);
    for (const layer of wayLayers(token)) map.addLayer(layer);
  });
  map.setStyle(tiles);
}

/** Draws our outlines, with counties once they are wanted, in the colours of the theme. Calls `failed` without them. */
function showOutlines(map, token, way, failed) {
  const zoom = map.getZoom();
  let detailed = wantsCounties(map);
  const show = () => map.setStyle(outlines(token, way, detailed));
  map.on('moveend', () => {
    if (detailed || !wantsCounties(map)) return;
    detailed = true;
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  map.once('error', failed);
  map.once('load', () => {
    map.off('error', failed);
    orient(map, zoom);
  });
  show();
}

/**
 * Zooms out until something in view is named, such as a county or a country: most of the land has no outlines. Ends when
 * the map is no longer at `zoom`, because somebody has zoomed.
 */
function orient(map, zoom) {
  map.once('idle', () => {
    const layers = nameLayers.filter((layer) => map.getLayer(layer));
    const { clientWidth: width, clientHeight: height } = map.getContainer();
    const well = [
      [width / 5, height / 8],
      [(width * 4) / 5, (height * 7) / 8],
    ];
    const isNamed = map.queryRenderedFeatures(well, { layers }).length > 0;
    if (isNamed || zoom <= leastZoom || zoom !== map.getZoom()) return;
    map.setZoom(zoom - 1);
    orient(map, map.getZoom());
  });
}

function stylesheet(path) {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(path, import.meta.url).href;
  document.head.prepend(link); // ours comes after it
  return new Promise((loaded, failed) => {
    link.onload = loaded;
    link.onerror = failed;
  });
}
