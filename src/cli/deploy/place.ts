import * as v from 'valibot';
import { must, Stopped, type Wrangler } from './wrangler.ts';

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

/** A database that exists, by its id; the jurisdiction is undefined where Cloudflare does not say. */
export type Database = { id: string; jurisdiction: string | null | undefined };

/** Where a deployment's data is kept. All of it is fixed for good when it is created. */
export type Place = { location?: keyof typeof locations | undefined; jurisdiction?: string | undefined };

/** Says where a new database goes and that this is final. A jurisdiction overrides a location. */
export function placeWarning({ location, jurisdiction }: Place): string {
  const final = 'This cannot be changed later.';
  if (jurisdiction)
    return `a new database is created in the jurisdiction ${jurisdiction}${location ? `, which overrides --location ${location}` : ''}. ${final}`;
  if (location) return `a new database is created in ${locations[location]} (${location}). ${final}`;
  return `a new database is created near the machine that deploys. ${final} Choose a place with --location or --jurisdiction.`;
}

/** Flags that create a database, a KV namespace, a queue or a bucket there. Only databases and buckets have a location. */
export function placeFlags(what: 'database' | 'namespace' | 'queue' | 'bucket', place: Place): string[] {
  if (place.jurisdiction) return ['--jurisdiction', place.jurisdiction];
  return (what === 'database' || what === 'bucket') && place.location ? ['--location', place.location] : [];
}

/**
 * Returns the place for what is still missing: in the jurisdiction of the database, if that exists.
 *
 * @throws Stopped when the database exists, and is not in the jurisdiction that is asked for
 */
export function placeBeside(database: Database | undefined, name: string, place: Place): Place {
  if (!database || database.jurisdiction === undefined) return place; // Cloudflare does not say
  const { jurisdiction } = database;
  if (place.jurisdiction && place.jurisdiction !== jurisdiction)
    throw new Stopped(
      `The database ${name} already exists ${jurisdiction ? `in the jurisdiction ${jurisdiction}` : 'without a jurisdiction'}, ` +
        `and cannot move to ${place.jurisdiction}. Choose another --name for a deployment there.`,
    );
  return jurisdiction ? { jurisdiction } : place;
}

const Queried = v.array(v.object({ meta: v.looseObject({ served_by_region: v.optional(v.string()) }) }));

/** Returns a warning when the database runs in another region than `place` asks for, as far as Cloudflare says. */
export async function misplaced(
  wrangler: Wrangler,
  config: string,
  name: string,
  { location, jurisdiction }: Place,
): Promise<string | undefined> {
  if (!location || jurisdiction) return undefined;
  const query = ['d1', 'execute', name, '--remote', '--json', '--command', 'select 1'];
  const { out } = await must('Asking the database where it runs', wrangler([...query, '--config', config]));
  const region = v.parse(Queried, JSON.parse(out))[0]?.meta.served_by_region?.toLowerCase();
  return region && region !== location
    ? `The database ${name} runs in ${region}, not in ${location}: its place was decided when it was created, and cannot be changed.`
    : undefined;
}
