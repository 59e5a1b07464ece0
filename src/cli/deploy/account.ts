import * as v from 'valibot';
import { type Database, type Place, placeFlags } from './place.ts';
import type { Ids, Plan } from './plan.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

/** The account that a deployment goes to. */
export type Account = { id: string; name: string };

/** The parts of a plan that already exist in an account: ids, and names of queues and secrets. */
export type Found = {
  database: Database | undefined;
  namespace: string | undefined;
  queues: string[];
  /** Cloudflare shows their values to nobody. */
  secrets: string[];
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
  const [database, namespace, queues, secrets] = await Promise.all([
    findDatabase(wrangler, plan.database),
    namespaceId(wrangler, plan.namespace),
    Promise.all(plan.queues.map(async (name) => ((await hasQueue(wrangler, name)) ? [name] : []))),
    secretNames(wrangler, plan.worker),
  ]);
  return { database, namespace, queues: queues.flat(), secrets };
}

/** Creates at `place` what is missing, reports each thing to `tell`, and returns the ids. @throws Stopped */
export async function createMissing(
  wrangler: Wrangler,
  plan: Plan,
  found: Found,
  place: Place,
  tell: (line: string) => void,
): Promise<Ids> {
  const create = async (what: string, args: string[]) => {
    await must(`Creating the ${what}`, wrangler(args));
    tell(`Created the ${what}`);
  };
  if (!found.database) {
    await create(`database ${plan.database}`, [
      ...['d1', 'create', plan.database],
      ...placeFlags('database', place),
    ]);
  }
  if (!found.namespace)
    await create(`KV namespace ${plan.namespace}`, [
      ...['kv', 'namespace', 'create', plan.namespace],
      ...placeFlags('namespace', place),
    ]);
  for (const queue of plan.queues.filter((name) => !found.queues.includes(name)))
    await create(`queue ${queue}`, ['queues', 'create', queue, ...placeFlags('queue', place)]);
  const bucket = await ensureBucket(wrangler, plan.bucket, place, tell);
  const database = found.database ?? (await findDatabase(wrangler, plan.database));
  const namespace = found.namespace ?? (await namespaceId(wrangler, plan.namespace));
  if (!database || !namespace)
    throw new Stopped('Cloudflare does not list yet what was created. Wait a minute and run it again.');
  return { database: database.id, namespace, bucket };
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

async function findDatabase(wrangler: Wrangler, wanted: string): Promise<Database | undefined> {
  const { out } = await must('Looking for the database', wrangler(['d1', 'list', '--json']));
  const found = v.parse(Databases, JSON.parse(out)).find(({ name }) => name === wanted);
  return found && { id: found.uuid, jurisdiction: found.jurisdiction };
}

async function namespaceId(wrangler: Wrangler, wanted: string): Promise<string | undefined> {
  const { out } = await must('Looking for the KV namespace', wrangler(['kv', 'namespace', 'list']));
  return v.parse(Namespaces, JSON.parse(out)).find(({ title }) => title === wanted)?.id;
}

async function hasQueue(wrangler: Wrangler, name: string): Promise<boolean> {
  const output = await wrangler(['queues', 'info', name]);
  if (!output.ok && output.text.includes('does not exist')) return false;
  return (await must(`Looking for the queue ${name}`, output)).ok;
}

async function secretNames(wrangler: Wrangler, worker: string): Promise<string[]> {
  const output = await wrangler(['secret', 'list', '--name', worker]);
  if (!output.ok && output.text.includes(`Worker "${worker}" not found`)) return [];
  const { out } = await must('Looking for the secrets', output);
  return v.parse(Secrets, JSON.parse(out)).map(({ name }) => name);
}
