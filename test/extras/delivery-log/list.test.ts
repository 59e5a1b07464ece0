import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { encodeCursor } from '#src/core/platform/db/cursor.ts';
import { createdAtOf, firstIdAt, newId } from '#src/core/platform/db/ids.ts';
import { readDeliveries } from '#src/extras/delivery-log/list.ts';
import type { DeliverySummary } from '#src/extras/delivery-log/schema.ts';
import { attempted, settled } from '#test/support/deliveries.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { runs } from '#test/support/runs.ts';
import { story } from '#test/support/story.ts';
import { as, invalid, webhookBody, world } from '#test/support/world.ts';

const { us, heard, send, register } = story();
beforeEach(async () => {
  for (const table of ['webhooks', 'deliveries', 'notifications'])
    await rows(`delete from ${table}`);
});

type Seed = { webhookId: string; id: string; eventId: string; [column: string]: unknown };
const insert = (seeds: Seed[]) => {
  const made = seeds.map(({ webhookId, eventId, ...row }) => ({
    ...{ ...row, webhook_id: webhookId, event_id: eventId, account_id: us.accountId },
  }));
  return addRows('deliveries', made.length, (i) => made[i] ?? {});
};

const idAt = (ms: number): string => firstIdAt(ms).slice(0, 14) + newId().slice(14);

const list = (query = '', token = us.apiToken) =>
  as(token).get<DeliverySummary[]>(`/deliveries${query}`);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const ingest = (...records: object[]) => send(vehicle(), ...records);

it('an item of an event says how the receiver answered, but not what', async () => {
  heard.responds(() => new Response('a secret answer', { status: 202 }));
  const { id: webhookId } = await register({ headers: { 'X-Secret': 's3cret' } });
  await ingest(safetyEvent({ sourceId: 'an event' }));
  const [row] = await settled(webhookId);
  const { data, ...reply } = await list();
  expect(reply).toMatchObject({ status: 200, message: 'Deliveries' });
  expect(reply).not.toHaveProperty('next');
  expect(data).toEqual([
    {
      id: row?.id,
      webhookId,
      eventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 2,
      level: null,
      status: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      createdAt: time,
      lastAnswer: {
        status: 202,
        kind: 'success',
        at: new Date(row?.log[0]?.at ?? 0).toISOString(),
      },
    },
  ]);
  expect(JSON.stringify(reply) + JSON.stringify(data)).not.toMatch(/secret|s3cret/);
});

it('an item of an accident says its level, and when it is tried again', async () => {
  heard.responds(() => {
    throw new TypeError('connection refused');
  });
  const { id: webhookId } = await register();
  const before = Date.now();
  await ingest(accident({ sourceId: 'a crash', notificationLevel: 2 }));
  const row = await attempted(webhookId);
  const [item] = (await list()).data;
  expect(item).toMatchObject({
    type: 1,
    level: 2,
    status: 'pending',
    attempts: 1,
    nextAttemptAt: new Date(row.nextAttemptAt).toISOString(),
    lastAnswer: { status: null, kind: 'connection', at: time },
  });
  expect(Date.parse(item?.createdAt ?? '')).toBeGreaterThanOrEqual(before);
  expect(Date.parse(item?.createdAt ?? '')).toBeLessThanOrEqual(Date.now());
});

describe('is refused:', () => {
  it.each(['nobody has', 'somebody else has', 'was deleted'])(
    'a webhookId that %s',
    async (whose) => {
      const them = await world();
      const theirs = await them.api.post<{ id: string }>('/webhook', webhookBody(them));
      const { id } = whose === 'somebody else has' ? theirs.data : await register();
      if (whose === 'was deleted') await us.api.delete(`/webhook/${id}`);
      const asked = whose === 'nobody has' ? newId() : id;
      expect(await list(`?webhookId=${asked}`)).toMatchObject(invalid('Invalid webhook id'));
    },
  );

  it('a cursor of other filters, of another account, or with another place in it', async () => {
    const [first, second] = [(await register()).id, (await register()).id];
    const row = { eventId: newId(), status: 'failed' };
    await insert([first, second].map((webhookId) => ({ ...row, webhookId, id: idAt(1) })));
    const { next } = await list('?limit=1&status=failed');
    expect((await list(`?status=failed&cursor=${next}`)).data).toMatchObject([
      { webhookId: second },
    ]);
    const them = await world();
    const identity = JSON.stringify(['/deliveries', us.accountId, {}, {}]);
    expect((await list(`?cursor=${encodeCursor([first, ''], identity)}`)).data).toHaveLength(2);
    for (const reply of [
      await list(`?cursor=${next}`),
      await list(`?status=pending&cursor=${next}`),
      await list(`?status=failed&from=1970-01-01&cursor=${next}`),
      await list(`?status=failed&cursor=${next}`, them.apiToken),
      await list(`?cursor=${encodeCursor([first], identity)}`),
      await list(`?cursor=${encodeCursor([first, 1], identity)}`),
      await list(`?cursor=${encodeCursor([first, '', ''], identity)}`),
    ])
      expect(reply).toMatchObject(invalid('Invalid cursor', 'cursor'));
  });
});

describe('newest first', () => {
  const orders = async (query: string) => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const { data, next } = await list(`?limit=2&${query}&cursor=${cursor}`);
      ids.push(...data.map(({ id }) => id));
      if (next === undefined) return ids;
      cursor = next;
    }
  };

  it('has those of a webhook in the opposite order, whatever comes in meanwhile', async () => {
    const { id: webhookId } = await register();
    const row = { webhookId, eventId: newId(), status: 'failed' };
    await insert([1, 2, 3, 4, 5].map((at) => ({ ...row, id: idAt(at) })));
    await insert([{ ...row, webhookId: (await register()).id, id: idAt(6) }]);
    const of = `webhookId=${webhookId}&status=failed`;
    const oldest = await orders(of);
    expect(oldest).toHaveLength(5);
    expect(await orders(`${of}&order=oldest`)).toEqual(oldest);
    expect(await orders(`${of}&order=newest`)).toEqual(oldest.toReversed());
    const { next } = await list(`?limit=2&${of}&order=newest`);
    await insert([{ ...row, id: idAt(7) }]);
    const after = await list(`?limit=2&${of}&order=newest&cursor=${next}`);
    expect(after.data.map(({ id }) => id)).toEqual(oldest.toReversed().slice(2, 4));
    for (const order of ['', '&order=oldest'])
      expect(await list(`?limit=2&${of}${order}&cursor=${next}`)).toMatchObject(
        invalid('Invalid cursor', 'cursor'),
      );
  });

  it.each([
    ['order=newest', 'can be newest only with webhookId'],
    [
      `order=newest&webhookId=${newId()}&status=pending`,
      expect.stringMatching(/^cannot be newest/),
    ],
    ['order=latest', 'must be oldest or newest'],
  ])('is refused: %s', async (query, message) => {
    expect(await list(`?${query}`)).toMatchObject({
      status: 400,
      errors: [{ field: 'order', message }],
    });
  });
});

it('the events of others, and those past retention, have no deliveries', async () => {
  const { id: webhookId } = await register();
  const eventId = newId();
  const notifiedAt = Date.now();
  await insert([{ webhookId, id: idAt(notifiedAt), eventId, status: 'failed' }]);
  expect(await list(`?eventId=${eventId}`)).toMatchObject({ status: 200, data: [] });
  const notified = { event_id: eventId, type: 2, data: '{}', created_at: notifiedAt };
  await addRows('notifications', 1, () => ({ ...notified, account_id: 'others' }));
  expect((await list(`?eventId=${eventId}`)).data).toEqual([]);
  await rows('update notifications set account_id = ?1', us.accountId);
  expect((await list(`?eventId=${eventId}`)).data).toMatchObject([{ eventId, webhookId }]);
});

const caller = () => ({ tokenId: us.tokenId, accountId: us.accountId });

it('walked to its end, has what was there once, whatever comes in meanwhile', async () => {
  const statuses = ['pending', 'delivered', 'failed', 'cancelled'];
  const hooks: string[] = [];
  for (let i = 0; i < 5; i++) hooks.push((await register()).id);
  const gone = (await register()).id;
  await us.api.delete(`/webhook/${gone}`);
  const events = Array.from({ length: 4 }, newId);
  /** When each level of each event is notified, to the millisecond: two levels at a time. */
  const notifiedAt = (event: number, level: number) =>
    1 + Math.floor(event / 2) * 2 + Math.floor(level / 2);
  await addRows('notifications', 16, (i) => {
    const [event, level] = [Math.floor(i / 4), i % 4];
    const key = { event_id: events[event], level, created_at: notifiedAt(event, level) };
    return { ...key, type: 1, account_id: us.accountId, data: '{}' };
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
  const rarely = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: values });
  const filters = fc.record({
    webhookId: rarely(fc.constantFrom(...hooks)),
    status: fc.constantFrom(null, ...statuses),
    type: rarely(fc.constantFrom('1', '2')),
    eventId: rarely(fc.constantFrom(...events)),
    from: rarely(fc.integer({ min: 1, max: 4 })),
    to: rarely(fc.integer({ min: 5, max: 9 })),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(seed, { minLength: 10, maxLength: 50, size: 'max' }),
      fc.array(fc.array(seed, { maxLength: 3 }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 8 }),
      filters,
      async (there, inserts, limit, { from, to, ...others }) => {
        await rows('delete from deliveries');
        const ofGone = there.slice(0, 3).map((row) => ({ ...row, webhookId: gone, id: newId() }));
        await insert([...there, ...ofGone]);
        const expected = there.flatMap(({ id, ...row }) => {
          const asked = { ...row, type: row.level > 0 ? '1' : '2' };
          const isIn = createdAtOf(id) >= (from ?? 0) && createdAtOf(id) < (to ?? Infinity);
          const keys = Object.keys(others) as (keyof typeof others)[]; // its own
          return isIn && keys.every((key) => [null, asked[key]].includes(others[key])) ? [id] : [];
        });
        const [since, until] = [from, to].map((ms) =>
          ms === null ? null : new Date(ms).toISOString(),
        );
        const query = Object.entries({ ...others, limit, from: since, to: until }).flatMap(
          ([name, one]) => (one === null ? [] : [[name, [String(one)]]]),
        );
        const walked: string[] = [];
        let cursor: string | undefined;
        do {
          const asked = { ...Object.fromEntries(query), ...(cursor && { cursor: [cursor] }) };
          const { items, next } = await readDeliveries(env, caller(), asked);
          expect(items.length).toBeLessThanOrEqual(limit);
          walked.push(...items.map(({ id }) => id));
          await insert(inserts.shift() ?? []);
          cursor = next;
        } while (cursor);
        const ids = new Set(there.map(({ id }) => id));
        expect(walked.filter((id) => ids.has(id)).toSorted()).toEqual(expected.toSorted());
        expect(new Set(walked).size).toBe(walked.length);
      },
    ),
    { numRuns: runs(300) },
  );
});
