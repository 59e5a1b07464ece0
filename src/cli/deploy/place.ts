import type { Database } from './api.ts';
import { Stopped } from './wrangler.ts';

/** Where Cloudflare can create a database. A hint: Cloudflare picks the nearest data centre with room. */
export const locations: { [name: string]: string } = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  apac: 'Asia-Pacific',
  oc: 'Oceania',
};

/** Where Cloudflare guarantees that data stays: the European Union, the United States, FedRAMP data centres. */
export const jurisdictions = ['eu', 'us', 'fedramp'];

/** Where a deployment's data is kept, fixed for good when it is created. */
export type Residency = { location?: string | undefined; jurisdiction?: string | undefined };

/** Where the new database of a home will be, and that this is final. A jurisdiction overrides a location. */
export function placeWarning(home: string, { location, jurisdiction }: Residency): string {
  const where = jurisdiction
    ? `in the jurisdiction ${jurisdiction}`
    : location
      ? `in ${locations[location]} (${location})`
      : 'near the machine that deploys, without a --location or --jurisdiction';
  return `the new database of the home ${home} is created ${where}. This cannot be changed later.`;
}

/** The options for Cloudflare's API that place something there. A jurisdiction overrides a location. */
export function placed(
  { location, jurisdiction }: Residency,
  locationName?: string,
): { [name: string]: string } {
  if (jurisdiction) return { jurisdiction };
  return locationName && location ? { [locationName]: location } : {};
}

/**
 * The place for what is missing: in the jurisdiction of the database, if that exists.
 *
 * @throws Stopped, when the database exists in another jurisdiction than requested
 */
export function placeBeside(database: Database | undefined, name: string, place: Residency): Residency {
  if (!database || database.jurisdiction === undefined) return place; // Cloudflare does not say
  const { jurisdiction } = database;
  if (place.jurisdiction && place.jurisdiction !== jurisdiction)
    throw new Stopped(
      `The database ${name} already exists ${jurisdiction ? `in the jurisdiction ${jurisdiction}` : 'without a jurisdiction'}, ` +
        `and cannot move to ${place.jurisdiction}. ` +
        'Choose another --name for a deployment there, or another name with --home for a home.',
    );
  return jurisdiction ? { jurisdiction } : place;
}
