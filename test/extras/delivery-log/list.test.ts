import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { encodeCursor } from '#src/core/platform/db/cursor.ts';
import { readDeliveries } from '#src/extras/delivery-log/list.ts';
import type { DeliverySummary } from '#src/extras/delivery-log/schema.ts';
import {
  accident,
  addRow,
  addRows,
  addWebhooks,
  allPages,
  anyTime,
  as,
  attempted,
  createdAtOf,
  firstIdAt,
  invalid,
  newId,
  rows,
  runs,
  settled,
  story,
  times,
  world,
} from '#test/support.ts';

const { us, heard, send, register, happen } = story();
beforeEach(async () => {
  for (const table of ['webhooks', 'deliveries', 'notifications'])
    await rows(`delete from ${table}`);
});

type Seed = { webhookId: string; id: string; eventId: string; [column: string]: unknown };
const insert = (seeds: Seed[]) =>
  addRows('deliveries', seeds.length, (i) => {
    const { webhookId, eventId, ...row } = seeds[i] as Seed; // one for each row
    return { ...row, webhook_id: webhookId, event_id: eventId, account_id: us.accountId };
  });

const idAt = (ms: number): string => firstIdAt(ms).slice(0, 14) + newId().slice(14);

const list = (query = '', token = us.apiToken) =>
  as(token).get<DeliverySummary[]>(`/deliveries${query}`);

it('an item of an event says how the receiver answered, but not what', async () => {
  heard.responds(() => new Response('a secret answer', { status: 202 }));
  const { id: webhookId } = await register({ headers: { 'X-Secret': 's3cret' } });
  await happen();
  const [row] = await settled(webhookId);
  const at = new Date(row?.log[0]?.at ?? 0).toISOString();
  const reply = await list();
  expect(reply).not.toHaveProperty('next');
  expect([reply.message, reply.data]).toEqual([
    'Deliveries',
    [
      {
        id: row?.id,
        webhookId,
        eventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 2,
        level: null,
        status: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        createdAt: anyTime,
        lastAnswer: { status: 202, kind: 'success', at },
      },
    ],
  ]);
});

it('an item of an accident says its level, and when it is tried again', async () => {
  heard.responds(() => {
    throw new TypeError('connection refused');
  });
  const { id: webhookId } = await register();
  const before = Date.now();
  await send(accident({ notificationLevel: 2 }));
  const row = await attempted(webhookId);
  const [item] = (await list()).data;
  expect(item).toMatchObject({
    type: 1,
    level: 2,
    status: 'pending',
    attempts: 1,
    nextAttemptAt: new Date(row.nextAttemptAt).toISOString(),
    lastAnswer: { status: null, kind: 'connection', at: anyTime },
  });
  const createdAt = Date.parse(item?.createdAt ?? '');
  expect([createdAt >= before, createdAt <= Date.now()]).toEqual([true, true]);
});

it('a cursor of other filters, of another account, or with another place in it is refused', async () => {
  const [first, second] = [(await register()).id, (await register()).id];
  const row = { eventId: newId(), status: 'failed' };
  await insert([first, second].map((webhookId) => ({ ...row, webhookId, id: idAt(1) })));
  const failed = '?status=failed&limit=1&cursor=';
  const { next } = await list(failed);
  expect((await list(failed + next)).data).toMatchObject([{ webhookId: second }]);
  const withPlace = (...place: unknown[]) => {
    const identity = JSON.stringify(['/deliveries', us.accountId, {}, {}]);
    return list(`?cursor=${encodeCursor(place as string[], identity)}`);
  };
  expect((await withPlace(first, '')).data).toHaveLength(2);
  for (const reply of [
    await list(`?cursor=${next}`),
    await list(failed + next, (await world()).apiToken),
    await withPlace(first),
    await withPlace(first, 1),
    await withPlace(first, '', ''),
  ])
    expect(reply).toMatchObject(invalid('Invalid cursor', 'cursor'));
});

const idsOf = async (query: string) => {
  const pages = await allPages((cursor = '') => list(`?limit=2&${query}&cursor=${cursor}`));
  return pages.flatMap(({ data }) => data.map(({ id }) => id));
};

it('newest first, a list has those of a webhook in the opposite order, whatever comes in meanwhile', async () => {
  const { id: webhookId } = await register();
  const row = { webhookId, eventId: newId(), status: 'failed' };
  await insert([1, 2, 3, 4, 5].map((at) => ({ ...row, id: idAt(at) })));
  await insert([{ ...row, webhookId: (await register()).id, id: idAt(6) }]);
  const of = `webhookId=${webhookId}&status=failed`;
  const oldest = await idsOf(of);
  expect(oldest).toHaveLength(5);
  expect(await idsOf(`${of}&order=oldest`)).toEqual(oldest);
  expect(await idsOf(`${of}&order=newest`)).toEqual(oldest.toReversed());
  const newest = `?limit=2&${of}&order=newest`;
  const { next } = await list(newest);
  await insert([{ ...row, id: idAt(7) }]);
  const { data } = await list(`${newest}&cursor=${next}`);
  expect(data.map(({ id }) => id)).toEqual(oldest.toReversed().slice(2, 4));
  const refused = invalid('Invalid cursor', 'cursor');
  for (const order of ['', '&order=oldest'])
    expect(await list(`?limit=2&${of}${order}&cursor=${next}`)).toMatchObject(refused);
});

it('the events of others, and those past retention, have no deliveries', async () => {
  const { id: webhookId } = await register();
  const [event_id, created_at] = [newId(), Date.now()];
  await insert([{ webhookId, id: idAt(created_at), eventId: event_id, status: 'failed' }]);
  const listed = async () => (await list(`?eventId=${event_id}`)).data;
  expect(await listed()).toEqual([]);
  const notification = { event_id, type: 2, data: '{}', created_at, account_id: 'others' };
  await addRow('notifications', notification);
  expect(await listed()).toEqual([]);
  await rows('update notifications set account_id = ?1', us.accountId);
  expect(await listed()).toMatchObject([{ eventId: event_id, webhookId }]);
});

const caller = () => ({ tokenId: us.tokenId, accountId: us.accountId });

it('walked to its end, has what was there once, whatever comes in meanwhile', {
  tags: ['proof'],
}, async () => {
  const statuses = ['pending', 'delivered', 'failed', 'cancelled'];
  const [gone = '', ...hooks] = await addWebhooks(us.accountId, 6);
  await us.api.delete(`/webhook/${gone}`);
  const events = times(4, () => newId());
  /** When each level of each event is notified, to the millisecond: two levels at a time. */
  const notifiedAt = (event: number, level: number) =>
    1 + Math.floor(event / 2) * 2 + Math.floor(level / 2);
  await addRows('notifications', 16, (i) => {
    const [event, level] = [Math.floor(i / 4), i % 4];
    const at = { event_id: events[event], level, created_at: notifiedAt(event, level) };
    return { ...at, type: 1, account_id: us.accountId, data: '{}' };
  });
  const seed = fc
    .record({
      webhookId: fc.constantFrom(...hooks),
      event: fc.nat(3),
      level: fc.nat(3),
      status: fc.constantFrom(...statuses, 'pending'),
      next_attempt_at: fc.nat(5),
    })
    .map(({ event, ...row }) => ({
      ...row,
      id: idAt(notifiedAt(event, row.level)),
      eventId: events[event] ?? '',
      priority: row.level > 0 ? 0 : 1 + (event % 3),
    }));
  /** Mostly left out, so that enough is left to be walked. */
  const rarely = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });
  const filters = fc.record({
    webhookId: rarely(fc.constantFrom(...hooks)),
    status: fc.constantFrom(undefined, ...statuses),
    type: rarely(fc.constantFrom('1', '2')),
    eventId: rarely(fc.constantFrom(...events)),
  });
  const names = ['webhookId', 'status', 'type', 'eventId'] as const;
  const time = (min: number, max: number) => rarely(fc.integer({ min, max }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(seed, { minLength: 10, maxLength: 50, size: 'max' }),
      fc.array(fc.array(seed, { maxLength: 3 }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 8 }),
      filters,
      fc.record({ from: time(1, 4), to: time(5, 9) }),
      async (there, inserts, limit, asked, { from, to }) => {
        await rows('delete from deliveries');
        const ofGone = there.slice(0, 3).map((row) => ({ ...row, webhookId: gone, id: newId() }));
        await insert([...there, ...ofGone]);
        const expected = there.filter(({ level, ...row }) => {
          const [of, at] = [{ ...row, type: level > 0 ? '1' : '2' }, createdAtOf(row.id)];
          const isAsked = names.every((name) => [undefined, of[name]].includes(asked[name]));
          return isAsked && at >= (from ?? 0) && at < (to ?? Infinity);
        });
        const iso = (ms?: number) => ms && new Date(ms).toISOString();
        const pages = await allPages(async (cursor) => {
          const all = { ...asked, limit, from: iso(from), to: iso(to), cursor };
          const given = Object.entries(all).filter(([, one]) => one !== undefined);
          const query = Object.fromEntries(given.map(([name, one]) => [name, [String(one)]]));
          const page = await readDeliveries(env, caller(), query);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          await insert(inserts.shift() ?? []);
          return page;
        });
        const walked = pages.flatMap(({ items }) => items.map(({ id }) => id));
        const ids = new Set(there.map(({ id }) => id));
        expect(walked.filter((id) => ids.has(id)).toSorted()).toEqual(
          expected.map(({ id }) => id).toSorted(),
        );
        expect(new Set(walked).size).toBe(walked.length);
      },
    ),
    { numRuns: runs(300) },
  );
});
