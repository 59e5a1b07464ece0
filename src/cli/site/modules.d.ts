declare module 'subset-font' {
  /** Returns the font with the glyphs of `text` alone, its axes pinned or narrowed. */
  export default function subsetFont(
    font: Buffer,
    text: string,
    options: {
      targetFormat: 'woff2';
      variationAxes: { [axis: string]: number | { min: number; max: number } };
    },
  ): Promise<Buffer>;
}

declare module 'topojson-client' {
  /** Areas that share their borders, each border stored once. */
  export type Topology = { objects: { [name: string]: Areas } };
  export type Areas = { geometries: Area[] };
  export type Area = { id?: string; properties: { name: string } };

  type Position = [longitude: number, latitude: number];
  export type Polygon = { type: 'Polygon'; coordinates: Position[][] };
  export type MultiPolygon = { type: 'MultiPolygon'; coordinates: Position[][][] };

  /** Returns an area with its outline in degrees. */
  export function feature(
    topology: Topology,
    area: Area,
  ): { id?: string; properties: { name: string }; geometry: Polygon | MultiPolygon };

  /** Returns these areas as one, without the borders between them. */
  export function merge(topology: Topology, areas: Area[]): MultiPolygon;

  /** Returns the borders that pass `filter`, each once; of an outer border both areas are the same. */
  export function mesh(
    topology: Topology,
    areas: Areas,
    filter: (a: Area, b: Area) => boolean,
  ): { coordinates: Position[][] };
}
