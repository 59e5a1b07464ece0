import { mainHome } from './names.ts';

export { homeName, mainHome } from './names.ts';

/**
 * A home is a D1 database with its queue and its archive. To the rest of the service a home is an `Env` with its own
 * `DB`, `DELIVERIES` and `ARCHIVE`, so that nothing else knows in which home it works.
 */
type Family = { name: string; homes: Map<string, Env> };

const families = new WeakMap<Env, Family>();

/** The homes of this deployment by name: `main`, and one for each other `DB_…` binding. */
export const homesOf = (env: Env): Map<string, Env> => familyOf(env).homes;

export const nameOf = (env: Env): string => familyOf(env).name;

export const hasHomes = (env: Env): boolean => homesOf(env).size > 1;

export const otherHomes = (env: Env): [string, Env][] =>
  [...homesOf(env)].filter(([name]) => name !== nameOf(env));

/** The same homes, with their databases wrapped. */
export function withDatabases(env: Env, wrap: (db: D1Database) => D1Database): Env {
  const { name, homes } = familyOf(env);
  const wrapped = new Map([...homes].map(([other, home]) => [other, { ...home, DB: wrap(home.DB) }]));
  for (const [other, home] of wrapped) families.set(home, { name: other, homes: wrapped });
  return wrapped.get(name) ?? env;
}

function familyOf(env: Env): Family {
  const known = families.get(env);
  if (known) return known;
  const homes = new Map([[mainHome, env]]);
  for (const binding of Object.keys(env)) {
    const name = /^DB_([A-Z][A-Z0-9]{0,15})$/.exec(binding)?.[1]?.toLowerCase();
    if (name) homes.set(name, homeEnv(env, name));
  }
  for (const [name, home] of homes) families.set(home, { name, homes });
  return { name: mainHome, homes };
}

function homeEnv(env: Env, name: string): Env {
  const suffix = name.toUpperCase();
  const bindings = env as unknown as { [binding: string]: unknown }; // wrangler only knows those of main
  const { [`DB_${suffix}`]: db, [`DELIVERIES_${suffix}`]: queue, [`ARCHIVE_${suffix}`]: archive } = bindings;
  if (!queue) throw new Error(`The home ${name} has DB_${suffix} and no DELIVERIES_${suffix}`);
  return {
    ...env,
    DB: db as D1Database,
    DELIVERIES: addressed(queue as Queue, name),
    ARCHIVE: archive as R2Bucket, // without one nothing is archived, as in main
  };
}

/** The home's queue, whose messages carry its name. */
function addressed(queue: Queue, home: string): Queue {
  const named = (body: unknown) => ({ ...(body as object), home });
  return {
    metrics: () => queue.metrics(),
    send: (body: unknown, options?: QueueSendOptions) => queue.send(named(body), options),
    sendBatch: (messages: Iterable<MessageSendRequest>, options?: QueueSendBatchOptions) =>
      queue.sendBatch(
        [...messages].map((message) => ({ ...message, body: named(message.body) })),
        options,
      ),
  } as Queue;
}
