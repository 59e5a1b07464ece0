import { env } from 'cloudflare:workers';
import { changeAccount } from '#src/core/accounts/accounts.ts';
import type { Quotas } from '#src/core/platform/db/schema/types.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { markActive } from '#src/core/platform/fair-queue.ts';
import { fakeSamsara, samsaraEvent, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { connect, pullAll, pullStatus } from '#test/support/provider.ts';
import { samsaraData, samsaraOrigin } from '#test/support/providers/samsara.ts';
import { accident, recently, safetyEvent, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { operator } from '#test/support/world.ts';

const { us, heard, register } = story();
const allow = (quotas: Quotas) =>
  changeAccount(env, us.accountId, { quotas: { ...usual, ...quotas } });
const usual = { records: null, bytes: null, deliveries: null };
const trucks = (count: number, of = '') =>
  Array.from({ length: count }, (_, i) => vehicle({ sourceId: `truck ${of}${i}` }));
const events = (count: number, of = '') =>
  Array.from({ length: count }, (_, i) =>
    safetyEvent({ sourceId: `${of}${i}`, startedAt: recently }),
  );
const refused = (quota: string) => ({
  status: 429,
  message: `The account has used up its ${quota} of today`,
  retryAfter: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 3600),
});
const usage = async () => {
  const last = 'select usage from changes where account_id = ?1 order by seq desc limit 1';
  return JSON.parse((await value<string>(last, us.accountId)) ?? '[]').slice(1);
};
const countChanges = () =>
  value<number>('select count(*) from changes where account_id = ?1', us.accountId);

const countOf = (table: string, connectionId: string) =>
  value<number>(`select count(*) from ${table} where connection_id = ?1`, connectionId);

describe('what an account may add a day', () => {
  it('is refused beyond its records, of whichever kind, and nothing is stored', async () => {
    await allow({ records: 4 });
    expect(await us.send(...trucks(3))).toMatchObject({ status: 200 });
    expect(await us.send(...trucks(3, 'more '))).toMatchObject({ status: 200 });
    expect(await us.send({ kind: 'driver', sourceId: 'd', name: 'Ann' })).toMatchObject(
      refused('records'),
    );
    expect(await rows('select id from drivers where account_id = ?1', us.accountId)).toEqual([]);
    await allow({});
    expect(await us.send({ kind: 'driver', sourceId: 'd', name: 'Ann' })).toMatchObject({
      status: 200,
    });
  });

  it('does not count what is known, and counts bytes', async () => {
    await us.send(...trucks(3));
    const [records, bytes] = await usage();
    expect(records).toBe(3);
    const sent = new TextEncoder().encode(JSON.stringify(trucks(3))).length;
    expect(bytes).toBeGreaterThan(sent / 2);
    expect(bytes).toBeLessThan(sent * 5);
    await us.send(...trucks(3).map((truck) => ({ ...truck, odometerKm: 7 })));
    expect(await usage()).toEqual([records, bytes, 0]);
    await allow({ bytes });
    expect(await us.send(...trucks(1, 'new '))).toMatchObject(refused('bytes'));
  });

  it('counts a delivery for each webhook, unless nobody is notified', async () => {
    for (const n of [1, 2]) await register({ url: `https://r${n}.example.com/` });
    await us.send(vehicle(), ...events(3));
    expect((await usage())[2]).toBe(6);
    await us.connector.post('/ingest', { records: events(3, 'history '), notify: false });
    expect(await usage()).toMatchObject([7, expect.any(Number), 6]);
    await allow({ deliveries: 6 });
    expect(await us.send(...events(1, 'late '))).toMatchObject(refused('deliveries'));
  });

  it('begins anew at midnight', async () => {
    await allow({ records: 1 });
    await us.send(vehicle());
    expect(await us.send(...trucks(1, 'today '))).toMatchObject(refused('records'));
    vi.spyOn(Date, 'now').mockReturnValue(Math.ceil(Date.now() / dayMs) * dayMs);
    expect(await us.send(...trucks(1, 'tomorrow '))).toMatchObject({ status: 200 });
    vi.restoreAllMocks();
  });

  it('leaves as much again for accidents', async () => {
    await allow({ records: 2 });
    await us.send(...trucks(2));
    expect(await us.send(accident({ sourceId: 'a1' }), ...trucks(1, 'with it '))).toMatchObject({
      status: 200,
    });
    expect(await us.send(accident({ sourceId: 'a2' }))).toMatchObject(refused('records'));
  });

  it('is decided once for a call, although it is written in parts while others are active', async () => {
    await allow({ records: 100 });
    await us.send(...trucks(45));
    markActive('somebody else');
    expect(await us.send(...trucks(300, 'new '))).toMatchObject({
      status: 200,
      data: { accepted: 300 },
    });
    await allow({ records: 200 });
    expect(await us.send(...trucks(1, 'late '))).toMatchObject(refused('records'));
    await allow({ records: 300 });
    markActive('somebody else');
    const withAccident = await us.send(accident(), ...trucks(300, 'with it '));
    expect(withAccident).toMatchObject({ status: 200, data: { accepted: 301 } });
  });

  it('leaves as much again for all that comes with an accident of a provider', async () => {
    const data = samsaraData('samsara_api_crash');
    data.vehicles.push(...[3, 4, 5].map((n) => samsaraVehicle(n)));
    heard.serves(samsaraOrigin, fakeSamsara(data));
    const id = await connect(us, 'samsara', data.token);
    await pullAll(id);
    await allow({ records: 5 });
    data.events.push(
      samsaraEvent(samsaraVehicle(6), 'Crash', Date.now() + 1, { eventState: 'reviewed' }),
    );
    await pullAll(id);
    expect(await countOf('accidents', id)).toBe(1);
    expect(await countOf('safety_events', id)).toBe(1);
  });

  it('is still counted after something else has changed', async () => {
    await us.send(vehicle(), ...events(3));
    const [before, changes] = [await usage(), await countChanges()];
    const truck = await value('select id from vehicles where account_id = ?1', us.accountId);
    await operator.patch(`/operator/vehicles/${truck}`, { externalId: 'ours' });
    expect(await countChanges()).toBe(changes + 1);
    expect(await usage()).toEqual(before);
  });

  it('makes a connection that pulls wait with its cursor and say why', async () => {
    const data = samsaraData('samsara_api_quota');
    heard.serves(samsaraOrigin, fakeSamsara(data));
    await allow({ records: 0 });
    const id = await connect(us, 'samsara', data.token);
    await pullAll(id);
    const { feeds } = await pullStatus(id);
    expect(JSON.stringify(feeds)).toContain('The account has used up its records of today');
    await allow({});
    await pullAll(id);
    expect(JSON.stringify((await pullStatus(id)).feeds)).not.toContain('used up');
    expect(await rows('select id from vehicles where connection_id = ?1', id)).toHaveLength(2);
  });
});
