import { decide } from '#src/core/fleet/accidents/decide.ts';
import {
  isRace,
  knownFrom,
  readForDecisions,
  storeAccidents,
} from '#src/core/fleet/accidents/store.ts';
import { accidents } from '#src/core/fleet/lists/accidents.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { accident, addRow, db, rows, story, value } from '#test/support.ts';

const { us } = story();

/** Decides about a record by what is stored, and returns what stores it. */
async function decided(changes: object = {}) {
  const { accountId, connection } = us;
  const source = { accountId, connectionId: connection.id, provider: 'motive', tSP: 'Motive' };
  const now = Date.now();
  const sent = { ...accident({ eventTime: now }), ...changes };
  const record = accidents.toRow(sent, { ...source, now, requestId: '' });
  const known = knownFrom(await transaction(db, readForDecisions(db, us, [record])));
  const before = known.accidents.get(record.id);
  const { after } = decide(before?.accident, record, known.fleet, now);
  const all = [{ after, asRead: before?.asRead ?? null }];
  const store = () =>
    transaction(db, storeAccidents(db, all)).then(
      () => 'stored',
      (error) => (isRace(error) ? 'raced' : 'failed'),
    );
  return { record, store };
}

it('an accident is stored once, and only if it is as it was read', async () => {
  const [first, rival] = [await decided(), await decided({ notificationLevel: 2 })];
  expect(await first.store()).toBe('stored');
  for (const { store } of [first, rival]) expect(await store()).toBe('raced');
  const second = { notificationLevel: 2, maxSpeedKph: 88.51374999999999 };
  const later = await decided(second);
  const change = 'update accidents set report_url = ?1 where id = ?2';
  await rows(change, 'https://x.test/', first.record.id);
  expect(await later.store()).toBe('raced');
  expect(await (await decided(second)).store()).toBe('stored');
  expect(await (await decided({ notificationLevel: 3 })).store()).toBe('stored');
  const [row] = await rows('select * from accidents where id = ?1', first.record.id);
  expect(row).toMatchObject({
    notification_level: 3,
    notified: 7,
    report_url: 'https://x.test/',
    max_speed_kph: 88.51374999999999,
  });
});

it('what people do about it is no change of it, and stays', async () => {
  const { record, store } = await decided();
  await store();
  const later = await decided({ notificationLevel: 2 });
  await rows('update accidents set assigned_to = ?1 where id = ?2', 'ann@example.com', record.id);
  expect(await later.store()).toBe('stored');
  const assignee = await value('select assigned_to from accidents where id = ?1', record.id);
  expect(assignee).toBe('ann@example.com');
});

it('a driver who was erased since it was read is not stored', async () => {
  const { record, store } = await decided({ driver: 'ann' });
  const of = { account_id: us.accountId, connection_id: us.connection.id };
  await addRow('erased_drivers', { ...of, id: record.driverId });
  expect(await store()).toBe('raced');
  expect(await (await decided({ driver: 'ann' })).store()).toBe('stored');
  expect(await value('select driver_id from accidents where id = ?1', record.id)).toBeNull();
});
