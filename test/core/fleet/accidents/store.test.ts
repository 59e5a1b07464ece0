import { env } from 'cloudflare:workers';
import { decide } from '#src/core/fleet/accidents/decide.ts';
import {
  isRace,
  knownFrom,
  readForDecisions,
  storeAccidents,
} from '#src/core/fleet/accidents/store.ts';
import { accidents } from '#src/core/fleet/lists/accidents.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';

const { us } = story();
const db = openDatabase(env);

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
  expect([await first.store(), await first.store(), await rival.store()]).toEqual([
    'stored',
    'raced',
    'raced',
  ]);
  const later = await decided({ notificationLevel: 2, maxSpeedKph: 88.51374999999999 });
  await rows(
    'update accidents set report_url = ?1 where id = ?2',
    'https://x.test/',
    first.record.id,
  );
  expect(await later.store()).toBe('raced');
  const again = await decided({ notificationLevel: 2, maxSpeedKph: 88.51374999999999 });
  expect(await again.store()).toBe('stored');
  expect(await (await decided({ notificationLevel: 3 })).store()).toBe('stored');
  const [row] = await rows('select * from accidents where id = ?1', first.record.id);
  expect(row).toMatchObject({ notification_level: 3, report_url: 'https://x.test/', notified: 7 });
  expect(row?.max_speed_kph).toBe(88.51374999999999);
});

it('what people do about it is no change of it, and stays', async () => {
  const { record, store } = await decided();
  await store();
  const later = await decided({ notificationLevel: 2 });
  await rows('update accidents set assigned_to = ?1 where id = ?2', 'ann@example.com', record.id);
  expect(await later.store()).toBe('stored');
  expect(await rows('select assigned_to from accidents where id = ?1', record.id)).toEqual([
    { assigned_to: 'ann@example.com' },
  ]);
});

it('a driver who was erased since it was read is not stored', async () => {
  const { record, store } = await decided({ driver: 'ann' });
  await rows(
    'insert into erased_drivers (id, account_id, connection_id, erased_at) values (?1, ?2, ?3, 0)',
    record.driverId,
    us.accountId,
    us.connection.id,
  );
  expect(await store()).toBe('raced');
  expect(await (await decided({ driver: 'ann' })).store()).toBe('stored');
  expect(await rows('select driver_id from accidents where id = ?1', record.id)).toEqual([
    { driver_id: null },
  ]);
});
