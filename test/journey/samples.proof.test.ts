// @module-tag proof
// More than 15 s: each sample is a process.
import { spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildClient, clientDirectory } from '#src/cli/client/build.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { listen, readJson, root, startProvider, times } from '#test/support/node/index.ts';
import { event, kept, type Running, startReader, vehicles } from '#test/support/node/reader.ts';
import { type Block, isOfReceivers, jsonBlocks, samples } from '#test/support/node/samples.ts';

type Kept = { id: string; sourceId?: string };
const byId = (a: Kept, b: Kept) => a.id.localeCompare(b.id);

buildClient();
const reader = await startReader();

it('each block of curl, TypeScript and Python has a name to be run by', () => {
  expect(samples.filter(({ name }) => !name)).toEqual([]);
  expect(new Set(samples.map(({ name }) => name)).size).toBe(samples.length);
});

it('each example in JSON is JSON', () => {
  expect(jsonBlocks.length).toBeGreaterThan(0);
  for (const block of jsonBlocks) expect(JSON.parse(block)).toBeTypeOf('object');
});

it('the samples in TypeScript pass the strictest types, and a wrong record does not', () => {
  const files = globSync(join(reader.folder, '*.ts'));
  const wrong = join(reader.folder, 'wrong-record.ts');
  writeFileSync(
    wrong,
    `import { ingestClient } from 'fleet-data-client';
const { ingest } = ingestClient({ baseUrl: '', ingestKey: '' });
// @ts-expect-error A trip has no name.
await ingest({ records: [{ kind: 'trip', sourceId: '1', vehicle: '2', startedAt: '', name: '' }] });`,
  );
  const options =
    '--noEmit --ignoreConfig --strict --target esnext --module esnext --moduleResolution bundler --moduleDetection force --types node';
  const types = ['--typeRoots', join(root, 'node_modules/@types')];
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    [...options.split(' '), ...types, ...files, wrong],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
});

it('every setting that a sample reads is one that the guides tell to set', () => {
  const guides = readGuides().map(({ markdown }) => markdown);
  const prose = guides.map((text) => text.replaceAll(/^```[\s\S]*?^```$/gm, '')).join('\n');
  const exported = guides.flatMap((text) => text.match(/^export .+$/gm) ?? []).join('\n');
  for (const sample of samples)
    for (const setting of settingsOf(sample)) {
      const told = prose.includes(`\`${setting}\``) || exported.includes(`${setting}=`);
      expect(told, `${setting} of ${sample.name}`).toBe(true);
    }
});

function settingsOf({ language, code }: Block): string[] {
  if (language === 'ts')
    return [...code.matchAll(/const \{ (.+) \} = process\.env/g)].flatMap(
      ([, names]) => names?.match(/\b[A-Z_]{2,}\b/g) ?? [],
    );
  const reads = language === 'bash' ? /\$\{?([A-Z_]+)/g : /environ(?:\.get\(|\[)["']([A-Z_]+)/g;
  return [...code.matchAll(reads)].flatMap(([, name]) => name ?? []);
}

it('settings.sh gives an address, a token, and in each terminal the same secret', () => {
  const settings = reader.source('settings.sh');
  expect(settings).toEqual(
    expect.arrayContaining(['BASE_URL=https://api.example.com', 'TOKEN=fds_…']),
  );
  const secret = settings.find((line) => /^WEBHOOK_SECRET=[0-9a-f]{64}$/.test(line));
  expect(secret).toBeDefined();
  for (const name of ['settings.sh', 'local.sh']) expect(reader.source(name)).toContain(secret);
});

it('the sample of vehicles in Python shows them', async () => {
  const { code, out } = await reader.run('vehicles.py');
  expect(code).toBe(0);
  for (const { vin } of vehicles) expect(out).toContain(vin);
});

/** What a proxy answers itself; undefined for what it passes on. */
type Answer = (path: string) => Response | Promise<Response> | undefined;

/** Stands before the service. Returns its URL, the paths of requests in order, and how to stop. */
async function startProxy(baseUrl: string, answer: Answer) {
  const paths: string[] = [];
  const server = await startProvider(async (request) => {
    const { pathname, search } = new URL(request.url);
    paths.push(pathname + search);
    const own = answer(pathname + search);
    if (own) return own;
    const reply = await fetch(baseUrl + pathname + search, request);
    return Response.json(await reply.json(), { status: reply.status });
  });
  return { ...server, paths };
}

/** Refuses the first call of a path as too many, or as unavailable. */
function busyOnce(busy: string, status = 429): Answer {
  const refused: string[] = [];
  return (path) => {
    if (refused.length > 0 || !path.startsWith(busy)) return undefined;
    refused.push(path);
    const message = { status, message: 'Not now' };
    return Response.json(message, { status, headers: { 'Retry-After': '1' } });
  };
}

it('all-vehicles.ts reads the list with the typed client, and waits for Retry-After', async () => {
  const proxy = await startProxy(reader.stack.baseUrl, busyOnce('/vehicles'));
  const began = Date.now();
  const { code, out } = await reader.run('all-vehicles.ts', { BASE_URL: proxy.url });
  proxy.stop();
  expect(code, out).toBe(0);
  expect(Date.now() - began).toBeGreaterThan(1000);
  expect(proxy.paths).toEqual(['/vehicles', '/vehicles']);
  for (const { vin } of vehicles) expect(out).toContain(vin);
});

it('the typed client registers a webhook, verifies deliveries, and throws refusals', async () => {
  const { fleetClient, verify } = await import(join(clientDirectory, 'index.js'));
  const fleet = fleetClient({ baseUrl: reader.stack.baseUrl, token: reader.us.token });
  const { promise: received, resolve } = Promise.withResolvers<[string, IncomingHttpHeaders]>();
  const receiver = await listen(reader.stack.certificates, 0, async (request, response) => {
    resolve([await text(request), request.headers]);
    response.writeHead(204).end();
  });
  const webhook = {
    connectionIds: [reader.us.connectionId],
    httpVerb: 'POST',
    notificationTypes: [2],
  };
  const { data } = await fleet.createWebhook({ ...webhook, url: receiver.url, signing: true });
  await reader.us.send([event('signed', 0)]);
  const [body, headers] = await received;
  for (const one of [headers, new Headers(headers as HeadersInit)])
    expect(verify(body, one, data.signingSecret)).toMatchObject({
      data: { vehicleName: 'Truck A' },
    });
  expect(() => verify(`${body} `, headers, data.signingSecret)).toThrow('No matching signature');
  await fleet.deleteWebhook({ id: data.id });
  receiver.stop();
  await expect(fleet.getVehicle({ id: 'none' })).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
    message: expect.stringMatching(/^Request .* 404: Vehicle not found \(request [0-9a-f-]{36}\)$/),
  });
  const named: string[] = [];
  const pages = { 'Connection-Id': reader.us.connectionId, limit: 2 };
  for await (const { name } of fleet.listVehicles.items(pages)) named.push(name);
  expect(named.sort()).toEqual(vehicles.map(({ name }) => name));
});

it('changes.ts begins with now, and then shows what has changed since it last ran', async () => {
  const { run, us } = reader;
  const cwd = reader.folderFor('changes');
  const changed = async () => {
    const { code, out } = await run('changes.ts', {}, cwd);
    expect(code).toBe(0);
    return [...out.matchAll(/"sourceId":"(changed \d+)"/g)].map(([, name]) => name);
  };
  expect(await changed()).toEqual([]);
  const names = times(60, (at) => `changed ${at}`);
  await us.send(
    names.map((name) => event(name, 500)),
    false,
  );
  expect(await changed()).toEqual(names);
  expect(await changed()).toEqual([]);
});

describe.each(['ts', 'py'])('sync.%s', (language) => {
  const cwd = reader.folderFor(`sync-${language}`);
  const sourceIds = (file: string) => kept(cwd, file).map(({ sourceId }) => sourceId);
  const state = () => readJson(cwd, 'sync-state.json');

  /** Runs the sync through a proxy; answers what it printed, and what it asked for. */
  const sync = async (answered: Answer, began = (_: Running) => {}) => {
    const proxy = await startProxy(reader.stack.baseUrl, answered);
    const settings = { BASE_URL: proxy.url, PAGE_SIZE: '2' };
    const running = reader.start(`sync.${language}`, settings, cwd);
    began(running);
    const code = await running.ended;
    proxy.stop();
    const lists = [...new Set(proxy.paths.map((path) => path.split('?')[0]))];
    return { code, out: running.printed, first: proxy.paths[0], lists };
  };

  /** What the files hold of each item that is there, which is all that the lists show. */
  const expectComplete = async () => {
    for (const [file, path] of [
      ['vehicles.ndjson', '/vehicles?limit=500'],
      ['safety-events.ndjson', '/safety-events?limit=500&from=2026-01-01&to=2100-01-01'],
    ] as const) {
      const copy = new Map(kept(cwd, file).map((item) => [item.id, item]));
      const there = [...copy.values()].filter((item) => !('deleted' in item));
      const data = await reader.us.get<Kept[]>(path);
      expect(there.sort(byId)).toEqual(data.sort(byId));
    }
  };

  it('that is killed resumes from its cursor, waits if asked, and has everything', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'].map((name) => `${language} ${name}`);
    const history = names.map((name, at) => event(name, 120 + at));
    await reader.us.send(history, false);
    let running: Running | undefined;
    let calls = 0;
    const fourth = () => {
      if (++calls === 4) running?.child.kill('SIGKILL');
      return calls >= 4 ? new Promise<Response>(() => {}) : undefined;
    };
    await sync(fourth, (started) => {
      running = started;
    });
    expect(kept(cwd, 'vehicles.ndjson').length).toBe(4);
    const { '/vehicles': cursor } = state().lists;

    const resumed = await sync(busyOnce('/safety-events'));
    expect(resumed.out).toContain('429: waiting 1 s');
    expect(resumed.code).toBe(0);
    expect(resumed.first).toContain(`cursor=${cursor}`);
    expect(sourceIds('safety-events.ndjson')).toEqual(expect.arrayContaining(names));
    await expectComplete();
  });

  it('reads only what changed the next time: new, late, corrected or renamed', async () => {
    const corrected = { ...event(`${language} one`, 120), eventRisk: 5 };
    const late = event(`${language} late`, 60 * 24 * 60);
    await reader.us.send([late, corrected, event(`${language} new`, 0)], false);
    await reader.us.send([{ ...vehicles[0], name: `Renamed for ${language}` }], false);
    const { code, out, lists } = await sync(() => undefined);
    expect([code, lists]).toEqual([0, ['/changes']]);
    expect(out).toContain('/changes: 4 items');
    await expectComplete();
  });

  it('takes out what was deleted', async () => {
    const [gone] = kept(cwd, 'safety-events.ndjson');
    const resume = state().resume;
    const deletion = { kind: 'safetyEvent', id: gone?.id, action: 'deleted', data: null };
    const replies = [Response.json({ status: 200, data: [deletion], next: resume, resume })];
    await sync(() => replies.pop());
    expect(kept(cwd, 'safety-events.ndjson').at(-1)).toEqual({ id: gone?.id, deleted: true });
  });

  it('starts over when its cursor has expired', async () => {
    const body = {
      status: 400,
      message: 'Cursor has expired',
      requestId: 'r',
      errors: [{ field: 'cursor' }],
    };
    const refused = await sync(() => Response.json(body, { status: 400 }));
    expect(refused.out).toContain('400 Cursor has expired (request r)');
    const { code, first, lists } = await sync(() => undefined);
    expect([code, lists]).toEqual([0, ['/changes', '/vehicles', '/safety-events']]);
    expect(first).toContain('cursor=now');
    await expectComplete();
  });
});

it('send-records.ts sends records, again if it must, and shows what is wrong', async () => {
  const proxy = await startProxy(reader.stack.baseUrl, busyOnce('/ingest', 503));
  const INGEST_KEY = reader.us.ingestKey;
  const { code, out } = await reader.run('send-records.ts', { BASE_URL: proxy.url, INGEST_KEY });
  proxy.stop();
  expect(code, out).toBe(0);
  expect(proxy.paths).toEqual(['/ingest', '/ingest']);
  expect(out.trim()).toBe('year must be a whole number from 1900 to 2100; its value was dropped');
});

it('every other sample in TypeScript and Python has been run', () => {
  const others = samples.filter((sample) => sample.language !== 'bash' && !isOfReceivers(sample));
  expect([...reader.ran]).toEqual(expect.arrayContaining(others.map(({ name }) => name)));
});
