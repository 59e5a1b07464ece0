import * as v from 'valibot';
import { type BoundHome, boundHomes } from './bound.ts';
import { type Place, placeFlags } from './place.ts';
import type { Home, Ids, Plan } from './plan.ts';
import type { NamedDatabase } from './query.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

/** The account that a deployment goes to. */
export type Account = { id: string; name: string };

/** What an account has already: ids, and names of secrets. */
export type Found = {
  /** All of the account, whatever they are for. */
  databases: NamedDatabase[];
  /** That of main. */
  database: NamedDatabase | undefined;
  namespace: string | undefined;
  /** Cloudflare shows their values to nobody. */
  secrets: string[];
  /** The other homes that the Worker is bound to. */
  homes: BoundHome[];
};

const SignedIn = v.object({ accounts: v.array(v.object({ id: v.string(), name: v.string() })) });
const Databases = v.array(
  v.object({ uuid: v.string(), name: v.string(), jurisdiction: v.nullish(v.string()) }),
);
const Namespaces = v.array(v.object({ id: v.string(), title: v.string() }));
const Secrets = v.array(v.object({ name: v.string() }));

/** Returns the account that wrangler is signed in to. @throws Stopped when there is none, or several to choose from */
export async function chooseAccount(wrangler: Wrangler): Promise<Account> {
  const output = await wrangler(['whoami', '--json']);
  if (!output.ok && /"loggedIn":\s*false/.test(output.out))
    throw new Stopped('Not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.');
  const { out } = await must('Signing in to Cloudflare', output);
  const { accounts } = v.parse(SignedIn, JSON.parse(out));
  const chosen = process.env.CLOUDFLARE_ACCOUNT_ID;
  if (chosen) return accounts.find(({ id }) => id === chosen) ?? { id: chosen, name: 'unnamed' };
  const [only, ...others] = accounts;
  if (only && others.length === 0) return only;
  const listed = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('');
  throw new Stopped(
    only
      ? `You have several accounts. Set CLOUDFLARE_ACCOUNT_ID to the id of one:${listed}`
      : 'The credentials name no account. Set CLOUDFLARE_ACCOUNT_ID to its id.',
  );
}

/** Looks up what the account has already. Changes nothing. @throws Stopped */
export async function lookUp(wrangler: Wrangler, plan: Plan): Promise<Found> {
  const [databases, namespace, secrets, homes] = await Promise.all([
    listDatabases(wrangler),
    namespaceId(wrangler, plan.namespace),
    secretNames(wrangler, plan.worker),
    boundHomes(wrangler, plan.worker),
  ]);
  const database = databases.find(({ name }) => name === plan.database);
  return { databases, database, namespace, secrets, homes };
}

/** Creates what is missing, each home in its place, reports each thing to `tell`, and returns the ids. @throws Stopped */
export async function createMissing(
  wrangler: Wrangler,
  plan: Plan,
  found: Found,
  homes: [Home, ...Home[]],
  tell: (line: string) => void,
): Promise<Ids> {
  const create = async (what: string, args: string[]) => {
    await must(`Creating the ${what}`, wrangler(args));
    tell(`Created the ${what}`);
  };
  const [main] = homes;
  if (!found.namespace)
    await create(`KV namespace ${plan.namespace}`, [
      ...['kv', 'namespace', 'create', plan.namespace],
      ...placeFlags('namespace', main.place),
    ]);
  const buckets = new Set<string>();
  for (const { name, place, ...home } of homes) {
    if (!home.found)
      await create(`database ${home.database}`, [
        ...['d1', 'create', home.database],
        ...placeFlags('database', place),
      ]);
    for (const queue of home.missingQueues)
      await create(`queue ${queue}`, ['queues', 'create', queue, ...placeFlags('queue', place)]);
    if (await ensureBucket(wrangler, home.bucket, place, tell)) buckets.add(name);
  }
  const databases = homes.every((home) => home.found) ? found.databases : await listDatabases(wrangler);
  const namespace = found.namespace ?? (await namespaceId(wrangler, plan.namespace));
  const ids = homes.map(({ name, database, place, found }) => ({
    name,
    database: (found ?? databases.find((one) => one.name === database))?.id ?? '',
    bucket: buckets.has(name),
    jurisdiction: place.jurisdiction,
  }));
  if (!namespace || ids.some(({ database }) => !database))
    throw new Stopped('Cloudflare does not list yet what was created. Wait a minute and run it again.');
  return { namespace, homes: ids };
}

/** Returns false for an account that has not turned on R2: the service works without an archive. @throws Stopped */
async function ensureBucket(
  wrangler: Wrangler,
  name: string,
  place: Place,
  tell: (line: string) => void,
): Promise<boolean> {
  const created = await wrangler(['r2', 'bucket', 'create', name, ...placeFlags('bucket', place)]);
  // Buckets of a jurisdiction are not listed with the others: asking for it again is the surest way to know.
  if (!created.ok && created.text.includes('already exists')) return true;
  if (!created.ok && /\[code: 10042\]/.test(created.text)) return false;
  await must(`Creating the bucket ${name}`, created);
  tell(`Created the bucket ${name}`);
  return true;
}

async function listDatabases(wrangler: Wrangler): Promise<NamedDatabase[]> {
  const { out } = await must('Looking for the databases', wrangler(['d1', 'list', '--json']));
  const all = v.parse(Databases, JSON.parse(out));
  return all.map(({ uuid, name, jurisdiction }) => ({ id: uuid, name, jurisdiction }));
}

async function namespaceId(wrangler: Wrangler, wanted: string): Promise<string | undefined> {
  const { out } = await must('Looking for the KV namespace', wrangler(['kv', 'namespace', 'list']));
  return v.parse(Namespaces, JSON.parse(out)).find(({ title }) => title === wanted)?.id;
}

async function secretNames(wrangler: Wrangler, worker: string): Promise<string[]> {
  const output = await wrangler(['secret', 'list', '--name', worker]);
  if (!output.ok && output.text.includes(`Worker "${worker}" not found`)) return [];
  const { out } = await must('Looking for the secrets', output);
  return v.parse(Secrets, JSON.parse(out)).map(({ name }) => name);
}
