import { env } from 'cloudflare:workers';
import { changeAccount, operatorIn } from '#src/core/accounts/accounts.ts';
import { ingest } from '#src/core/ingest/service.ts';
import type { Quotas } from '#src/core/platform/db/schema/types.ts';
import { markActive } from '#src/core/platform/fair-queue.ts';
import {
  accident,
  changeConnection,
  dayMs,
  driver,
  ownRows,
  recently,
  safetyEvent,
  story,
  times,
  value,
  vehicle,
} from '#test/support.ts';

const { us, register } = story();
const allow = (quotas: Quotas) =>
  changeAccount(env, us.accountId, { quotas: { ...usual, ...quotas } });
const usual = { records: null, bytes: null, deliveries: null };
const trucks = (count: number, of = '') =>
  times(count, (i) => vehicle({ sourceId: `truck ${of}${i}` }));
const events = (count: number, of = '') =>
  times(count, (i) => safetyEvent({ sourceId: `${of}${i}`, startedAt: recently }));
const refused = (quota: string) => ({
  status: 429,
  message: `The account has used up its ${quota} of today`,
  retryAfter: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 3600),
});
const usage = async () => {
  const last = 'select usage from changes where account_id = ?1 order by seq desc limit 1';
  return JSON.parse((await value<string>(last, us.accountId)) ?? '[]').slice(1);
};

describe('what an account may add a day', () => {
  it('is refused beyond its records, of whichever kind, and nothing is stored', async () => {
    await allow({ records: 4 });
    expect(await us.send(...trucks(3))).toMatchObject({ status: 200 });
    expect(await us.send(...trucks(3, 'more '))).toMatchObject({ status: 200 });
    expect(await us.send(driver())).toMatchObject(refused('records'));
    expect(await ownRows(us, 'drivers')).toEqual([]);
    await allow({});
    expect(await us.send(driver())).toMatchObject({ status: 200 });
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
  });

  it('leaves as much again for accidents', async () => {
    await allow({ records: 3 });
    await us.send(...trucks(3));
    expect(await us.send(accident(), ...trucks(1, 'with it '))).toMatchObject({ status: 200 });
    const { accountId, connection } = us;
    const source = { accountId, connectionId: connection.id, provider: 'motive', tSP: 'Motive' };
    const call = { records: trucks(1, 'of it '), notify: true, isOfAccident: true };
    const told = { ...source, now: Date.now(), requestId: 'none' };
    const outcome = await ingest(env, operatorIn(accountId), told, call, { start: () => {} });
    expect(outcome).toMatchObject({ accepted: 1 });
    expect(await us.send(accident({ sourceId: 'another' }))).toMatchObject(refused('records'));
  });

  it('is decided once for a call, although it is written in parts while others are active', async () => {
    await allow({ records: 100 });
    await us.send(...trucks(45));
    markActive('somebody else');
    expect((await us.send(...trucks(300, 'new '))).data).toMatchObject({ accepted: 300 });
    await allow({ records: 200 });
    expect(await us.send(...trucks(1, 'late '))).toMatchObject(refused('records'));
    await allow({ records: 300 });
    markActive('somebody else');
    const withAccident = await us.send(accident(), ...trucks(300, 'with it '));
    expect(withAccident.data).toMatchObject({ accepted: 301 });
  });

  it('is still counted after something else has changed', async () => {
    await us.send(vehicle(), ...events(3));
    const changes = () => ownRows(us, 'changes');
    const [before, { length }] = [await usage(), await changes()];
    await changeConnection(us.connection.id, { name: 'Ours' });
    expect(await changes()).toHaveLength(length + 1);
    expect(await usage()).toEqual(before);
  });
});
