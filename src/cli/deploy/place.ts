import type { Database, NamedDatabase, Query } from './api.ts';
import { Stopped } from './wrangler.ts';

/** Where Cloudflare can create a database. It is a hint: Cloudflare picks the nearest data center with room. */
export const locations = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  apac: 'Asia-Pacific',
  oc: 'Oceania',
} as const;

/** What Cloudflare guarantees that data never leaves: the European Union, the United States, FedRAMP data centers. */
export const jurisdictions = ['eu', 'us', 'fedramp'] as const;

/** Where a deployment's data is kept. All of it is fixed for good when it is created. */
export type Residency = { location?: keyof typeof locations | undefined; jurisdiction?: string | undefined };

/** Says where a new database goes and that this is final. A jurisdiction overrides a location. */
export function placeWarning({ location, jurisdiction }: Residency, what = 'a new database'): string {
  const final = 'This cannot be changed later.';
  if (jurisdiction)
    return `${what} is created in the jurisdiction ${jurisdiction}${location ? `, which overrides --location ${location}` : ''}. ${final}`;
  if (location) return `${what} is created in ${locations[location]} (${location}). ${final}`;
  return `${what} is created near the machine that deploys. ${final} Choose a place with --location or --jurisdiction.`;
}

/** What creates something there, as Cloudflare's API names a location for it, if it has one. A jurisdiction overrides it. */
export function placed(
  { location, jurisdiction }: Residency,
  locationName?: string,
): { [name: string]: string } {
  if (jurisdiction) return { jurisdiction };
  return locationName && location ? { [locationName]: location } : {};
}

/**
 * Returns the place for what is still missing: in the jurisdiction of the database, if that exists.
 *
 * @throws Stopped when the database exists, and is not in the jurisdiction that is asked for
 */
export function placeBeside(
  database: Database | undefined,
  name: string,
  place: Residency,
  advice = 'Choose another --name for a deployment there.',
): Residency {
  if (!database || database.jurisdiction === undefined) return place; // Cloudflare does not say
  const { jurisdiction } = database;
  if (place.jurisdiction && place.jurisdiction !== jurisdiction)
    throw new Stopped(
      `The database ${name} already exists ${jurisdiction ? `in the jurisdiction ${jurisdiction}` : 'without a jurisdiction'}, ` +
        `and cannot move to ${place.jurisdiction}. ${advice}`,
    );
  return jurisdiction ? { jurisdiction } : place;
}

/** Says so when the database runs in another region than `place` asks for, as far as Cloudflare says. */
export async function misplaced(
  query: Query,
  database: NamedDatabase,
  { location, jurisdiction }: Residency,
): Promise<string | undefined> {
  if (!location || jurisdiction) return undefined;
  const { region } = await query('Asking the database where it runs', database, 'select 1');
  return region && region !== location
    ? `The database ${database.name} runs in ${region}, not in ${location}: its place was decided when it was created, and cannot be changed.`
    : undefined;
}
