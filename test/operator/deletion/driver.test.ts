import { env } from 'cloudflare:workers';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { changes } from '#test/extras/changes/support.ts';
import {
  accident,
  driver,
  findEverywhere,
  operator,
  receiver,
  register,
  rows,
  safetyEvent,
  settled,
  toTheEnd,
  trip,
  value,
  vehicle,
  type WebhookOut,
  worldBefore,
} from '#test/support.ts';

/** What tells who the driver is. */
const robin = {
  sourceId: 'badge-0815',
  name: 'Robin Reyes',
  email: 'Robin.Reyes@fleet.example',
  phone: '+1 303 555 0199',
  licenseNumber: 'L-4711-RR',
};
const marks = Object.values(robin);
const other = { sourceId: 'badge-2', name: 'Sam Soto', email: 'sam@fleet.example' };

const records = () => [
  vehicle(),
  driver(robin),
  driver(other),
  trip({ driver: robin.sourceId }),
  trip({ sourceId: 'trip-2', driver: other.sourceId }),
  safetyEvent({
    driver: robin.sourceId,
    recipients: ['robin.reyes@FLEET.example', 'boss@fleet.example'],
  }),
  safetyEvent({
    sourceId: 'event-2',
    driver: other.sourceId,
    recipients: [robin.email, other.email],
  }),
];

const us = worldBefore(beforeEach);
let driverId: string;
let webhook: WebhookOut;
let heard: ReturnType<typeof receiver>;
beforeEach(async () => {
  await rows('delete from deletions');
  // A receiver that refuses what it got, and repeats it.
  heard = receiver(({ body }) => new Response(JSON.stringify(body), { status: 410 }));
  webhook = await register(us);
  await us.send(...records());
  await settled(webhook.id, 2, 'failed');
  const { data } = await us.api.get<{ id: string; name: string }[]>('/drivers');
  driverId = data.find(({ name }) => name === robin.name)?.id ?? '';
});

const erase = (id = driverId) =>
  operator.post<{ deletion: { id: string } | null }>(`/operator/drivers/${id}/erasure`, {});
async function eraseWholly() {
  await erase();
  await toTheEnd(driverId);
}

it('leaves nothing that tells who the driver was, in any table', async () => {
  const quiet = { records: [accident({ driver: robin.sourceId })], notify: false };
  await us.connector.post('/ingest', quiet);
  expect((await findEverywhere(marks)).length).toBeGreaterThan(3);
  await eraseWholly();
  expect(await findEverywhere(marks)).toEqual([]);
  const { keys } = await env.TOKENS.list();
  for (const { name } of keys)
    for (const mark of marks) expect(await env.TOKENS.get(name)).not.toContain(mark);
});

it('leaves nothing in what a receiver responds that was being called', async () => {
  const end = Promise.withResolvers<void>();
  heard.responds(async ({ body }) => {
    await end.promise;
    return new Response(JSON.stringify(body), { status: 410 });
  });
  await us.send(safetyEvent({ sourceId: 'now', recipients: [robin.email] }));
  await expect.poll(() => heard.got).toHaveLength(3); // one more
  const erased = eraseWholly();
  await expect.poll(() => value('select step from deletions')).toBe('calls');
  const called = `select 1 from deliveries where status = 'pending' and claimed_until > 0`;
  expect(await rows(called)).toHaveLength(1);
  end.resolve();
  await erased;
  expect(await settled(webhook.id, 3, 'failed')).toHaveLength(3);
  expect(await findEverywhere(marks)).toEqual([]);
});

it('keeps their trips and events without a person, as the changes say, and everything of other drivers', async () => {
  const { resume } = await changes(us.apiToken, 'cursor=now');
  await eraseWholly();
  const { data: changed } = await changes(us.apiToken, `cursor=${resume}`);
  expect(changed.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
    { kind: 'driver', action: 'deleted', data: null },
    { kind: 'safetyEvent', action: 'changed', data: { driverId: null } },
    { kind: 'trip', action: 'changed', data: { driverId: null } },
  ]);
  const range = 'from=2026-01-01&to=2100-01-01';
  type Item = { sourceId: string; driverId: string | null };
  const drivers = (await us.lists.get<{ id: string; name: string }[]>('/drivers')).data;
  expect(drivers.map(({ name }) => name)).toEqual([other.name]);
  for (const path of ['/trips', `/safety-events?${range}`]) {
    const { data } = await us.lists.get<Item[]>(path);
    const [first, second] = data.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1));
    expect([first?.driverId, second?.driverId]).toEqual([null, drivers[0]?.id]);
  }
  const events = await rows(
    'select recipients from safety_events where account_id = ?1 order by source_id',
    us.accountId,
  );
  expect(events.map(({ recipients }) => recipients)).toEqual([
    '["boss@fleet.example"]',
    '["sam@fleet.example"]',
  ]);
  const log = `select distinct log->>'$[0].status' as status from deliveries where account_id = ?1`;
  expect(await rows(log, us.accountId)).toEqual([{ status: 410 }]);
});

it('holds for what comes in later: the driver does not come back', async () => {
  await eraseWholly();
  const later = records().map((record) => ({ ...record, sourceUpdatedAt: '2026-11-21T00:00:00Z' }));
  const driver = robin.sourceId;
  const { data } = await us.send(
    ...later.slice(0, 5),
    safetyEvent({ driver, sourceId: 'event-3', recipients: ['boss@fleet.example'] }),
    accident({ driver }),
  );
  expect(data.rejected).toEqual([]);
  expect(await findEverywhere(marks)).toEqual([]);
  for (const table of ['trips', 'safety_events', 'accidents'])
    expect(await rows(`select 1 from ${table} where driver_id = ?1`, driverId)).toEqual([]);
  expect(
    await value('select count(*) from safety_events where account_id = ?1', us.accountId),
  ).toBe(3);
});

it('goes on by itself when interrupted, may be repeated, and is noted without a name', async () => {
  await erase();
  await continueDeletions(env);
  expect(await findEverywhere(marks)).toEqual([]);
  expect(await erase()).toMatchObject({ status: 200, data: { deletion: null } });
  const noted = `select actor, subject_name from audit_log where action = 'erased' and subject_id = ?1`;
  expect(await rows(noted, driverId)).toEqual([{ actor: 'operator', subject_name: null }]);
  expect((await erase(crypto.randomUUID())).message).toBe('Unknown driver');
});
