import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { feature, merge, mesh } from 'topojson-client';
import { root } from '../project/paths.ts';

/** Areas share their borders, each of which is stored once in their topology. */
type Topology = Parameters<typeof merge>[0];
type Areas = Exclude<Parameters<typeof merge>[1], unknown[]>;
type Polygons = Extract<Parameters<typeof merge>[1], unknown[]>;
type Area = Areas['geometries'][number];
type Position = number[];

/** Builds MapLibre, and outlines of the world's countries and of US states and counties. */
export function buildMap(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const file of ['maplibre-gl.mjs', 'maplibre-gl-worker.mjs', 'maplibre-gl.css'])
    cpSync(join(root, 'node_modules/maplibre-gl/dist', file), join(directory, file));
  const world = atlas('world-atlas/countries-50m.json');
  const us = atlas('us-atlas/counties-10m.json');
  const areas = { ...world.objects, ...us.objects } as { [name: string]: Areas }; // as they are published
  const { countries, states, counties } = areas;
  if (!countries || !states || !counties) throw new Error('The atlases have changed their layout');
  const write = (name: string, features: object[]) =>
    writeFileSync(
      join(directory, `${name}.json`),
      JSON.stringify({ type: 'FeatureCollection', features }),
    );
  write('countries', [
    land(world, countries),
    borders(world, countries),
    ...names(world, countries),
  ]);
  write('states', [borders(us, states), ...names(us, states)]);
  write('counties', [borders(us, counties, withinState), ...names(us, counties)]);
}

const atlas = (file: string): Topology =>
  JSON.parse(readFileSync(join(root, 'node_modules', file), 'utf8')) as Topology; // as these packages document it

const drawn = (is: string, type: string, coordinates: unknown[], more: object = {}) => ({
  type: 'Feature',
  properties: { is, ...more },
  geometry: { type, coordinates },
});

const land = (topology: Topology, { geometries }: Areas) =>
  drawn('land', 'MultiPolygon', shapes(merge(topology, geometries as Polygons).coordinates));

const borders = (
  topology: Topology,
  areas: Areas,
  wanted: (a: Area, b: Area) => boolean = () => true,
) => {
  const lines = mesh(topology, areas, (a, b) => a !== b && wanted(a, b)).coordinates.map(coarse);
  const visible = lines.filter((line) => line.length > 1);
  return drawn('border', 'MultiLineString', visible);
};

/** The first two digits of a county's id are its state's, whose borders are drawn separately. */
const withinState = (a: Area, b: Area): boolean => `${a.id}`.slice(0, 2) === `${b.id}`.slice(0, 2);

/** The name of each area, in the middle of its largest part, with its size. */
const names = (topology: Topology, areas: Areas) =>
  feature(topology, areas).features.flatMap(({ geometry, properties }) => {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return [];
    const parts = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    const largest = parts
      .flatMap(([outline]) => (outline ? [middle(outline)] : []))
      .reduce((best, part) => (part.area > best.area ? part : best), { area: 0, at: [0, 0] });
    const [at = []] = coarse([largest.at]);
    const named = { name: Object(properties).name, area: Math.round(largest.area * 100) };
    return largest.area > 0 ? [drawn('name', 'Point', at, named)] : [];
  });

const shapes = (polygons: Position[][][]): Position[][][] =>
  polygons
    .map((rings) => rings.map(coarse).filter((ring) => ring.length > 3))
    .filter((rings) => rings.length > 0);

/** Positions in hundredths of a degree, about a kilometre: the atlases are no more exact. */
function coarse(line: Position[]): Position[] {
  const rounded = line.map(([x = 0, y = 0]) => [
    Math.round(x * 100) / 100,
    Math.round(y * 100) / 100,
  ]);
  return rounded.filter(
    ([x, y], i) => i === 0 || x !== rounded[i - 1]?.[0] || y !== rounded[i - 1]?.[1],
  );
}

/** The centroid of an outline, and its area in square degrees. */
function middle(outline: Position[]): { area: number; at: Position } {
  let [doubled, x, y] = [0, 0, 0];
  for (const [i, [x1 = 0, y1 = 0]] of outline.entries()) {
    const [x0 = x1, y0 = y1] = outline[i - 1] ?? [];
    const cross = x0 * y1 - x1 * y0;
    doubled += cross;
    x += (x0 + x1) * cross;
    y += (y0 + y1) * cross;
  }
  return { area: Math.abs(doubled) / 2, at: [x / (3 * doubled || 1), y / (3 * doubled || 1)] };
}
