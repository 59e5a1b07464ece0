import { createHash } from 'node:crypto';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Context, Hono } from 'hono';

/** A Cloudflare account: what it holds, and the part of its REST API that a deploy uses. */
export type Cloudflare = {
  id: string;
  databases: Database[];
  namespaces: { id: string; title: string; jurisdiction?: string }[];
  buckets: { name: string; location?: string; jurisdiction?: string }[];
  r2: boolean;
  queues: { queue_id: string; queue_name: string; jurisdiction?: string; consumers: Consumer[] }[];
  workers: Map<string, Worker>;
  /** The requests, in order, as `METHOD path` with `:id` for ids. */
  calls: string[];
  /** A database in which migrations fail, by its name. */
  brokenDatabase?: string;
  /** How often wrangler still looks in vain for a Worker that it has uploaded. */
  lateWorker?: number;
  /** A compatibility flag that it does not know. */
  unknownFlag?: string;
  logpush: boolean;
  /** Hosts with DNS records of something else. */
  records: string[];
  api: Hono;
};
/** A database with the hint of where it should run, and whether it has replicas. */
type Database = {
  uuid: string;
  name: string;
  region?: string;
  jurisdiction: string | null;
  replicated?: boolean;
  sql: DatabaseSync;
};
type Consumer = { consumer_id: string; type: string; script: string; settings: object };

/** A Worker as it was uploaded last; secrets outlive uploads that do not name them. */
type Worker = {
  bindings: Binding[];
  placement?: object;
  flags?: string[];
  secrets: Map<string, string>;
  crons: string[];
  domains: string[];
  isAtWorkersDev: boolean;
  log: { logpush?: boolean; observability?: object };
  version?: string;
};
export type Binding = { type: string; name: string } & {
  [about in 'id' | 'text' | 'namespace_id' | 'service']?: string;
};

/** A Worker that was uploaded, and nothing more. */
export const newWorker = (): Worker => ({
  bindings: [],
  secrets: new Map(),
  crons: [],
  domains: [],
  isAtWorkersDev: false,
  log: {},
  version: 'v',
});

/** An empty account. Its Workers are served at `*.acme.workers.dev`. */
export function newAccount(): Cloudflare {
  const api = new Hono();
  const account: Cloudflare = {
    id: crypto.randomUUID().replaceAll('-', ''),
    ...{
      databases: [],
      namespaces: [],
      buckets: [],
      r2: true,
      logpush: true,
      records: [],
      queues: [],
      workers: new Map(),
      calls: [],
      api,
    },
  };
  api.use(async (c, next) => {
    const path = c.req.path
      .replace(`/accounts/${account.id}/`, '')
      .replace(/[0-9a-f-]{36}/g, ':id');
    account.calls.push(`${c.req.method} ${path}`);
    return next();
  });
  api.get('/accounts', (c) => respond(c, [{ id: account.id, name: 'Acme' }]));
  const own = api.basePath(`/accounts/${account.id}`);
  for (const serve of [databases, buckets, queues, workers]) serve(own, account);
  own.get('/storage/kv/namespaces', (c) => respond(c, page(c, account.namespaces)));
  own.post('/storage/kv/namespaces', async (c) => {
    account.namespaces.push({
      ...(await c.req.json()),
      id: crypto.randomUUID().replaceAll('-', ''),
    });
    return respond(c, account.namespaces.at(-1));
  });
  api.notFound((c) => refuse(c, 404, 7003, `Nothing answers ${c.req.method} ${c.req.path}`));
  return account;
}

const respond = (c: Context, result: unknown) =>
  c.json({ success: true, errors: [], messages: [], result });
const refuse = (c: Context, status: 400 | 404, code: number, message: string) =>
  c.json({ success: false, errors: [{ code, message }], messages: [], result: null }, status);

function page<T>(c: Context, list: T[]): T[] {
  const size = Number(c.req.query('per_page') ?? 100);
  return list.slice((Number(c.req.query('page') ?? 1) - 1) * size).slice(0, size);
}

function databases(api: Hono, account: Cloudflare): void {
  const databaseOf = (c: Context): Database => {
    const found = account.databases.find(({ uuid }) => uuid === c.req.param('uuid'));
    if (!found) throw new Error('The database could not be found');
    return found;
  };
  api.get('/d1/database', (c) =>
    respond(
      c,
      page(
        c,
        account.databases.map(({ sql: _, ...shown }) => shown),
      ),
    ),
  );
  api.post('/d1/database', async (c) => {
    const { name, primary_location_hint: region, jurisdiction = null } = await c.req.json();
    const database = { uuid: crypto.randomUUID(), name, region, jurisdiction };
    account.databases.push({ ...database, sql: new DatabaseSync(':memory:') });
    return respond(c, database);
  });
  api.get('/d1/database/:uuid', (c) => {
    const { sql: _, replicated, ...shown } = databaseOf(c);
    return respond(c, { ...shown, read_replication: { mode: replicated ? 'auto' : 'disabled' } });
  });
  api.put('/d1/database/:uuid', async (c) => {
    const { read_replication } = await c.req.json<{ read_replication: { mode: string } }>();
    databaseOf(c).replicated = read_replication.mode === 'auto';
    return respond(c, { read_replication });
  });
  api.post('/d1/database/:uuid/query', async (c) => {
    const { sql, params = [] } = await c.req.json<{ sql: string; params?: SQLInputValue[] }>();
    const results = databaseOf(c)
      .sql.prepare(sql)
      .all(...params);
    // As D1 says for a hint such as `weur`.
    const meta = { duration: 1, served_by_region: databaseOf(c).region?.toUpperCase() };
    return respond(c, [{ results, success: true, meta }]);
  });
  let file = '';
  api.put('/d1/upload', async (c) => {
    file = await c.req.text();
    return c.body(null, 200, { etag: createHash('md5').update(file).digest('hex') });
  });
  api.post('/d1/database/:uuid/import', async (c) => {
    const { action, etag } = await c.req.json();
    const upload_url = c.req.url.replace(/database.*/, 'upload');
    if (action === 'init') return respond(c, { success: true, upload_url, filename: etag });
    const { name, sql } = databaseOf(c);
    if (name === account.brokenDatabase) return refuse(c, 400, 7500, 'disk I/O error');
    sql.exec(file);
    const result = { num_queries: 1, meta: { duration: 1 } };
    return respond(c, { success: true, status: 'complete', messages: [], result });
  });
}

function buckets(api: Hono, account: Cloudflare): void {
  const bucketOf = (c: Context, name: string) =>
    account.buckets.find(
      (one) => one.name === name && one.jurisdiction === c.req.header('cf-r2-jurisdiction'),
    );
  api.post('/r2/buckets', async (c) => {
    if (!account.r2)
      return refuse(c, 400, 10_042, 'Please enable R2 through the Cloudflare Dashboard.');
    const { name, locationHint: location } = await c.req.json();
    if (bucketOf(c, name))
      return refuse(
        c,
        400,
        10_004,
        'The bucket you tried to create already exists, and you own it.',
      );
    const jurisdiction = c.req.header('cf-r2-jurisdiction');
    account.buckets.push({ name, location, ...(jurisdiction && { jurisdiction }) });
    return respond(c, {});
  });
  api.get('/r2/buckets/:name', (c) => {
    const bucket = bucketOf(c, c.req.param('name'));
    return bucket
      ? respond(c, bucket)
      : refuse(c, 404, 10_006, 'The specified bucket does not exist.');
  });
}

function queues(api: Hono, { queues }: Cloudflare): void {
  const consumersOf = (c: Context) =>
    queues.find(({ queue_id }) => queue_id === c.req.param('id'))?.consumers ?? [];
  api.get('/queues', (c) => {
    const name = c.req.query('name');
    return respond(
      c,
      page(c, queues).filter(({ queue_name }) => !name || queue_name === name),
    );
  });
  api.post('/queues', async (c) => {
    queues.push({ ...(await c.req.json()), queue_id: crypto.randomUUID(), consumers: [] });
    return respond(c, queues.at(-1));
  });
  api.post('/queues/:id/consumers', async (c) => {
    const { type, script_name: script, settings } = await c.req.json();
    consumersOf(c).push({ consumer_id: crypto.randomUUID(), type, script, settings });
    return respond(c, {});
  });
  api.put('/queues/:id/consumers/:consumer', async (c) => {
    const { settings } = await c.req.json();
    for (const consumer of consumersOf(c)) consumer.settings = settings;
    return respond(c, {});
  });
}

/** Workers, and where they respond. */
function workers(api: Hono, account: Cloudflare): void {
  const { workers } = account;
  const missing = (c: Context) =>
    refuse(c, 404, 10_007, 'This Worker does not exist on your account.');
  const workerOf = (c: Context) => workers.get(c.req.param('name') ?? '') as Worker;
  const upload = async (c: Context) => {
    const metadata = JSON.parse(String((await c.req.formData()).get('metadata')));
    const { bindings, placement, compatibility_flags: flags, observability, logpush } = metadata;
    if (flags.includes(account.unknownFlag))
      return refuse(c, 400, 10_021, `No such compatibility flag: ${account.unknownFlag}`);
    const unbound = (bindings as Binding[]).find(({ service }) => service && !workers.has(service));
    if (unbound)
      return refuse(c, 400, 10_143, `Could not resolve service binding '${unbound.name}'.`);
    // Only the first upload has these; wrangler patches them later, and warns if that fails.
    if (c.req.method === 'PUT' && logpush && !account.logpush)
      return refuse(c, 400, 10_023, 'Logpush is not enabled for this account.');
    const worker = workerOf(c) ?? { ...newWorker(), log: { observability, logpush } };
    for (const { type, name: secret, text } of bindings)
      if (type === 'secret_text') worker.secrets.set(secret, text);
    const id = crypto.randomUUID();
    workers.set(c.req.param('name') ?? '', { ...worker, bindings, placement, flags, version: id });
    return respond(c, {
      id,
      deployment_id: id,
      startup_time_ms: 9,
      resources: { script: { etag: id } },
    });
  };
  api.get('/workers/subdomain', (c) => respond(c, { subdomain: 'acme' }));
  const domains = () =>
    [...workers].flatMap(([service, { domains }]) =>
      domains.map((hostname) => ({ id: hostname, hostname, service })),
    );
  api.get('/workers/domains', (c) => respond(c, domains()));
  // Like Cloudflare's own client expects, without an envelope.
  api.delete('/workers/domains/:host', (c) => {
    for (const worker of workers.values())
      worker.domains = worker.domains.filter((host) => host !== c.req.param('host'));
    return c.body(null);
  });
  api.post('/workers/scripts/:name/assets-upload-session', (c) =>
    respond(c, { jwt: 'j', buckets: [] }),
  );
  api.put('/workers/scripts/:name', upload);

  api.use('/workers/:kind/:name/:what?', async (c, next) => {
    if (!workers.has(c.req.param('name'))) return missing(c);
    await next();
  });
  api.post('/workers/scripts/:name/versions', upload);
  api.get('/workers/scripts/:name/deployments', (c) => {
    const { version: id } = workerOf(c);
    const versions = [{ version_id: id, percentage: 100 }];
    return respond(c, { deployments: [{ id, source: 'api', strategy: 'percentage', versions }] });
  });
  api.get('/workers/scripts/:name/versions/:version', (c) => {
    const { bindings, secrets, version } = workerOf(c);
    const others = bindings.filter(({ type }) => type !== 'secret_text');
    const sealed = [...secrets.keys()].map((name) => ({ type: 'secret_text', name }));
    const resources = { bindings: [...others, ...sealed], script: {}, script_runtime: {} };
    return version === c.req.param('version')
      ? respond(c, { id: version, metadata: {}, resources })
      : missing(c);
  });
  api.get('/workers/scripts/:name/secrets', (c) =>
    respond(
      c,
      [...workerOf(c).secrets.keys()].map((name) => ({ name, type: 'secret_text' })),
    ),
  );
  api.put('/workers/scripts/:name/schedules', async (c) => {
    workerOf(c).crons = (await c.req.json<{ cron: string }[]>()).map(({ cron }) => cron);
    return respond(c, {});
  });
  type Origins = { hostname: string }[];
  api.post('/workers/scripts/:name/domains/changeset', async (c) => {
    const hosts = (await c.req.json<Origins>()).map(({ hostname }) => hostname);
    const conflicting = account.records.filter((host) => hosts.includes(host));
    return respond(c, { added: [], removed: [], updated: [], conflicting });
  });
  // The complete set of a Worker's domains, as in `publishCustomDomains` of wrangler 4.156.
  api.put('/workers/scripts/:name/domains/records', async (c) => {
    const { origins, ...may } = await c.req.json();
    const hosts = (origins as Origins).map(({ hostname }) => hostname);
    if (!may.override_existing_dns_record && account.records.some((host) => hosts.includes(host)))
      return refuse(c, 400, 100_117, 'Hostname already has externally managed DNS records');
    const name = c.req.param('name');
    const isTaken = domains().some((one) => hosts.includes(one.hostname) && one.service !== name);
    if (!may.override_existing_origin && isTaken)
      return refuse(c, 400, 100_116, 'Hostname is taken');
    // A host leads to one Worker.
    for (const other of workers.values())
      other.domains = other.domains.filter((host) => !hosts.includes(host));
    workerOf(c).domains = hosts;
    return respond(c, {});
  });
  api.on(['GET', 'POST'], '/workers/scripts/:name/subdomain', async (c) => {
    const worker = workerOf(c);
    if (c.req.method === 'POST')
      worker.isAtWorkersDev = (await c.req.json<{ enabled: boolean }>()).enabled;
    return respond(c, { enabled: worker.isAtWorkersDev, previews_enabled: false });
  });
  api.get('/workers/workers/:name', (c) => {
    account.lateWorker = (account.lateWorker ?? 0) - 1;
    if (account.lateWorker >= 0) return missing(c);
    return respond(c, {
      subdomain: { enabled: workerOf(c).isAtWorkersDev, previews_enabled: false },
    });
  });
  api.on(['GET', 'PATCH'], '/workers/scripts/:name/script-settings', async (c) => {
    const change = c.req.method === 'PATCH' ? await c.req.json() : {};
    if (change.logpush && !account.logpush) return refuse(c, 400, 10_023, 'Logpush is not enabled');
    Object.assign(workerOf(c).log, change);
    return respond(c, workerOf(c).log);
  });
  /** What wrangler wants to see, though it changes nothing here. */
  const acknowledged = {
    '/workers/scripts/:name/deployments': { id: 'd' },
    '/workers/scripts/:name/settings': { bindings: [], tags: [] },
    '/workers/services/:name': { default_environment: { script: { tag: 't' } } },
  };
  for (const [path, result] of Object.entries(acknowledged))
    api.all(path, (c) => respond(c, result));
}
