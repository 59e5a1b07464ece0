import { describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../src/platform/db/cursor.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { attempted, settled } from '../../support/deliveries.ts';
import { idAt, listedDeliveries } from '../../support/delivery-list.ts';
import { receiver } from '../../support/receiver.ts';
import { accident, safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, world } from '../../support/world.ts';

const setting = listedDeliveries();
const { register, insert, list } = setting;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('an item', () => {
  const ingest = (...records: object[]) => as(setting.us.connection.ingestKey).send(vehicle(), ...records);

  it('of an event says that it was delivered, and how the receiver answered, but not what', async () => {
    receiver(() => new Response('a secret answer', { status: 202 }));
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
        lastAnswer: { status: 202, kind: 'success', at: new Date(row?.log[0]?.at ?? 0).toISOString() },
      },
    ]);
    expect(JSON.stringify(reply) + JSON.stringify(data)).not.toMatch(/secret|s3cret/);
  });

  it('of an accident says its level, and when it is tried again', async () => {
    receiver(() => {
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

  it('that was never tried has no last answer; of several attempts, the latest counts', async () => {
    const { id: webhookId } = await register();
    const [cancelled, failed] = [idAt(1), idAt(2)];
    const seed = { webhookId, eventId: newId(), level: 0, priority: 3, dueAt: 0 };
    await insert([
      { ...seed, id: cancelled, status: 'cancelled' },
      { ...seed, id: failed, status: 'failed' },
    ]);
    const log = [
      { at: 1000, durationMs: 1, result: 'timeout' },
      { at: 2000, durationMs: 1, result: 'status', status: 410, answer: 'gone' },
    ];
    await rows('update deliveries set log = ?1 where id = ?2', JSON.stringify(log), failed);
    expect((await list()).data.map(({ lastAnswer }) => lastAnswer)).toEqual([
      null,
      { status: 410, kind: 'status', at: '1970-01-01T00:00:02.000Z' },
    ]);
  });
});

describe('is refused, and the field is named:', () => {
  it.each([
    ['webhookId=x', 'webhookId must be a UUID'],
    ['eventId=x', 'eventId must be a UUID'],
    ['status=lost', 'status must be one of pending, delivered, failed, cancelled'],
    ['type=3', 'type must be 1 (accident) or 2 (event)'],
    ['from=yesterday', 'from must be an RFC 3339 time, such as 2026-11-20T20:00:00Z'],
    ['from=2026-11-21&to=2026-11-20', 'from must be before to'],
    ['limit=0', 'limit must be a whole number of at least 1'],
    ['cursor=abc', 'Invalid cursor'],
  ])('?%s', async (query, message) => {
    const field = query.split('=')[0] ?? '';
    const reply = await list(`?${query}`);
    expect(reply).toMatchObject({ status: 400, message, errors: [{ field }] });
    expect(JSON.stringify(reply)).not.toContain('yesterday');
  });

  it.each(['nobody has', 'somebody else has', 'was deleted'])('a webhookId that %s', async (whose) => {
    const them = await world();
    const id = whose === 'somebody else has' ? (await register({}, them)).id : (await register()).id;
    if (whose === 'was deleted') await as(setting.us.apiToken).delete(`/webhook/${id}`);
    const asked = whose === 'nobody has' ? newId() : id;
    expect(await list(`?webhookId=${asked}`)).toMatchObject({ status: 400, message: 'Invalid webhook id' });
  });

  it('a cursor of other filters, of another account, or with another place in it', async () => {
    const [first, second] = [(await register()).id, (await register()).id];
    const row = { eventId: newId(), level: 0, status: 'failed', priority: 3, dueAt: 0 };
    await insert([first, second].map((webhookId) => ({ ...row, webhookId, id: idAt(1) })));
    const { next } = await list('?limit=1&status=failed');
    expect((await list(`?status=failed&cursor=${next}`)).data).toMatchObject([{ webhookId: second }]);
    const them = await world();
    const identity = JSON.stringify(['/deliveries', setting.us.accountId, {}, {}]);
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
      expect(reply).toMatchObject({ status: 400, message: 'Invalid cursor', errors: [{ field: 'cursor' }] });
  });
});

it('the events of others, and those past retention, have no deliveries', async () => {
  const { id: webhookId } = await register();
  const eventId = newId();
  const notifiedAt = Date.now();
  await insert([
    { webhookId, id: idAt(notifiedAt), eventId, level: 0, status: 'failed', priority: 3, dueAt: 0 },
  ]);
  expect(await list(`?eventId=${eventId}`)).toMatchObject({ status: 200, data: [] });
  const tell = (accountId: string) =>
    rows(
      `insert or replace into notifications (event_id, level, type, account_id, connection_id, data, created_at)
       values (?1, 0, 2, ?2, '', '{}', ?3)`,
      eventId,
      accountId,
      notifiedAt,
    );
  await tell('others');
  expect((await list(`?eventId=${eventId}`)).data).toEqual([]);
  await tell(setting.us.accountId);
  expect((await list(`?eventId=${eventId}`)).data).toMatchObject([{ eventId, webhookId }]);
});
