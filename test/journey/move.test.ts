import { expect, it, onTestFinished } from 'vitest';
import { unlimited } from '../../src/cli/local/configurations.ts';
import { startReceiver } from '../../src/cli/local/receiver.ts';
import { keyVariable, operatorOf } from '../../src/cli/operate/client.ts';
import { addWebhook, inCell, journeyAccount, ownStack, startFleet, until } from '../support/node/journey.ts';
import { safetyEvent, vehicle } from '../support/records.ts';

/** `npm run proof` runs it at full size. */
const full = process.env.FULL_PROOF === '1';
const records = full ? 100_000 : 2_000;
const perCall = 400;
const kills = full ? 12 : 2;

const stack = ownStack({ cells: ['main', 'eu'], change: unlimited });

/** Kills the router and both cells, as a power cut would, and starts them again. */
async function restart() {
  stack.kill();
  await stack.restart(Number(new URL(stack.baseUrl).port));
}

/** Statuses by which clients were told: nothing at all while the router is down. */
const seen = new Set<number>();

async function call(token: string, path: string, body?: object, connection?: string) {
  const headers = {
    ...{ 'x-api-key': token, 'content-type': 'application/json' },
    ...(connection && { 'connection-id': connection }),
  };
  const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const reply = await fetch(stack.baseUrl + path, { headers, ...sent }).catch(() => undefined);
  if (!reply) return undefined;
  expect([200, 503]).toContain(reply.status);
  seen.add(reply.status);
  const envelope = await reply.json().catch(() => undefined); // cut short by a kill
  return reply.ok ? (envelope as { data: { id: string }[]; next?: string } | undefined) : undefined;
}

it(`a move of ${records} records and files, with SIGKILL of the tool and of everything else in turn, loses and doubles nothing`, async () => {
  const us = await journeyAccount(inCell(stack, 'main'));
  const got: string[] = [];
  const receiver = await startReceiver(stack.certificates, 0, ({ body }) => {
    got.push(String(body.data.sourceId ?? body.data.eventId));
  });
  onTestFinished(() => receiver.stop());
  await addWebhook(stack, us, receiver.url);
  const days = 86_400_000;
  const began = Date.now();
  const send = (all: object[], notify: boolean) =>
    call(us.ingestKey, '/ingest', { records: [vehicle(), ...all], notify });
  for (let at = 0; at < records; at += perCall) {
    const events = Array.from({ length: perCall }, (_, i) =>
      safetyEvent({
        sourceId: `old-${at + i}`,
        startedAt: new Date(began - 5 * days + at + i).toISOString(),
      }),
    );
    expect(await send(events, false)).toBeDefined();
  }
  const main = operatorOf(inCell(stack, 'main'));
  const wanted = { id: us.accountId, body: { lists: ['safety-events'], format: 'csv' as const } };
  await main.call('POST /accounts/:id/exports', wanted);
  await until(
    'the export is there',
    async () => {
      await stack.minute();
      const [made] = await main.call('GET /accounts/:id/exports', { id: us.accountId });
      return made?.state === 'ready';
    },
    300,
  );

  // A client pages, and a connector sends, through all of it.
  let isOver = false;
  const sent: string[] = [];
  const connector = (async () => {
    for (let i = 0; !isOver; i++) {
      const sourceId = `new-${i}`;
      while (!(await send([safetyEvent({ sourceId, startedAt: new Date().toISOString() })], true)))
        await new Promise((on) => setTimeout(on, 200));
      sent.push(sourceId);
      await new Promise((on) => setTimeout(on, 100));
    }
  })();
  const range = `/safety-events?from=${new Date(began - 6 * days).toISOString()}&to=2100-01-01T00:00:00Z&limit=500`;
  const readAll = async () => {
    const ids: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await call(
        us.token,
        `${range}${cursor && `&cursor=${cursor}`}`,
        undefined,
        us.connectionId,
      );
      if (!page) await new Promise((on) => setTimeout(on, 100));
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
    process.env[keyVariable(name)] = inCell(stack, name).operatorKey;
  const tool = () =>
    startFleet(inCell(stack, 'main'), '--json', 'account', 'move', us.accountId, '--to', 'eu');
  const moveOf = () => main.call('GET /accounts/:id/move', { id: us.accountId }).catch(() => undefined);
  let mover = tool();
  let last = '';
  for (let kill = 0; kill < kills; kill++) {
    const goesOn = async () => {
      const move = await moveOf();
      if (mover.child.exitCode === 0) return true;
      if (mover.child.exitCode !== null) mover = tool(); // it says to run it again
      const now = move ? `${move.state} ${move.copied}` : last;
      if (now === last) return false;
      last = now;
      return true;
    };
    await until(`it is no longer ${last}`, goesOn, 120);
    if (mover.child.exitCode === 0 && kill > 1) break;
    expect(mover.child.exitCode).not.toBe(0);
    if (kill % 2 === 0) {
      mover.child.kill('SIGKILL');
      await mover.ended;
      mover = tool();
    } else await restart();
  }
  while ((await mover.ended) !== 0) mover = tool();
  await until('the connector sends again', () => sent.length > 0 && got.length > 0, 60);
  const before = sent.length;
  await until('it sends to the other cell', () => sent.length > before + 3, 60);
  isOver = true;
  await Promise.all([connector, client]);

  const ids = await readAll();
  expect(ids).toHaveLength(records + sent.length);
  await stack.minute();
  await until('everybody is notified', () => new Set(got).size === sent.length, 120);
  expect(got).toHaveLength(sent.length);
  expect([...seen].sort()).toEqual([200, 503]);
});
