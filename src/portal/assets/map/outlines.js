// The style of the map: outlines in the colours of the design, and the way between the points of a page.

const nothing = { type: 'FeatureCollection', features: [] };
/** From this zoom on counties are drawn, within the USA: [[west, south], [east, north]]. */
const countyZoom = 6;
const usa = [
  [-180, 17],
  [-65, 72],
];
/** The country whose states have names of their own. */
const statesOf = 'United States of America';
const file = (name) => new URL(`./${name}.json`, import.meta.url).href;

/** A style over our own outlines. `token` reads a design token; with `detailed` it has the counties of the USA. */
export const outlines = (token, line, detailed) => ({
  version: 8,
  sources: {
    countries: { type: 'geojson', data: file('countries') },
    states: { type: 'geojson', data: file('states') },
    counties: { type: 'geojson', data: detailed ? file('counties') : nothing },
    ...waySources(line),
  },
  layers: [
    { id: 'sea', type: 'background', paint: { 'background-color': token('--color-base-100') } },
    {
      id: 'land',
      type: 'fill',
      source: 'countries',
      filter: is('land'),
      paint: { 'fill-color': token('--map-land') },
    },
    border('counties', token('--map-line'), 0.75),
    border('states', token('--map-line'), 1.25),
    border('countries', token('--control'), 1.25),
    ...wayLayers(token),
    names('counties', token, { minzoom: 7 }),
    names('states', token, { minzoom: 4, maxzoom: 8 }),
    names('countries', token, {}, ['any', ['<', ['zoom'], 4], ['!=', ['get', 'name'], statesOf]]),
  ],
});

/** Whether a map, where it is now, is one to load counties for. */
export function wantsCounties(map) {
  const { lng, lat } = map.getCenter();
  const within = lng > usa[0][0] && lng < usa[1][0] && lat > usa[0][1] && lat < usa[1][1];
  return within && map.getZoom() >= countyZoom;
}

/** Where the way is kept: straight lines between the places that are known, in degrees. */
export const waySources = (line) => ({
  way: {
    type: 'geojson',
    data: line ? { type: 'Feature', geometry: { type: 'LineString', coordinates: line } } : nothing,
  },
});

/** Draws the way: dashed, because nobody knows what it was like between these places. */
export const wayLayers = (token) => [
  {
    id: 'way',
    type: 'line',
    source: 'way',
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint: {
      'line-color': token('--color-primary'),
      'line-width': 2.5,
      'line-opacity': 0.85,
      'line-dasharray': [0.5, 2],
    },
  },
];

const is = (what) => ['==', ['get', 'is'], what];

const border = (source, color, width) => ({
  id: `${source}-border`,
  type: 'line',
  source,
  filter: is('border'),
  paint: { 'line-color': color, 'line-width': width },
});

/** The layers of names. */
export const nameLayers = ['counties-name', 'states-name', 'countries-name'];

/** Names are drawn with the page's own font: there are no files of glyphs. */
const names = (source, token, zooms, wanted = true) => ({
  id: `${source}-name`,
  type: 'symbol',
  source,
  filter: ['all', is('name'), wanted],
  ...zooms,
  layout: {
    'text-field': ['get', 'name'],
    'text-font': ['Geist'],
    'text-size': 11,
    'text-letter-spacing': 0.04,
    'text-max-width': 8,
    'symbol-sort-key': ['-', ['get', 'area']],
  },
  paint: {
    'text-color': token('--muted'),
    'text-halo-color': token('--map-land'),
    'text-halo-width': 1.5,
  },
});
