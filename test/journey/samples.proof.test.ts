// More than 15 s: each sample is a process.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildClient, clientDirectory } from '#src/cli/client/build.ts';
import { listen } from '#src/cli/local/receiver.ts';
import { root } from '#src/cli/project/paths.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { listed, until } from '#test/support/node/journey.ts';
import { type Answer, startProxy } from '#test/support/node/proxy.ts';
import { event, kept, startReader, vehicles } from '#test/support/node/reader.ts';
import {
  isOfReceivers,
  jsonBlocks,
  type Running,
  type Sample,
  samples,
} from '#test/support/node/samples.ts';

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
  const files = samples
    .filter(({ language }) => language === 'ts')
    .map(({ name }) => join(reader.folder, name));
  const wrong = join(reader.folder, 'wrong-record.ts');
  writeFileSync(
    wrong,
    `import { ingestClient } from 'fleet-data-client';
const { ingest } = ingestClient({ baseUrl: '', ingestKey: '' });
// @ts-expect-error A trip has no name.
await ingest({ records: [{ kind: 'trip', sourceId: '1', vehicle: '2', startedAt: '', name: '' }] });`,
  );
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      ...[join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--ignoreConfig', '--strict'],
      ...['--target', 'esnext', '--module', 'esnext', '--moduleResolution', 'bundler'],
      ...[
        '--moduleDetection',
        'force',
        '--types',
        'node',
        '--typeRoots',
        join(root, 'node_modules/@types'),
      ],
      ...[...files, wrong],
    ],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
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
  expect(samples.flatMap(settingsOf)).toEqual(
    expect.arrayContaining(['PAGE_SIZE', 'WEBHOOK_ID', 'TLS_KEY']),
  );
});

function settingsOf({ language, code }: Sample): string[] {
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
  const secret = settings.filter((line) => /^WEBHOOK_SECRET=[0-9a-f]{64}$/.test(line));
  expect(secret).toHaveLength(1);
  expect(reader.source('settings.sh')).toEqual(expect.arrayContaining(secret));
  expect(reader.source('local.sh')).toEqual(expect.arrayContaining(secret));
});

it('the sample of vehicles in Python shows them', async () => {
  const { code, out } = await reader.run('vehicles.py', reader.settings);
  expect(code).toBe(0);
  for (const { vin } of vehicles) expect(out).toContain(vin);
});

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
  const { code, out } = await reader.run('all-vehicles.ts', {
    ...reader.settings,
    BASE_URL: proxy.url,
  });
  proxy.stop();
  expect(code, out).toBe(0);
  expect(Date.now() - began).toBeGreaterThan(1000);
  expect(proxy.paths).toEqual(['/vehicles', '/vehicles']);
  for (const { vin } of vehicles) expect(out).toContain(vin);
});

it('the typed client registers a webhook, verifies deliveries, and throws refusals', async () => {
  const { fleetClient, verify } = await import(join(clientDirectory, 'index.js'));
  const fleet = fleetClient({ baseUrl: reader.stack.baseUrl, token: reader.us.token });
  const received: [string, IncomingHttpHeaders][] = [];
  const receiver = await listen(reader.stack.certificates, 0, async (request, response) => {
    received.push([await text(request), request.headers]);
    response.writeHead(204).end();
  });
  const webhook = {
    connectionIds: [reader.us.connectionId],
    httpVerb: 'POST',
    notificationTypes: [2],
  };
  const { data } = await fleet.createWebhook({ ...webhook, url: receiver.url, signing: true });
  await reader.sendIn([event('signed', 0)]);
  await until('the event is delivered', () => received.length > 0);
  const [[body, headers] = ['', {}]] = received;
  expect(verify(body, headers, data.signingSecret)).toMatchObject({
    type: 2,
    data: { vehicleName: 'Truck A' },
  });
  expect(verify(body, new Headers(headers as HeadersInit), data.signingSecret)).toEqual(
    JSON.parse(body),
  );
  expect(() => verify(`${body} `, headers, data.signingSecret)).toThrow(
    'No matching signature found',
  );
  await fleet.deleteWebhook({ id: data.id });
  receiver.stop();
  await expect(fleet.getVehicle({ id: 'none' })).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
    message: expect.stringMatching(
      /^Request failed with status 404: Vehicle not found \(request [0-9a-f-]{36}\)$/,
    ),
    body: { requestId: expect.any(String) },
  });
  const named: string[] = [];
  const pages = { 'Connection-Id': reader.us.connectionId, limit: 2 };
  for await (const { name } of fleet.listVehicles.items(pages)) named.push(name);
  expect(named.sort()).toEqual(vehicles.map(({ name }) => name));
});

it('changes.ts begins with now, and then shows what has changed since it last ran', async () => {
  const { settings, run, sendIn } = reader;
  const cwd = reader.folderFor('changes');
  const changed = async () => {
    const { code, out } = await run('changes.ts', settings, cwd);
    expect(code).toBe(0);
    const pages = out.trim().split('\n');
    return pages.flatMap((page) =>
      JSON.parse(page).data.map((item: { data: Kept }) => item.data.sourceId),
    );
  };
  expect(await changed()).toEqual([]);
  const names = Array.from({ length: 60 }, (_, at) => `changed ${at}`);
  await sendIn(
    names.map((name) => event(name, 500)),
    false,
  );
  expect(await changed()).toEqual(names);
  expect(await changed()).toEqual([]);
  expect((await run('changes.ts', { ...settings, TOKEN: 'fds_wrong' }, cwd)).code).not.toBe(0);
});

describe.each(['ts', 'py'])('sync.%s', (language) => {
  const cwd = reader.folderFor(`sync-${language}`);
  const sourceIds = (file: string) => kept(cwd, file).map(({ sourceId }) => sourceId);
  const state = () => JSON.parse(readFileSync(join(cwd, 'sync-state.json'), 'utf8'));

  /** Runs the sync through a proxy; answers what it printed, and what it asked for. */
  const sync = async (answered: Answer, began = (_: Running) => {}) => {
    const proxy = await startProxy(reader.stack.baseUrl, answered);
    const settings = { ...reader.settings, BASE_URL: proxy.url, PAGE_SIZE: '2' };
    const running = reader.start(`sync.${language}`, settings, cwd);
    began(running);
    const code = await running.ended;
    proxy.stop();
    return {
      code,
      out: running.printed,
      asked: proxy.paths.map((path) => new URL(path, proxy.url)),
    };
  };
  const pathsOf = (asked: URL[]) => [...new Set(asked.map(({ pathname }) => pathname))];

  /** What the files hold of each item that is there, which is all that the lists show. */
  const expectComplete = async () => {
    for (const [file, path] of [
      ['vehicles.ndjson', '/vehicles?limit=500'],
      ['safety-events.ndjson', '/safety-events?limit=500&from=2026-01-01&to=2100-01-01'],
    ] as const) {
      const copy = new Map(kept(cwd, file).map((item) => [item.id, item]));
      const there = [...copy.values()].filter((item) => !('deleted' in item));
      const data = await listed<Kept>(reader.stack, reader.us, path);
      expect(there.sort(byId)).toEqual(data.sort(byId));
    }
  };

  it('that is killed resumes from its cursor, waits if asked, and has everything', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'].map((name) => `${language} ${name}`);
    const history = names.map((name, at) => event(name, 120 + at));
    await reader.sendIn(history, false);
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
    expect(resumed.asked[0]?.searchParams.get('cursor')).toBe(cursor);
    expect(sourceIds('safety-events.ndjson')).toEqual(expect.arrayContaining(names));
    await expectComplete();
  });

  it('reads only what changed the next time: new, late, corrected or renamed', async () => {
    const corrected = { ...event(`${language} one`, 120), eventRisk: 5 };
    const late = event(`${language} late`, 60 * 24 * 60);
    await reader.sendIn([late, corrected, event(`${language} new`, 0)], false);
    await reader.sendIn([{ ...vehicles[0], name: `Renamed for ${language}` }], false);
    const { code, out, asked } = await sync(() => undefined);
    expect(code).toBe(0);
    expect(out).toContain('/changes: 4 items');
    expect(pathsOf(asked)).toEqual(['/changes']);
    await expectComplete();
    expect(pathsOf((await sync(() => undefined)).asked)).toEqual(['/changes']);
  });

  it('takes out what was deleted', async () => {
    const [gone] = kept(cwd, 'safety-events.ndjson');
    const resume = state().resume;
    const deletion = {
      kind: 'safetyEvent',
      id: gone?.id,
      connectionId: '',
      action: 'deleted',
      data: null,
    };
    const replies = [{ status: 200, data: [deletion], next: resume, resume }];
    await sync(() => {
      const reply = replies.pop();
      return reply && Response.json(reply);
    });
    expect(kept(cwd, 'safety-events.ndjson').at(-1)).toEqual({ id: gone?.id, deleted: true });
  });

  it('starts over when its cursor has expired', async () => {
    const errors = [{ field: 'cursor', message: 'must be at most 30 days old' }];
    const body = { status: 400, message: 'Cursor has expired', requestId: 'r', errors };
    const refused = await sync(() => Response.json(body, { status: 400 }));
    expect(refused.code).not.toBe(0);
    expect(refused.out).toContain('400 Cursor has expired (request r)');
    const { code, asked } = await sync(() => undefined);
    expect(code).toBe(0);
    expect(asked[0]?.searchParams.get('cursor')).toBe('now');
    expect(pathsOf(asked)).toEqual(['/changes', '/vehicles', '/safety-events']);
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
  const { ApiError, ingestClient } = await import(join(clientDirectory, 'index.js'));
  const { ingest } = ingestClient({ baseUrl: reader.stack.baseUrl, ingestKey: reader.us.token });
  const refusal = await ingest({ records: [{ kind: 'driver', sourceId: 'd1' }] }).catch(
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({
    status: 403,
    message: expect.stringMatching(
      /^Request failed with status 403: .+ \(request [0-9a-f-]{36}\)$/,
    ),
  });
});

it('every other sample in TypeScript and Python has been run', () => {
  const others = samples.filter((sample) => sample.language !== 'bash' && !isOfReceivers(sample));
  expect([...reader.ran]).toEqual(expect.arrayContaining(others.map(({ name }) => name)));
});
