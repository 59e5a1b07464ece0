// @module-tag proof
// More than 15 s: parts of three stacks are killed and started again.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { unlimited } from '#src/cli/local/configurations.ts';
import {
  ask,
  dayMs,
  inCell,
  journeyAccount,
  keyVariable,
  operatorOf,
  ownStack,
  safetyEvent,
  startFleet,
  startReceiver,
  temporaryFolder,
  times,
  until,
  vehicle,
} from '#test/support/node/index.ts';

/** `npm run proof -- --full` runs it at full size. */
const full = process.env.FULL_PROOF === '1';
const records = full ? 100_000 : 2_000;
const perCall = 400;
/** In so many parts of copying something is killed, besides before and after. */
const stages = full ? 16 : 4;
const killed = Array(full ? 3 : 1)
  .fill(['tool', 'router', 'main', 'eu'])
  .flat();

// The router and each cell run in processes of their own, which find one another by way of the registry.
const options = { registry: temporaryFolder(), change: unlimited };
const main = ownStack({ ...options, cells: ['main'] });
beforeAll(() => {
  // Cells share ENCRYPTION_KEYS, and the receiver's certificate.
  for (const name of ['secrets.env', 'localhost.pem', 'localhost.key'])
    copyFileSync(join(main.directory, name), join(eu.directory, name));
});
const eu = ownStack({ ...options, cells: ['eu'] });
const router = ownStack({ ...options, cells: ['main', 'eu'], apart: ['main', 'eu'] });
const stacks = { main, eu, router };

/** Kills a part, as a power cut would, and starts it again. */
async function restart(part: keyof typeof stacks) {
  const stack = stacks[part];
  stack.kill();
  await stack.restart(part === 'router' ? Number(new URL(stack.baseUrl).port) : 0);
}

/** A cell as operators reach it. */
const serviceIn = (cell: 'main' | 'eu') =>
  inCell({ ...stacks[cell], baseUrl: router.baseUrl }, cell);

/** Statuses by which clients were told: nothing at all while the router is down. */
const seen = new Set<number>();

async function call(token: string, path: string, body?: object, connection = '') {
  const method = body ? 'POST' : 'GET';
  const asked = ask(router, token, method, path, body, connection);
  const reply = await asked.catch(() => undefined);
  if (!reply) return undefined;
  expect([200, 503]).toContain(reply.status);
  seen.add(reply.status);
  const envelope = await reply.json().catch(() => undefined); // cut short by a kill
  return reply.ok ? (envelope as { data: { id: string }[]; next?: string } | undefined) : undefined;
}

it(`a move of ${records} records loses and doubles nothing, whatever part is killed`, async () => {
  const us = await journeyAccount(serviceIn('main'));
  const got: string[] = [];
  const receiver = await startReceiver(main.certificates, 0, ({ body }) => {
    got.push(String(body.data.sourceId ?? body.data.eventId));
  });
  onTestFinished(() => receiver.stop());
  await us.register(receiver.url);
  const began = Date.now();
  const send = (all: object[], notify: boolean) =>
    call(us.ingestKey, '/ingest', { records: [vehicle(), ...all], notify });
  for (let at = 0; at < records; at += perCall) {
    const events = times(perCall, (i) => {
      const startedAt = new Date(began - 5 * dayMs + at + i).toISOString();
      return safetyEvent({ sourceId: `old-${at + i}`, startedAt });
    });
    expect(await send(events, false)).toBeDefined();
  }
  const operator = operatorOf(serviceIn('main'));

  // A client pages, and a connector sends, through all of it.
  let isOver = false;
  const sent: string[] = [];
  const connector = (async () => {
    for (let i = 0; !isOver; i++) {
      const sourceId = `new-${i}`;
      while (!(await send([safetyEvent({ sourceId, startedAt: new Date().toISOString() })], true)))
        await wait(200);
      sent.push(sourceId);
      await wait(100);
    }
  })();
  const range = `/safety-events?from=${new Date(began - 6 * dayMs).toISOString()}&to=2100-01-01T00:00:00Z&limit=500`;
  const readAll = async () => {
    const ids: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const path = range + (cursor && `&cursor=${cursor}`);
      const page = await call(us.token, path, undefined, us.connectionId);
      if (!page) await wait(100);
      else {
        ids.push(...page.data.map(({ id }) => id));
        cursor = page.next;
      }
    }
    return ids;
  };
  const client = (async () => {
    while (!isOver) {
      const ids = await readAll();
      expect(ids.length).toBeGreaterThanOrEqual(records);
      expect(new Set(ids).size).toBe(ids.length);
    }
  })();

  for (const name of ['main', 'eu'] as const)
    process.env[keyVariable(name)] = serviceIn(name).operatorKey;
  const tool = () =>
    startFleet(serviceIn('main'), '--json account move', us.accountId, '--to', 'eu');
  const moveOf = () =>
    operator.call('GET /accounts/:id/move', { id: us.accountId }).catch(() => undefined);
  let mover = tool();
  let last = '';
  for (const part of killed) {
    const goesOn = async () => {
      const move = await moveOf();
      if (mover.child.exitCode === 0) return true;
      if (mover.child.exitCode !== null) mover = tool(); // it says to run it again
      const now = move ? `${move.state} ${Math.floor((stages * move.copied) / move.rows)}` : last;
      if (now === last || move?.state === 'none') return false;
      last = now;
      return true;
    };
    await until(`it is no longer ${last}`, goesOn, 120);
    expect(mover.child.exitCode, `${part} is killed before the end`).not.toBe(0);
    if (part !== 'tool') await restart(part);
    else {
      mover.child.kill('SIGKILL');
      await mover.ended;
      mover = tool();
    }
  }
  while ((await mover.ended) !== 0) mover = tool();
  await until('the connector sends again', () => sent.length > 0 && got.length > 0, 60);
  const before = sent.length;
  await until('it sends to the other cell', () => sent.length > before + 3, 60);
  isOver = true;
  await Promise.all([connector, client]);

  const ids = await readAll();
  expect(ids).toHaveLength(records + sent.length);
  await router.minute();
  await until('everybody is notified', () => new Set(got).size === sent.length, 120);
  expect(got).toHaveLength(sent.length);
  expect([...seen].sort()).toEqual([200, 503]);
});
