import { env } from 'cloudflare:workers';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { settled } from '#test/support/deliveries.ts';
import { findEverywhere } from '#test/support/erasure.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { operator, register, type WebhookOut, worldBefore } from '#test/support/world.ts';

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
beforeEach(async () => {
  await rows('delete from deletions');
  // A receiver that refuses what it got, and repeats it.
  receiver(({ body }) => new Response(JSON.stringify(body), { status: 410 }));
  webhook = await register(us);
  await us.send(...records());
  await settled(webhook.id, 2, ['failed']);
  const { data } = await us.api.get<{ id: string; name: string }[]>('/drivers');
  driverId = data.find(({ name }) => name === robin.name)?.id ?? '';
});

const erase = (id = driverId) =>
  operator.post<{ deletion: { id: string } | null }>(`/operator/drivers/${id}/erasure`, {});
async function eraseWholly() {
  await erase();
  const next = `/operator/deletions/${driverId}/continue`;
  for (let left: unknown = true; left; )
    left = (await operator.post<{ deletion: unknown }>(next, {})).data.deletion;
}

it('leaves nothing that tells who the driver was, in any table', async () => {
  const quiet = { records: [accident({ driver: robin.sourceId })], notify: false };
  await us.connector.post('/ingest', quiet);
  expect(await value('select driver_name from accidents where driver_id = ?1', driverId)).toBe(
    robin.name,
  );
  expect((await findEverywhere(marks)).length).toBeGreaterThan(3);
  await eraseWholly();
  expect(await findEverywhere(marks)).toEqual([]);
  const { keys } = await env.TOKENS.list();
  for (const { name } of keys)
    for (const mark of marks) expect(await env.TOKENS.get(name)).not.toContain(mark);
});

it('leaves nothing in what a receiver responds that was being called', async () => {
  const end = Promise.withResolvers<void>();
  receiver(async ({ body }) => {
    await end.promise;
    return new Response(JSON.stringify(body), { status: 410 });
  });
  await us.send(safetyEvent({ sourceId: 'now', recipients: [robin.email] }));
  const erased = eraseWholly();
  await expect.poll(() => value('select step from deletions'), { timeout: 10_000 }).toBe('calls');
  const called = `select 1 from deliveries where status = 'pending' and claimed_until > 0`;
  expect(await rows(called)).toHaveLength(1);
  end.resolve();
  await erased;
  expect(await settled(webhook.id, 3, ['failed'])).toHaveLength(3);
  expect(await findEverywhere(marks)).toEqual([]);
});

it('keeps their trips and events without a person, and everything of other drivers', async () => {
  await eraseWholly();
  const range = 'from=2026-01-01&to=2100-01-01';
  type Item = { sourceId: string; driverId: string | null; updatedAt: string };
  const drivers = (await us.lists.get<{ id: string; name: string }[]>('/drivers')).data;
  expect(drivers.map(({ name }) => name)).toEqual([other.name]);
  for (const path of ['/trips', `/safety-events?${range}`]) {
    const found = (await us.lists.get<Item[]>(path)).data;
    const [first, second] = ['1', '2'].map((end) =>
      found.find(({ sourceId }) => sourceId.endsWith(end)),
    );
    expect([first?.driverId, second?.driverId]).toEqual([null, drivers[0]?.id]);
    expect(Date.parse(first?.updatedAt ?? '')).toBeGreaterThan(Date.parse(second?.updatedAt ?? ''));
  }
  const events = await rows(
    'select recipients from safety_events where account_id = ?1',
    us.accountId,
  );
  const left = ['["boss@fleet.example"]', '["sam@fleet.example"]'];
  expect(events.map(({ recipients }) => recipients).sort()).toEqual(left);
  const logs = await rows('select log from deliveries where account_id = ?1', us.accountId);
  expect(logs.every(({ log }) => JSON.parse(String(log))[0].status === 410)).toBe(true);
});

it("is in the account's changes", async () => {
  const { resume } = (await us.api.get('/changes?cursor=now')) as unknown as { resume: string };
  await eraseWholly();
  type Change = { kind: string; action: string; data: { driverId?: string | null } | null };
  const { data } = await us.api.get<Change[]>(`/changes?cursor=${resume}`);
  expect(data.map(({ kind, action, data }) => [kind, action, data?.driverId]).sort()).toEqual([
    ['driver', 'deleted', undefined],
    ['safetyEvent', 'changed', null],
    ['trip', 'changed', null],
  ]);
});

it('holds for what comes in later: the driver does not come back', async () => {
  await eraseWholly();
  const later = records().map((record) => ({ ...record, sourceUpdatedAt: '2026-11-21T00:00:00Z' }));
  const { data } = await us.send(
    ...later.slice(0, 5),
    safetyEvent({
      driver: robin.sourceId,
      sourceId: 'event-3',
      recipients: ['boss@fleet.example'],
    }),
    accident({ driver: robin.sourceId }),
  );
  expect(data.rejected).toEqual([]);
  expect(await findEverywhere(marks)).toEqual([]);
  for (const table of ['trips', 'safety_events', 'accidents'])
    expect(await rows(`select 1 from ${table} where driver_id = ?1`, driverId)).toEqual([]);
  expect(await rows('select 1 from safety_events where source_id = ?1', 'event-3')).toHaveLength(1);
});

it('is noted without a name, goes on by itself when interrupted, and may be repeated', async () => {
  await erase();
  await continueDeletions(env);
  expect(await findEverywhere(marks)).toEqual([]);
  const again = await erase();
  expect([again.status, again.data.deletion]).toEqual([200, null]);
  const noted = `select actor, subject_id, subject_name from audit_log where action = 'erased'`;
  expect(await rows(`${noted} and account_id = ?1`, us.accountId)).toEqual([
    { actor: 'operator', subject_id: driverId, subject_name: null },
  ]);
  expect((await erase(crypto.randomUUID())).message).toBe('Unknown driver');
});
