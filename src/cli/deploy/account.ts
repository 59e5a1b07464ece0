import * as v from 'valibot';
import { type Api, listed, noWorker, Stopped } from '../project/cloudflare.ts';
import { addressesOf } from './addresses.ts';
import type { Ids, Plan } from './plan.ts';
import type { DeployedVars, Residency } from './settings.ts';

/** Kinds of stores, with what Cloudflare calls a store's name, its id, and a hint of its place. */
const kinds = {
  database: { path: '/d1/database', name: 'name', id: 'uuid', hint: 'primary_location_hint' },
  'KV namespace': { path: '/storage/kv/namespaces', name: 'title', id: 'id', hint: undefined },
  queue: { path: '/queues', name: 'queue_name', id: 'queue_id', hint: undefined },
} as const;
type Kind = keyof typeof kinds;

export type Store = { id: string; jurisdiction?: string | null | undefined };

const Listed = v.looseObject({ jurisdiction: v.nullish(v.string()) });

/** Looks for a store by its name. @throws Stopped */
async function find(api: Api, kind: Kind, name: string): Promise<Store | undefined> {
  const { path, ...keys } = kinds[kind];
  const query = kind === 'queue' ? `name=${name}&` : '';
  const all = await listed(api, `Looking for the ${kind} ${name}`, Listed, `${path}?${query}`);
  const found = all.find((one) => one[keys.name] === name);
  return found && { id: String(found[keys.id]), jurisdiction: found.jurisdiction };
}

/** What an account has already. Cloudflare names the Worker's secrets, but does not reveal them. */
export type AccountContents = Awaited<ReturnType<typeof lookUp>>;

/** Looks up what the account has. Changes nothing. @throws Stopped */
export async function lookUp(api: Api, plan: Plan) {
  const [database, namespace, addresses, worker] = await Promise.all([
    find(api, 'database', plan.database),
    find(api, 'KV namespace', plan.namespace),
    addressesOf(api, plan.worker),
    deployedAs(api, plan.worker),
  ]);
  return { database, namespace, addresses, ...worker };
}

/** The place for what is missing: the jurisdiction of a known database. @throws Stopped */
export function placeBeside(
  database: Store | undefined,
  { database: name, place }: Plan,
): Residency {
  if (database?.jurisdiction === undefined) return place; // or Cloudflare does not say
  const { jurisdiction } = database;
  if (place.jurisdiction && place.jurisdiction !== jurisdiction)
    throw new Stopped(
      `The database ${name} already exists ${jurisdiction ? `in the jurisdiction ${jurisdiction}` : 'without a jurisdiction'}, ` +
        `and cannot move to ${place.jurisdiction}. Choose another --name for a deployment there.`,
    );
  return jurisdiction ? { jurisdiction } : place;
}

/** Creates what is missing, a line about each to `report`, and returns the ids. @throws Stopped */
export async function createMissing(
  api: Api,
  plan: Plan,
  found: AccountContents,
  { location, jurisdiction }: Residency,
  report: (line: string) => void,
): Promise<Ids> {
  const idOf = async (kind: Kind, name: string, existing?: Store): Promise<string> => {
    if (existing) return existing.id;
    const { path, hint, ...keys } = kinds[kind];
    // A jurisdiction overrides a location.
    const body = {
      [keys.name]: name,
      ...(jurisdiction ? { jurisdiction } : hint && location && { [hint]: location }),
    };
    const created = await api(`Creating the ${kind} ${name}`, v.looseObject({}), path, { body });
    report(`Created the ${kind} ${name}`);
    return String(created[keys.id]);
  };
  const namespace = await idOf('KV namespace', plan.namespace, found.namespace);
  const database = await idOf('database', plan.database, found.database);
  for (const queue of plan.queues) await idOf('queue', queue, await find(api, 'queue', queue));
  // Lists leave out buckets of a jurisdiction: creating it again is the surest check.
  const bucket = await api(`Creating the bucket ${plan.bucket}`, v.unknown(), '/r2/buckets', {
    body: { name: plan.bucket, ...(location && !jurisdiction && { locationHint: location }) },
    ...(jurisdiction && { headers: { 'cf-r2-jurisdiction': jurisdiction } }),
    otherwise: { 10004: 'exists', 10042: 'R2 is off' },
  });
  if (bucket !== 'exists' && bucket !== 'R2 is off') report(`Created the bucket ${plan.bucket}`);
  return { namespace, database, bucket: bucket !== 'R2 is off', jurisdiction };
}

const Served = v.array(v.object({ meta: v.object({ served_by_region: v.optional(v.string()) }) }));

/** Where a database runs, such as `WEUR`; undefined if D1 does not say. @throws Stopped */
export async function regionOf(api: Api, database: string): Promise<string | undefined> {
  const body = { sql: 'select 1' };
  const path = `/d1/database/${database}/query`;
  const [served] = await api('Looking for the region of the database', Served, path, { body });
  return served?.meta.served_by_region;
}

const Replicated = v.object({ read_replication: v.nullish(v.object({ mode: v.string() })) });

/** Turns on read replication, unless it is on: imports fail for a while after a switch. @throws Stopped */
export async function replicate(api: Api, database: string): Promise<void> {
  const what = 'Turning on read replication';
  const path = `/d1/database/${database}`;
  const { read_replication: now } = await api(what, Replicated, path);
  const body = { read_replication: { mode: 'auto' } };
  if (now?.mode !== 'auto') await api(what, v.unknown(), path, { method: 'PUT', body });
}

type Deployed = { version: string | undefined; vars: DeployedVars; secrets: string[] };

const Deployment = v.object({ versions: v.array(v.object({ version_id: v.string() })) });
const Deployments = v.object({ deployments: v.array(Deployment) });
const Binding = v.object({ type: v.string(), name: v.string(), text: v.optional(v.string()) });
const Version = v.object({ resources: v.object({ bindings: v.array(Binding) }) });

/** The id, vars and names of secrets of the version that serves now, if any. @throws Stopped */
export async function deployedAs(api: Api, worker: string): Promise<Deployed> {
  const what = 'Looking for the settings of the Worker';
  const path = `/workers/scripts/${worker}`;
  const otherwise = noWorker({ deployments: [] });
  const { deployments } = await api(what, Deployments, `${path}/deployments`, { otherwise });
  const version = deployments[0]?.versions[0]?.version_id;
  const { resources } = version
    ? await api(what, Version, `${path}/versions/${version}`)
    : { resources: { bindings: [] } };
  const of = (kind: string) => resources.bindings.filter(({ type }) => type === kind);
  return {
    version,
    vars: Object.fromEntries(of('plain_text').map(({ name, text }) => [name, text])),
    secrets: of('secret_text').map(({ name }) => name),
  };
}
