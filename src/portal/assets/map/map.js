// Draws the map of each element with `data-map`, once it comes into view. Its list of places stays for screen readers,
// and is what is seen without this script, or where the browser cannot draw a map.
import { boxAround, clusters } from './clusters.js';
import { outlines, wayLayers, waySources } from './outlines.js';

/** Points nearer to each other than this (pixels) become one with their number. */
const distance = 34;
/** A single point is shown with about this much around it; outlines have nothing more to show beyond the last zoom. */
const [firstZoom, lastOutlineZoom, lastZoom] = [7.5, 10, 17];
/** From this zoom on counties are drawn, within the USA: [[west, south], [east, north]]. */
const countyZoom = 6;
const usa = [
  [-180, 17],
  [-65, 72],
];

const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    draw(target).catch(() => target.classList.add('map-failed'));
  }
});
for (const figure of document.querySelectorAll('[data-map]')) inView.observe(figure);

async function draw(figure) {
  const [maplibre] = await Promise.all([import('./maplibre-gl.mjs'), stylesheet('./maplibre-gl.css')]);
  const points = [...figure.querySelectorAll('[data-at]')].map((place) => ({
    at: JSON.parse(place.dataset.at),
    look: place.dataset.look,
    mark: place.dataset.mark,
    href: place.dataset.href,
    here: place.dataset.here !== undefined,
    name: place.textContent.trim().replaceAll(/\s+/g, ' '),
  }));
  const { style, line } = figure.dataset;
  const way = line && JSON.parse(line);
  const token = (name) => getComputedStyle(figure).getPropertyValue(name).trim();
  const ownStyle = (detailed) => outlines(token, way, detailed);

  const map = new maplibre.Map({
    container: figure.querySelector('.map'),
    style: style ?? ownStyle(false),
    bounds: boxAround([...points.map(({ at }) => at), ...(way ?? [])]),
    // Nothing is hidden by the buttons at the right.
    fitBoundsOptions: { padding: { top: 40, bottom: 40, left: 40, right: 64 }, maxZoom: firstZoom },
    maxZoom: style ? lastZoom : lastOutlineZoom,
    attributionControl: style ? { compact: true } : false,
    cooperativeGestures: true,
    dragRotate: false,
    pitchWithRotate: false,
    renderWorldCopies: false,
    fadeDuration: 0, // each frame of a fade would be drawn in full
    locale: { 'Map.Title': 'Map' }, // the figure around it says of what
    // The page's own policy is to name nobody: a provider may ask who its key is used by.
    transformRequest: (url) => ({ url, referrerPolicy: style ? 'origin' : 'same-origin' }),
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new maplibre.NavigationControl({ showCompass: false }));
  map.addControl(new maplibre.ScaleControl({ maxWidth: 80 }));
  show(maplibre, map, points);
  if (style) showOnTiles(map, { way, token, ownStyle });
  else followOutlines(map, ownStyle);
}

/** Draws the way on a provider's style; without that style, on our outlines. */
function showOnTiles(map, { way, token, ownStyle }) {
  let loaded = false;
  map.on('style.load', () => {
    if (!loaded && way) {
      map.addSource('way', waySources(way).way);
      for (const layer of wayLayers(token)) map.addLayer(layer);
    }
    loaded = true;
  });
  map.on('error', () => {
    if (loaded) return; // a tile that is missing
    loaded = true;
    map.setStyle(ownStyle(true));
    map.setMaxZoom(lastOutlineZoom);
  });
}

/** Loads counties where they are wanted, and changes colours with the theme. */
function followOutlines(map, ownStyle) {
  let detailed = false;
  const detail = () => {
    const { lng, lat } = map.getCenter();
    const within = lng > usa[0][0] && lng < usa[1][0] && lat > usa[0][1] && lat < usa[1][1];
    if (detailed || !within || map.getZoom() < countyZoom) return;
    detailed = true;
    map.setStyle(ownStyle(true));
  };
  map.on('load', detail);
  map.on('moveend', detail);
  const repaint = () => map.setStyle(ownStyle(detailed));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ['data-theme'] });
}

/** Keeps a marker for each point, or for several that are close together. */
function show(maplibre, map, points) {
  let markers = new Map();
  const update = () => {
    const before = markers;
    markers = new Map();
    const placed = points.map((point, i) => ({ ...map.project(point.at), point, i }));
    const [here, others] = [true, false].map((is) => placed.filter(({ point }) => point.here === is));
    for (const group of [...clusters(others, distance), ...here.map((one) => [one])]) {
      const key = group.map(({ i }) => i).join();
      const marker =
        before.get(key) ??
        markerFor(
          maplibre,
          map,
          group.map(({ point }) => point),
        );
      before.delete(key);
      markers.set(key, marker);
    }
    for (const marker of before.values()) marker.remove();
  };
  update();
  map.on('zoom', update);
}

function markerFor(maplibre, map, points) {
  const [[west, south], [east, north]] = boxAround(points.map(({ at }) => at));
  const at = points.length === 1 ? points[0].at : [(west + east) / 2, (south + north) / 2];
  const element = points.length === 1 ? pin(points[0]) : cluster(maplibre, map, points, at);
  return new maplibre.Marker({ element }).setLngLat(at).addTo(map);
}

function pin({ look, mark, href, name, here }) {
  const element = document.createElement(href ? 'a' : 'span');
  element.className = `pin ${look}${here ? ' here' : ''}`;
  element.textContent = mark ?? '';
  element.title = name;
  if (href) element.href = href;
  else element.setAttribute('role', 'img');
  element.setAttribute('aria-label', mark ? `${mark}: ${name}` : name); // what can be seen is part of its name
  return element;
}

/** A button that zooms to its points; where that does not part them, it lists them. */
function cluster(maplibre, map, points, at) {
  const element = document.createElement('button');
  element.type = 'button';
  // Points come with the least important first.
  element.className = `pin cluster ${points.at(-1).look}`;
  element.textContent = points.length;
  element.setAttribute('aria-label', `${points.length} places`);
  element.addEventListener('click', (event) => {
    event.stopPropagation(); // the map would close the list at once
    const box = boxAround(points.map((point) => point.at));
    const { zoom = 0 } = map.cameraForBounds(box, { padding: 64 }) ?? {};
    const [[west, south], [east, north]] = box;
    if (map.getZoom() < map.getMaxZoom() - 0.1 && (west !== east || south !== north))
      map.fitBounds(box, { padding: 64, maxZoom: Math.max(zoom, map.getZoom() + 1) });
    else
      new maplibre.Popup({ className: 'map-list', maxWidth: '16rem' })
        .setLngLat(at)
        .setDOMContent(listOf(points))
        .addTo(map);
  });
  return element;
}

function listOf(points) {
  const list = document.createElement('ul');
  list.append(
    ...points.map(({ href, name }) => {
      const entry = document.createElement('li');
      const text = document.createElement(href ? 'a' : 'span');
      if (href) text.href = href;
      text.textContent = name;
      entry.append(text);
      return entry;
    }),
  );
  return list;
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
