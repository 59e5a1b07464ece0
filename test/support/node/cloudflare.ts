import { createHash } from 'node:crypto';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Context, Hono } from 'hono';

/** A database with the hint of where it should run, and whether it has replicas. */
type Database = {
  uuid: string;
  name: string;
  region?: string;
  jurisdiction: string | null;
  replicated?: boolean;
  sql: DatabaseSync;
};
type Queue = {
  queue_id: string;
  queue_name: string;
  jurisdiction?: string;
  consumers: Consumer[];
};
type Consumer = { consumer_id: string; type: string; script: string; settings: object };

export type Binding = { type: string; name: string } & {
  [about in 'id' | 'text' | 'namespace_id' | 'service']?: string;
};

/** A Worker that was uploaded, and nothing more; secrets outlive uploads that do not name them. */
export const newWorker = () => ({
  bindings: [] as Binding[],
  placement: {},
  flags: [] as string[],
  secrets: new Map<string, string>(),
  crons: [] as string[],
  domains: [] as string[],
  isAtWorkersDev: false,
  log: {} as object,
  version: 'v',
});
type Worker = ReturnType<typeof newWorker>;

/** A Cloudflare account: what it holds, and the part of its REST API that a deploy uses. */
export type Cloudflare = ReturnType<typeof newAccount>;

/** An empty account. Its Workers are served at `*.acme.workers.dev`. */
export function newAccount() {
  const api = new Hono();
  const account = {
    id: newId(),
    databases: [] as Database[],
    namespaces: [] as { id: string; title: string; jurisdiction?: string }[],
    buckets: [] as { name: string; location?: string; jurisdiction?: string }[],
    r2: true,
    queues: [] as Queue[],
    workers: new Map<string, Worker>(),
    /** The requests, in order, as `METHOD path` with `:id` for ids. */
    calls: [] as string[],
    /** A database in which migrations fail, by its name. */
    brokenDatabase: '',
    /** How often wrangler still looks in vain for a Worker that it has uploaded. */
    lateWorker: 0,
    /** A compatibility flag that it does not know. */
    unknownFlag: '',
    logpush: true,
    /** Hosts with DNS records of something else. */
    records: [] as string[],
    api,
  };
  const { id } = account;
  const own = api.basePath(`/accounts/${id}`);
  own.use(async ({ req }, next) => {
    const path = req.path.replace(`/accounts/${id}/`, '').replace(/[0-9a-f-]{36}/g, ':id');
    account.calls.push(`${req.method} ${path}`);
    await next();
  });
  api.get('/accounts', (c) => respond(c, [{ id, name: 'Acme' }]));
  for (const serve of [databases, buckets, queues, workers]) serve(own, account);
  own.get('/storage/kv/namespaces', (c) => respond(c, account.namespaces));
  own.post('/storage/kv/namespaces', async (c) => {
    account.namespaces.push({ ...(await c.req.json()), id: newId() });
    return respond(c, account.namespaces.at(-1));
  });
  api.notFound((c) => refuse(c, 404, 7003, `Nothing answers ${c.req.method} ${c.req.path}`));
  return account;
}

/** Has calls of Cloudflare's API in this process reach an account. */
export function askInstead({ api }: Cloudflare): void {
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', 'http://localhost');
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => api.request(url, init));
}

const newId = () => crypto.randomUUID().replaceAll('-', '');
const respond = (c: Context, result: unknown) =>
  c.json({ success: true, errors: [], messages: [], result });
const refuse = (c: Context, status: 400 | 404, code: number, message: string) =>
  c.json({ success: false, errors: [{ code, message }], messages: [], result: null }, status);

function databases(api: Hono, account: Cloudflare): void {
  const { databases } = account;
  const databaseOf = (c: Context) =>
    databases.find(({ uuid }) => uuid === c.req.param('uuid')) as Database; // whose id the API has given
  const shown = ({ sql: _, ...database }: Database) => database;
  api.get('/d1/database', (c) => respond(c, databases.map(shown)));
  api.post('/d1/database', async (c) => {
    const { name, primary_location_hint: region, jurisdiction = null } = await c.req.json();
    const database = { uuid: crypto.randomUUID(), name, region, jurisdiction };
    databases.push({ ...database, sql: new DatabaseSync(':memory:') });
    return respond(c, database);
  });
  api.get('/d1/database/:uuid', (c) => {
    const mode = databaseOf(c).replicated ? 'auto' : 'disabled';
    return respond(c, { ...shown(databaseOf(c)), read_replication: { mode } });
  });
  api.put('/d1/database/:uuid', async (c) => {
    const changes = await c.req.json<{ read_replication: { mode: string } }>();
    databaseOf(c).replicated = changes.read_replication.mode === 'auto';
    return respond(c, changes);
  });
  api.post('/d1/database/:uuid/query', async (c) => {
    const { sql, params = [] } = await c.req.json<{ sql: string; params?: SQLInputValue[] }>();
    const database = databaseOf(c);
    const results = database.sql.prepare(sql).all(...params);
    // As D1 says for a hint such as `weur`.
    const meta = { duration: 1, served_by_region: database.region?.toUpperCase() };
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
    if (!account.r2) return refuse(c, 400, 10_042, 'Please enable R2.');
    const { name, locationHint: location } = await c.req.json();
    if (bucketOf(c, name)) return refuse(c, 400, 10_004, 'The bucket already exists.');
    const jurisdiction = c.req.header('cf-r2-jurisdiction');
    account.buckets.push({ name, location, ...(jurisdiction && { jurisdiction }) });
    return respond(c, {});
  });
  api.get('/r2/buckets/:name', (c) => {
    const bucket = bucketOf(c, c.req.param('name'));
    return bucket ? respond(c, bucket) : refuse(c, 404, 10_006, 'The bucket does not exist.');
  });
}

function queues(api: Hono, { queues }: Cloudflare): void {
  const consumersOf = (c: Context) =>
    queues.find(({ queue_id }) => queue_id === c.req.param('id'))?.consumers ?? [];
  api.get('/queues', (c) => {
    const name = c.req.query('name');
    return respond(
      c,
      queues.filter(({ queue_name }) => !name || queue_name === name),
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
    const { bindings, version } = workerOf(c);
    const others = bindings.filter(({ type }) => type !== 'secret_text');
    const resources = { bindings: [...others, ...secretsOf(c)], script: {}, script_runtime: {} };
    return version === c.req.param('version')
      ? respond(c, { id: version, metadata: {}, resources })
      : missing(c);
  });
  const secretsOf = (c: Context) =>
    [...workerOf(c).secrets.keys()].map((name) => ({ name, type: 'secret_text' }));
  api.get('/workers/scripts/:name/secrets', (c) => respond(c, secretsOf(c)));
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
    if (account.lateWorker-- > 0) return missing(c);
    const { isAtWorkersDev: enabled } = workerOf(c);
    return respond(c, { subdomain: { enabled, previews_enabled: false } });
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
