import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Certificates, certificates } from '../../src/cli/local/certificates.ts';
import { freePort } from '../../src/cli/local/dev.ts';
import { type Listening, listen } from '../../src/cli/local/receiver.ts';
import {
  addWebhook,
  api,
  fleet,
  fleetJson,
  journeyAccount,
  type SharedStack,
  sharedStack,
  until,
} from '../support/node/journey.ts';

type Shown = {
  id: string;
  status: string;
  attempts: number;
  nextAttemptAt: string;
  log: { at: string; result: string; status?: number; durationMs: number; answer?: string }[];
};

/** How a receiver behaves, and what its deliveries come to. */
const script: Record<
  string,
  {
    does: (request: IncomingMessage, response: ServerResponse) => void;
    leads: { status: string; log: object[] };
  }
> = {
  'answers 200': {
    does: (_, response) => response.end('thanks'),
    leads: { status: 'delivered', log: [{ result: 'success', status: 200, answer: 'thanks' }] },
  },
  'answers 500': {
    does: (_, response) => response.writeHead(500).end('x'.repeat(3000)),
    leads: { status: 'pending', log: [{ result: 'status', status: 500, answer: 'x'.repeat(1024) }] },
  },
  'redirects to a private address': {
    does: (_, response) => response.writeHead(301, { location: 'https://10.0.0.1/' }).end(),
    leads: { status: 'pending', log: [{ result: 'redirect', status: 301 }] },
  },
  'answers 410': {
    does: (_, response) => response.writeHead(410).end(),
    leads: { status: 'failed', log: [{ result: 'status', status: 410 }] },
  },
  'answers 429 with Retry-After': {
    does: (_, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
    leads: { status: 'pending', log: [{ result: 'status', status: 429, retryAfter: 3_600_000 }] },
  },
  'hangs before its headers': { does: () => {}, leads: { status: 'pending', log: [{ result: 'timeout' }] } },
  'hangs in its body': {
    does: (_, response) => response.writeHead(200).write('never en'),
    leads: { status: 'delivered', log: [{ result: 'success', status: 200, answer: 'never en' }] },
  },
  'sends 1 GB': {
    does: (_, response) => {
      const block = Buffer.alloc(2 ** 20, 'a');
      let left = 1024;
      const more = () => {
        while (left-- > 0) if (!response.write(block)) return response.once('drain', more);
        return response.end();
      };
      more();
    },
    leads: { status: 'delivered', log: [{ result: 'success', status: 200, answer: 'a'.repeat(1024) }] },
  },
  'resets the connection': {
    does: (request) => request.socket.destroy(),
    leads: { status: 'pending', log: [{ result: 'connection' }] },
  },
};

const strangers = mkdtempSync(join(tmpdir(), 'fleet-stranger-'));
const servers: Listening[] = [];
let stack: SharedStack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
const hooks: Record<string, string> = {};

const listenAs = async (files: Certificates): Promise<string> => {
  const listening = await listen(files, 0, (request, response) => {
    request.resume();
    const name = decodeURIComponent((request.url ?? '').slice(1));
    script[name]?.does(request, response);
  });
  servers.push(listening);
  return listening.url;
};

beforeAll(async () => {
  stack = await sharedStack();
  us = await journeyAccount(stack);
  const scripted = await listenAs(stack.certificates);
  const urls: Record<string, string> = {
    ...Object.fromEntries(
      Object.keys(script).map((name) => [name, `${scripted}/${encodeURIComponent(name)}`]),
    ),
    'has a certificate that nobody vouches for': await listenAs(await certificates(strangers)),
    'is not there': `https://localhost:${await freePort()}/`,
    'has no address': 'https://no-such-host.example.com/',
  };
  for (const [name, url] of Object.entries(urls)) {
    hooks[name] = await addWebhook(stack, us, url);
  }
  const event = { kind: 'safetyEvent', sourceId: 'e', vehicle: 'v', incidentTypes: ['Crash'] };
  const records = [
    { kind: 'vehicle', sourceId: 'v', name: 'V' },
    { ...event, startedAt: '2026-11-20T20:00:00Z' },
  ];
  await api(stack, us.ingestKey, 'POST', '/ingest', { records });
});
afterAll(async () => {
  for (const server of servers) server.stop();
  rmSync(strangers, { recursive: true });
});

const shown = async (name: string): Promise<Shown | undefined> => {
  const list = await fleetJson<Shown[]>(stack, 'delivery', 'list', '--webhook', hooks[name] ?? '');
  return list[0];
};
const attemptedOnce = async (name: string): Promise<Shown> => {
  let found: Shown | undefined;
  await until(`a first attempt at the receiver that ${name}`, async () => {
    found = await shown(name);
    return (found?.log.length ?? 0) > 0;
  });
  return { ...(found as Shown), log: found?.log.slice(0, 1) ?? [] }; // there by now
};

it.each(Object.keys(script))('a receiver that %s', async (name) => {
  const delivery = await attemptedOnce(name);
  const { log, ...leads } = script[name]?.leads ?? { log: [] };
  expect(delivery.log).toMatchObject(log);
  if (delivery.attempts === 1) expect(delivery).toMatchObject(leads);
  const { durationMs = 0, result } = delivery.log[0] ?? {};
  if (result === 'timeout') expect(Math.round(durationMs / 1000)).toBe(15);
  else expect(durationMs).toBeLessThan(9000);
});

// The local runtime has the same words for all of these; Cloudflare's network tells them apart by status.
it.each(['has a certificate that nobody vouches for', 'is not there', 'has no address'])(
  'a receiver that %s fails as a connection',
  async (name) => {
    const { log } = await attemptedOnce(name);
    expect(log).toMatchObject([{ result: 'connection' }]);
    expect(log[0]).not.toHaveProperty('status');
  },
);

it('Retry-After has stretched the wait to double, and no further', async () => {
  const name = 'answers 429 with Retry-After';
  await until('the second attempt', async () => ((await shown(name))?.log.length ?? 0) >= 2);
  const [first, second] = (await shown(name))?.log ?? [];
  const waited = Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '');
  expect(waited).toBeGreaterThanOrEqual(10_000);
  expect(waited).toBeLessThan(14_000);
});

it('the tool limits the calls of a receiver, and refuses limits that are not valid', async () => {
  const webhook = hooks['answers 410'] ?? '';
  const limit = (...options: string[]) => fleet(stack, 'webhook', 'limit', webhook, ...options);
  expect((await limit('--in-flight', '3')).out).toMatch(/│ 3 at a time +│ 3 +│/);
  expect((await limit('--per-second', '20')).out).toContain('│ 3 at a time, 20 a second │ 3 ');
  for (const [option, value, message] of [
    ['--in-flight', '51', 'maxInFlight must be a whole number from 1 to 50'],
    ['--in-flight', 'many', 'maxInFlight must be a whole number from 1 to 50'],
    ['--per-second', '0', 'maxPerSecond must be a whole number from 1 to 1000'],
    ['--per-second', '-1', 'maxPerSecond must be a whole number from 1 to 1000'],
  ] as const)
    expect(await limit(option, value)).toMatchObject({ code: 1, err: `fleet: 400 ${message}\n` });
  const usage = 'error: give --in-flight, --per-second or both, or --default\n';
  for (const options of [[], ['--default', '--in-flight', '3']])
    expect(await limit(...options)).toMatchObject({ code: 1, err: usage });
  expect(await fleetJson(stack, 'webhook', 'limit', webhook, '--default')).toMatchObject({
    maxInFlight: null,
    maxPerSecond: null,
  });
});

it('the tool shows a delivery with its attempts, and replays what failed', async () => {
  const { id } = await attemptedOnce('answers 410');
  const { out } = await fleet(stack, 'delivery', 'show', id);
  expect(out).toMatch(/failed .*status 410/);
  expect(out).toMatch(/│ at .*│ result │ status │ durationMs │ answer/);
  expect(await fleetJson(stack, 'delivery', 'replay', id)).toEqual({ replayed: 1, more: false });
  await until('the replay has failed too', async () => (await shown('answers 410'))?.log.length === 2);
  const webhook = hooks['answers 410'] ?? '';
  const missed = ['delivery', 'replay', '--webhook', webhook];
  const question =
    'fleet: 1 delivery can be replayed. Give --yes to replay them: there is no terminal to ask at\n';
  expect(await fleet(stack, ...missed)).toMatchObject({ code: 1, err: question });
  expect((await fleet(stack, ...missed, '--dry-run')).out).toBe('1 delivery can be replayed.\n');
  expect(await fleetJson(stack, ...missed, '--yes')).toEqual({ replayed: 1, more: false });
  await until('it has failed again', async () => (await shown('answers 410'))?.log.length === 3);
  const health = await fleet(stack, 'webhook', 'list', '--account', us.accountId);
  expect(health.out).toContain(webhook);
  expect(await fleet(stack, 'delivery', 'replay')).toMatchObject({
    code: 1,
    err: 'error: give either a Delivery-Id or --webhook\n',
  });
});
