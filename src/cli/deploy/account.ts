import * as v from 'valibot';
import type { Ids, Plan } from './plan.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

/** The account that a deployment goes to. */
export type Account = { id: string; name: string };

/** What an account has of a plan: ids, and the names of queues and secrets. */
export type Found = {
  database: string | undefined;
  namespace: string | undefined;
  queues: string[];
  /** Nobody can read what they hold. */
  secrets: string[];
};

const SignedIn = v.object({ accounts: v.array(v.object({ id: v.string(), name: v.string() })) });
const Databases = v.array(v.object({ uuid: v.string(), name: v.string() }));
const Namespaces = v.array(v.object({ id: v.string(), title: v.string() }));
const Secrets = v.array(v.object({ name: v.string() }));

/** Whose account wrangler is signed in to. @throws Stopped when to none, or to several that could be meant */
export async function chooseAccount(wrangler: Wrangler): Promise<Account> {
  const asked = await wrangler(['whoami', '--json']);
  if (!asked.ok && /"loggedIn":\s*false/.test(asked.out))
    throw new Stopped('Not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.');
  const { out } = await must('Signing in to Cloudflare', asked);
  const { accounts } = v.parse(SignedIn, JSON.parse(out));
  const chosen = process.env.CLOUDFLARE_ACCOUNT_ID;
  if (chosen) return accounts.find(({ id }) => id === chosen) ?? { id: chosen, name: 'unnamed' };
  const [only, ...others] = accounts;
  if (only && others.length === 0) return only;
  const listed = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('');
  throw new Stopped(
    only
      ? `You have several accounts. Set CLOUDFLARE_ACCOUNT_ID to the one that is meant:${listed}`
      : 'The credentials name no account. Set CLOUDFLARE_ACCOUNT_ID to its id.',
  );
}

/** Looks up what the account has already; changes nothing. @throws Stopped */
export async function lookUp(wrangler: Wrangler, plan: Plan): Promise<Found> {
  const [database, namespace, queues, secrets] = await Promise.all([
    databaseId(wrangler, plan.database),
    namespaceId(wrangler, plan.namespace),
    Promise.all(plan.queues.map(async (name) => ((await hasQueue(wrangler, name)) ? [name] : []))),
    secretNames(wrangler, plan.worker),
  ]);
  return { database, namespace, queues: queues.flat(), secrets };
}

/** Creates what is missing, telling of each thing, and answers the ids. @throws Stopped */
export async function createMissing(
  wrangler: Wrangler,
  plan: Plan,
  found: Found,
  tell: (line: string) => void,
): Promise<Ids> {
  const create = async (what: string, args: string[]) => {
    await must(`Creating the ${what}`, wrangler(args));
    tell(`Created the ${what}`);
  };
  if (!found.database) await create(`database ${plan.database}`, ['d1', 'create', plan.database]);
  if (!found.namespace)
    await create(`KV namespace ${plan.namespace}`, ['kv', 'namespace', 'create', plan.namespace]);
  for (const queue of plan.queues.filter((name) => !found.queues.includes(name)))
    await create(`queue ${queue}`, ['queues', 'create', queue]);
  const database = found.database ?? (await databaseId(wrangler, plan.database));
  const namespace = found.namespace ?? (await namespaceId(wrangler, plan.namespace));
  if (!database || !namespace)
    throw new Stopped('Cloudflare does not list yet what was created. Wait a minute and run it again.');
  return { database, namespace };
}

async function databaseId(wrangler: Wrangler, wanted: string): Promise<string | undefined> {
  const { out } = await must('Looking for the database', wrangler(['d1', 'list', '--json']));
  return v.parse(Databases, JSON.parse(out)).find(({ name }) => name === wanted)?.uuid;
}

async function namespaceId(wrangler: Wrangler, wanted: string): Promise<string | undefined> {
  const { out } = await must('Looking for the KV namespace', wrangler(['kv', 'namespace', 'list']));
  return v.parse(Namespaces, JSON.parse(out)).find(({ title }) => title === wanted)?.id;
}

async function hasQueue(wrangler: Wrangler, name: string): Promise<boolean> {
  const asked = await wrangler(['queues', 'info', name]);
  if (!asked.ok && asked.text.includes('does not exist')) return false;
  return (await must(`Looking for the queue ${name}`, asked)).ok;
}

async function secretNames(wrangler: Wrangler, worker: string): Promise<string[]> {
  const asked = await wrangler(['secret', 'list', '--name', worker]);
  if (!asked.ok && asked.text.includes(`Worker "${worker}" not found`)) return [];
  const { out } = await must('Looking for the secrets', asked);
  return v.parse(Secrets, JSON.parse(out)).map(({ name }) => name);
}
