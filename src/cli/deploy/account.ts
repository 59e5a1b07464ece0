import * as v from 'valibot';
import { type Api, granted, listed } from './api.ts';
import type { Ids, Plan } from './plan.ts';
import type { Residency, Vars } from './settings.ts';
import { must, notSignedIn, Stopped, type Wrangler } from './wrangler.ts';

export type CloudflareAccount = { id: string; name: string };

/**
 * What an account has already: a database, the id of a namespace, the Worker's vars, and the names of its secrets, whose
 * values Cloudflare does not reveal.
 */
export type AccountContents = Awaited<ReturnType<typeof lookUp>>;

const SignedIn = v.object({ accounts: v.array(v.object({ id: v.string(), name: v.string() })) });
const Database = v.object({ uuid: v.string(), name: v.string(), jurisdiction: v.nullish(v.string()) });
const Namespace = v.object({ id: v.string(), title: v.string() });
const Secrets = v.array(v.object({ name: v.string() }));

/** Returns the account that wrangler is signed in to. @throws Stopped when there is none, or several to choose from */
export async function chooseAccount(wrangler: Wrangler): Promise<CloudflareAccount> {
  const output = await wrangler(['whoami', '--json']);
  if (!output.ok && /"loggedIn":\s*false/.test(output.out)) throw notSignedIn();
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

/** Looks up what the account has. Changes nothing. @throws Stopped */
export async function lookUp(api: Api, plan: Plan) {
  const [databases, namespaces, secrets, vars] = await Promise.all([
    listed(api, 'Looking for the databases', '/d1/database', Database),
    listed(api, 'Looking for the KV namespace', '/storage/kv/namespaces', Namespace),
    secretNames(api, plan.worker),
    varsOf(api, plan.worker),
  ]);
  return {
    database: databases.find(({ name }) => name === plan.database),
    namespace: namespaces.find(({ title }) => title === plan.namespace)?.id,
    secrets,
    vars,
  };
}

/**
 * The place for what is missing: in the jurisdiction of the database, if that exists.
 *
 * @throws Stopped, when the database exists in another jurisdiction than requested
 */
export function placeBeside(database: AccountContents['database'], place: Residency): Residency {
  if (!database || database.jurisdiction === undefined) return place; // Cloudflare does not say
  const { name, jurisdiction } = database;
  if (place.jurisdiction && place.jurisdiction !== jurisdiction)
    throw new Stopped(
      `The database ${name} already exists ${jurisdiction ? `in the jurisdiction ${jurisdiction}` : 'without a jurisdiction'}, ` +
        `and cannot move to ${place.jurisdiction}. ` +
        'Choose another --name for a deployment there.',
    );
  return jurisdiction ? { jurisdiction } : place;
}

/** The options for Cloudflare's API that place something there. A jurisdiction overrides a location. */
function placed({ location, jurisdiction }: Residency, locationName?: string): { [name: string]: string } {
  if (jurisdiction) return { jurisdiction };
  return locationName && location ? { [locationName]: location } : {};
}

/** Creates what is missing in `place`, passes a line about each to `report`, and returns the ids. @throws Stopped */
export async function createMissing(
  api: Api,
  plan: Plan,
  found: AccountContents,
  place: Residency,
  report: (line: string) => void,
): Promise<Ids> {
  const create = async <S extends v.GenericSchema>(what: string, schema: S, path: string, body: object) => {
    const created = await granted(`Creating the ${what}`, schema, api(path, { method: 'POST', body }));
    report(`Created the ${what}`);
    return created;
  };
  const body = { title: plan.namespace, ...placed(place) };
  const namespace =
    found.namespace ??
    (await create(`KV namespace ${plan.namespace}`, Namespace, '/storage/kv/namespaces', body)).id;
  const ofDatabase = { name: plan.database, ...placed(place, 'primary_location_hint') };
  const database =
    found.database?.uuid ??
    (await create(`database ${plan.database}`, Database, '/d1/database', ofDatabase)).uuid;
  for (const queue of plan.queues)
    if (!(await hasQueue(api, queue)))
      await create(`queue ${queue}`, v.unknown(), '/queues', { queue_name: queue, ...placed(place) });
  const bucket = await ensureBucket(api, plan.bucket, place, report);
  return { namespace, database, bucket, jurisdiction: place.jurisdiction };
}

const Queues = v.array(v.object({ queue_name: v.string() }));

async function hasQueue(api: Api, name: string): Promise<boolean> {
  const queues = await granted(`Looking for the queue ${name}`, Queues, api(`/queues?page=1&name=${name}`));
  return queues.some(({ queue_name }) => queue_name === name);
}

/** Cloudflare's codes for an existing bucket, and for an account that has not turned on R2. */
const bucketExists = 10_004;
const noR2 = 10_042;

/** Returns false for an account that has not turned on R2: the service works without an archive. @throws Stopped */
async function ensureBucket(
  api: Api,
  name: string,
  place: Residency,
  report: (line: string) => void,
): Promise<boolean> {
  const { jurisdiction, ...location } = placed(place, 'locationHint');
  // Buckets of a jurisdiction are not listed with the others: creating it again is the surest check.
  const created = await api('/r2/buckets', {
    method: 'POST',
    body: { name, ...location },
    ...(jurisdiction && { headers: { 'cf-r2-jurisdiction': jurisdiction } }),
  });
  if (created.codes.includes(bucketExists)) return true;
  if (created.codes.includes(noR2)) return false;
  await granted(`Creating the bucket ${name}`, v.unknown(), created);
  report(`Created the bucket ${name}`);
  return true;
}

async function secretNames(api: Api, worker: string): Promise<string[]> {
  const outcome = await api(`/workers/scripts/${worker}/secrets`);
  if (outcome.codes.includes(noWorker)) return [];
  return (await granted('Looking for the secrets', Secrets, outcome)).map(({ name }) => name);
}

const Deployments = v.object({
  deployments: v.array(v.object({ versions: v.array(v.object({ version_id: v.string() })) })),
});
const Version = v.object({
  resources: v.object({
    bindings: v.array(v.looseObject({ type: v.string(), name: v.string(), text: v.optional(v.string()) })),
  }),
});

/** Cloudflare's code for a Worker that does not exist. */
const noWorker = 10_007;

/** The vars of the version that serves now: the memory of deploys, the same from every machine. None if it does not exist. @throws Stopped */
export async function varsOf(api: Api, worker: string): Promise<Vars> {
  const what = 'Looking for the settings of the Worker';
  const path = `/workers/scripts/${worker}`;
  const outcome = await api(`${path}/deployments`);
  if (outcome.codes.includes(noWorker)) return {};
  const { deployments } = await granted(what, Deployments, outcome);
  const version = deployments[0]?.versions[0]?.version_id;
  if (!version) return {};
  const { bindings } = (await granted(what, Version, api(`${path}/versions/${version}`))).resources;
  const texts = bindings.filter(({ type }) => type === 'plain_text');
  return Object.fromEntries(texts.map(({ name, text }) => [name, text]));
}

/** The Worker's address: its domain, or that below the account's own; that of a cell is the router's. @throws Stopped */
export async function originOf(api: Api, plan: Plan): Promise<string> {
  if (plan.origin) return plan.origin;
  if (plan.cell)
    throw new Stopped(`The cell ${plan.cell} has no address of its own: pass the router's host as --domain.`);
  const what = 'Looking for an address below workers.dev, without a --domain,';
  const { subdomain } = await granted(what, v.object({ subdomain: v.string() }), api('/workers/subdomain'));
  return `https://${plan.worker}.${subdomain}.workers.dev`;
}
