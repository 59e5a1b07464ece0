import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { moveTo } from '../../support/homes.ts';
import { receiver } from '../../support/receiver.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { minute } from '../../support/service.ts';
import { as, type IssuedToken, operator, type World, webhookBody, world } from '../../support/world.ts';

/** Runs something again and again, with a rest in between, until it is told to stop. */
function steadily(restMs: number, once: () => Promise<void>) {
  let running = true;
  const done = (async () => {
    while (running) {
      await once();
      await scheduler.wait(restMs);
    }
  })();
  done.catch(() => {}); // told by `stop`
  return {
    stop: () => {
      running = false;
      return done;
    },
  };
}

/** Ingests one event after the other; what is refused with 503 is sent again, as connectors do. */
function ingest(us: World, prefix: string, refused = () => {}) {
  const accepted: string[] = [];
  let sent = 0;
  const load = steadily(150, async () => {
    const sourceId = `${prefix}-${sent++}`;
    for (;;) {
      const reply = await as(us.connection.ingestKey).send(vehicle(), safetyEvent({ sourceId }));
      if (reply.status === 503) {
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
        refused();
        await scheduler.wait(100);
        continue;
      }
      expect(reply.status).toBe(200);
      break;
    }
    accepted.push(sourceId);
  });
  return { accepted, ...load };
}

const days = 'from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z';

const list = (us: World, token = us.apiToken) =>
  as(token, { 'connection-id': us.connection.id }).get<unknown[]>(`/safety-events?${days}&limit=5`);

/** Issues a token, lists with it, revokes it, and lists again. */
async function revokeOne(us: World): Promise<void> {
  const again = async <T extends { status: number }>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      const reply = await call();
      if (reply.status !== 503) return reply;
      await scheduler.wait(50);
    }
  };
  const issued = await again(() =>
    operator.post<IssuedToken>(`/operator/accounts/${us.accountId}/tokens`, { name: 'short-lived' }),
  );
  expect(issued.status).toBe(200);
  expect((await list(us, issued.data.value)).status).toBe(200);
  // A list is under way all the time; none that begins after the reply may succeed.
  let revoked = false;
  const lists = steadily(20, async () => {
    const mustFail = revoked;
    const { status } = await list(us, issued.data.value);
    if (mustFail) expect(status).toBe(401);
  });
  const reply = await again(() => operator.delete(`/operator/tokens/${issued.data.id}`));
  expect(reply.status).toBe(200);
  revoked = true;
  await scheduler.wait(300);
  await lists.stop();
  expect((await list(us, issued.data.value)).status).toBe(401);
}

/** There and back, so many times: ten moves with `npm run proof`. */
const times = env.FULL_PROOF === '1' ? 5 : 2;

it('loses nothing, tells nothing twice and shows nothing to revoked tokens, there and back', {
  timeout: 600_000,
}, async () => {
  const hooks = receiver(async () => {
    await scheduler.wait(Math.random() * 300);
    return new Response('ok');
  });
  const us = await world();
  const others = [await world(), await world({ home: 'eu' }), await world({ home: 'us2' })];
  for (const who of [us, ...others]) await as(who.apiToken).post('/webhook', webhookBody(who));

  const ours = ingest(us, 'ours');
  const theirs = others.map((who, at) =>
    ingest(who, `other-${at}`, () => {
      throw new Error('another account was refused');
    }),
  );
  const reads = [us, ...others].map((who) =>
    steadily(200, async () => expect(await list(who)).toMatchObject({ status: 200 })),
  );
  const revocations = steadily(100, () => revokeOne(us));
  const cron = steadily(2_000, () => minute());
  const moves = [];
  for (let time = 0; time < times; time++)
    for (const to of ['eu', 'main']) moves.push(await moveTo(us.accountId, to));
  await Promise.all([ours, ...theirs, ...reads, revocations].map((load) => load.stop()));
  expect(moves.map(({ state }) => state)).toEqual(Array(2 * times).fill('done'));
  expect(moves.some(({ refusedForMs }) => refusedForMs > 0)).toBe(true);

  const told = () => hooks.got.map(({ body }) => String(body.data.sourceId ?? body.data.eventId));
  const all = [ours, ...theirs].flatMap(({ accepted }) => accepted);
  await vi.waitFor(() => expect(new Set(told()).size).toBe(all.length), { timeout: 90_000, interval: 500 });
  await cron.stop();
  expect(hooks.got).toHaveLength(all.length);
  const listed: string[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: { data: { id: string }[]; next?: string } = await as(us.apiToken, {
      'connection-id': us.connection.id,
    }).get(`/safety-events?${days}&limit=500${next && `&cursor=${next}`}`);
    listed.push(...page.data.map((one) => JSON.stringify(one)));
    next = page.next;
  }
  expect(listed).toHaveLength(ours.accepted.length);
  expect(new Set(listed).size).toBe(listed.length);
});
