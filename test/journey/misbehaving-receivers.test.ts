import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/cli/local/dev.ts';
import { runtimeMemory } from '../../src/cli/local/memory.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { operatorOf } from '../../src/cli/operate/client.ts';
import type { Delivery } from '../../src/operator/api/webhooks.ts';
import { addWebhook, api, journeyAccount, stackFolder, until } from '../support/node/journey.ts';
import {
  type Expected,
  misbehaviours,
  type RawServer,
  rudeServers,
  serveTcp,
  serveTls,
  spoiltBodies,
} from '../support/node/misbehaving.ts';

/** More than the runtime may grow by, in MB, whatever its receivers send. */
const maxGrowth = 200;

const folder = stackFolder();
const { directory } = folder;
const servers: RawServer[] = [];
const hooks: Record<string, string> = {};
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
let idleMemory: number;
let peakMemory = 0;
let healthyCalls = 0;
/** Lets go of the requests that a receiver holds, the retries included, by its name. */
const held = new Map<string, () => void>();
const calls: Record<string, number> = {};

/** Certificates of one authority, which the service is told to trust. */
async function certificates() {
  const soon = new Date(Date.now() + 86_400_000);
  const authority = await generate([{ name: 'commonName', value: 'A test' }], {
    notAfterDate: soon,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const leaf = async (host: string, days: [from: number, to: number], isVouchedFor = true) => {
    const [notBeforeDate, notAfterDate] = days.map((day) => new Date(Date.now() + day * 86_400_000));
    const pair = await generate([{ name: 'commonName', value: host }], {
      ...(notBeforeDate && { notBeforeDate }),
      ...(notAfterDate && { notAfterDate }),
      ...(isVouchedFor && { ca: { key: authority.private, cert: authority.cert } }),
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
    });
    return { cert: pair.cert, key: pair.private };
  };
  const good = await leaf('localhost', [-1, 1]);
  writeFileSync(join(directory, 'localhost.pem'), good.cert);
  writeFileSync(join(directory, 'localhost.key'), good.key);
  writeFileSync(join(directory, 'ca.pem'), authority.cert);
  return {
    good,
    bad: {
      "has another host's certificate": await leaf('other.example', [-1, 1]),
      'has an expired certificate': await leaf('localhost', [-3, -2]),
      'has a certificate from tomorrow': await leaf('localhost', [1, 2]),
      'has a certificate that nobody vouches for': await leaf('localhost', [-1, 1], false),
    },
  };
}

/** Says that it closes the connection: otherwise the next call may be sent on it, and fail. */
const reply = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';

beforeAll(async () => {
  const { good, bad } = await certificates();
  stack = await folder.start();
  us = await journeyAccount(stack);

  const serving = async (starting: Promise<RawServer>): Promise<string> => {
    const server = await starting;
    servers.push(server);
    return `https://localhost:${server.port}`;
  };
  const scripted = await serving(
    serveTls(good, (name, socket) => {
      calls[name] = (calls[name] ?? 0) + 1;
      if (name === 'healthy') healthyCalls++;
      const others = held.get(name);
      const respond = () => socket.end(reply);
      if (name.startsWith('held')) held.set(name, () => [others?.(), respond()]);
      else respond();
    }),
  );
  const urls: Record<string, string> = {
    'is not there': `https://localhost:${await freePort()}/`,
    'has no address': 'https://no-such-host.example.com/',
  };
  for (const name of ['healthy', 'held, deleted', 'held, moved'])
    urls[name] = `${scripted}/${encodeURIComponent(name)}`;
  // Each on a port of its own: what one leaves on a connection must not reach another.
  for (const [name, { does, early }] of Object.entries({ ...misbehaviours, ...spoiltBodies }))
    urls[name] = await serving(serveTls(good, (_, socket) => does(socket), early));
  for (const [name, { does }] of Object.entries(rudeServers)) urls[name] = await serving(serveTcp(does));
  for (const [name, pair] of Object.entries(bad))
    urls[name] = await serving(serveTls(pair, (_, socket) => socket.end(reply)));
  for (const [name, url] of Object.entries(urls)) {
    hooks[name] = await addWebhook(stack, us, url);
  }
  await event('first');
  await until('the healthy receiver is called', () => healthyCalls === 1);
  idleMemory = await runtimeMemory(directory);
  const watch = setInterval(async () => {
    peakMemory = Math.max(peakMemory, await runtimeMemory(directory).catch(() => 0));
  }, 250);
  return () => clearInterval(watch);
});
afterAll(async () => {
  for (const server of servers) server.stop();
  await stack.stop();
  folder.remove();
});

const event = (sourceId: string) =>
  api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'v', name: 'V' },
      {
        kind: 'safetyEvent',
        sourceId,
        vehicle: 'v',
        incidentTypes: ['Crash'],
        startedAt: '2026-11-20T20:00:00Z',
      },
    ],
  });

const deliveries = (name: string) =>
  operatorOf(stack.baseUrl, stack.operatorKey).call('GET /deliveries', {
    query: { webhookId: hooks[name] ?? '' },
  });

/** The oldest delivery of a receiver, once it has been attempted. */
async function attempted(name: string): Promise<Delivery> {
  let shown: Delivery | undefined;
  await until(
    `a first attempt at the receiver that ${name}`,
    async () => {
      shown = (await deliveries(name)).at(-1);
      return (shown?.log.length ?? 0) > 0;
    },
    60,
  );
  if (!shown) throw new Error('it was there a moment ago');
  return shown;
}

const refused: Expected = { result: ['tls', 'connection'] };
const expected: [name: string, Expected][] = [
  ...Object.entries({ ...misbehaviours, ...rudeServers }).map(([name, { leads }]): [string, Expected] => [
    name,
    leads,
  ]),
  ["has another host's certificate", refused],
  ['has an expired certificate', refused],
  ['has a certificate from tomorrow', refused],
  // The local runtime has the same word for all of these; Cloudflare's network tells them apart by status.
  ...['has a certificate that nobody vouches for', 'is not there', 'has no address'].map(
    (name): [string, Expected] => [name, { result: 'connection' }],
  ),
];

// The calls are all under way already; each test waits for its own.
describe('a receiver that', () => {
  const leadsTo = async (name: string, { result, status }: Expected) => {
    const [first] = (await attempted(name)).log;
    expect([result].flat(), JSON.stringify(first)).toContain(first?.result);
    if (status !== undefined) expect(first?.status).toBe(status);
    if (result === 'timeout') expect(Math.round((first?.durationMs ?? 0) / 1000)).toBe(15);
    expect((first?.answer ?? '').length).toBeLessThanOrEqual(1024);
  };
  it.each(expected)('%s', leadsTo);
  it.each(Object.entries(spoiltBodies).map(([name, { leads }]): [string, Expected] => [name, leads]))(
    '%s',
    leadsTo,
  );
});

describe('during a call', () => {
  it('a webhook may be deleted: it gets nothing more', async () => {
    await until('the call is held', () => held.has('held, deleted'));
    const before = calls['held, deleted'];
    expect(await api(stack, us.token, 'DELETE', `/webhook/${hooks['held, deleted']}`)).toMatchObject({
      status: 200,
    });
    await event('after the deletion');
    held.get('held, deleted')?.();
    await until('others have been called', () => healthyCalls >= 2);
    expect(calls['held, deleted']).toBe(before);
  });

  it('a webhook may be moved: the call counts, and the next goes to its new place', async () => {
    await until('the call is held', () => held.has('held, moved'));
    const moved = {
      connectionIds: [us.connectionId],
      url: `https://localhost:${servers[0]?.port}/moved`,
      httpVerb: 'POST',
      notificationTypes: [2],
    };
    expect(await api(stack, us.token, 'PUT', `/webhook/${hooks['held, moved']}`, moved)).toMatchObject({
      status: 200,
    });
    const before = calls['held, moved'];
    held.get('held, moved')?.();
    await event('after the move');
    await until('the new place is called', () => (calls.moved ?? 0) > 0, 30);
    expect(calls['held, moved']).toBe(before);
  });
});

it('afterwards a healthy receiver gets what comes next, at once', async () => {
  const before = healthyCalls;
  const began = Date.now();
  await event('afterwards');
  await until('it has come', () => healthyCalls > before, 10);
  expect(Date.now() - began).toBeLessThan(5000);
  await until('all of it is recorded', async () =>
    (await deliveries('healthy')).every(({ status }) => status === 'delivered'),
  );
});

it('and the memory of the service is what it was, or nearly', async () => {
  expect(peakMemory).toBeGreaterThan(0);
  expect(peakMemory - idleMemory).toBeLessThan(maxGrowth);
});
