import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { changeAccount } from '#src/core/accounts/accounts.ts';
import type { IngestOutcome } from '#src/core/ingest/schema.ts';
import { recordId } from '#src/core/platform/db/ids.ts';
import { maxNamed } from '#src/extras/dry-runs/rehearse.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { addWebhooks, rows, tableNames } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { addConnection, as, issueKey } from '#test/support/world.ts';

const { us, heard, register } = story();
const send = (records: object[], more: object = {}) =>
  us.connector.post<IngestOutcome>('/ingest', { records, ...more });
const dry = (records: object[], more: object = {}) => send(records, { ...more, dryRun: true });

type Delivery = { webhook_id: string; event_id: string; level: number };
const deliveries = () =>
  rows<Delivery>(
    'select webhook_id, event_id, level from deliveries where account_id = ?1',
    us.accountId,
  );

describe('a dry run', () => {
  it('stores nothing and notifies nobody', async () => {
    await register();
    const all = async () => {
      const tables = (await tableNames()).filter((name) => name !== 'tokens'); // which have the time of their use
      return Promise.all(tables.map(async (name) => [name, await rows(`select * from ${name}`)]));
    };
    const before = await all();
    const { status, message, data } = await dry([vehicle(), safetyEvent(), accident()]);
    expect([status, message, data.accepted]).toEqual([200, 'Dry run: nothing was stored', 3]);
    expect(await all()).toEqual(before);
    expect(heard.got).toEqual([]);
  });

  it('names the webhooks that each record would notify', async () => {
    const all = (await register()).id;
    const risky = (await register({ filters: { minEventRisk: 4 } })).id;
    await rows('update webhooks set name = ?1 where id = ?2', "Ann's", all);
    const { data } = await dry([
      vehicle(),
      safetyEvent(),
      safetyEvent({ sourceId: 'other', vehicle: 'unknown' }),
      accident({ notificationLevel: 2 }),
    ]);
    expect(data).toEqual({
      accepted: 3,
      unchanged: 0,
      rejected: [
        { index: 2, sourceId: 'other', message: 'vehicle is neither known nor in the same call' },
      ],
      wouldNotify: [
        { index: 1, webhooks: [{ id: all, name: "Ann's" }] },
        {
          index: 3,
          notificationLevel: 2,
          webhooks: [
            { id: all, name: "Ann's" },
            { id: risky, name: null },
          ],
        },
      ],
    });
  });

  it('names at most twenty webhooks of each record, and counts those that are more', async () => {
    for (const id of await addWebhooks(us.accountId, 120))
      await rows(
        'insert into webhook_connections (webhook_id, connection_id, notification_types) values (?1, ?2, 3)',
        id,
        us.connection.id,
      );
    const events = Array.from({ length: 499 }, (_, i) => safetyEvent({ sourceId: `e${i}` }));
    const { data } = await dry([vehicle(), ...events]);
    expect(data.accepted).toBe(500);
    const counts = data.wouldNotify?.map(({ webhooks, more }) => [webhooks.length, more]);
    expect(counts).toEqual(events.map(() => [maxNamed, 120 - maxNamed]));
  });

  it('knows no vehicle of a connection that a webhook does not cover', async () => {
    const other = await addConnection(us.accountId);
    const filters = { vehicleGroups: ['North'] };
    const { id } = await register({ filters });
    await register({ filters, connectionIds: [us.connection.id, other.id] });
    await as(await issueKey(other.id)).send(
      vehicle({ vin: '1FUJGLDR5CLBP8836', groups: ['South'] }),
    );
    const { data } = await dry([accident({ vin: '1FUJGLDR5CLBP8836' })]);
    expect(data.wouldNotify).toMatchObject([{ webhooks: [{ id }] }]);
  });

  it('is refused as the call would be', async () => {
    await changeAccount(env, us.accountId, {
      quotas: { records: 1, bytes: null, deliveries: null },
    });
    await send([vehicle(), vehicle({ sourceId: 'other' })]);
    const [rehearsed, real] = [await dry([safetyEvent()]), await send([safetyEvent()])];
    expect(rehearsed).toMatchObject({ status: 429, message: real.message });
  });

  it('says what the same call then says and does, whatever it is', {
    timeout: 120_000,
  }, async () => {
    await register();
    await register({ notificationTypes: [1], filters: { accidentLevels: [2, 3] } });
    await register({ filters: { minEventRisk: 4 } });
    const other = await addConnection(us.accountId);
    const filters = { vehicleGroups: ['North'] };
    await register({ filters });
    await register({ filters, connectionIds: [us.connection.id, other.id] });
    for (const vin of ['1FUJGLDR5CLBP8835', '1FUJGLDR5CLBP8836'])
      await as(await issueKey(other.id)).send(vehicle({ sourceId: vin, vin, groups: ['South'] }));
    const oneCall = fc.tuple(fc.array(anyRecord, { minLength: 1, maxLength: 8 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(oneCall, async ([records, notify]) => {
        const body = { notify: notify || records.length > 2 };
        const before = new Set((await deliveries()).map((one) => JSON.stringify(one)));
        const rehearsed = await dry(records, body);
        expect(rehearsed).toMatchObject({ status: 200 });
        const { wouldNotify = [], ...said } = rehearsed.data;
        expect((await send(records, body)).data).toEqual(said);
        const created = (await deliveries()).filter((one) => !before.has(JSON.stringify(one)));
        const expected = wouldNotify.flatMap(
          ({ index, notificationLevel: level = 0, webhooks }) => {
            const { kind, sourceId } = records[index] as { kind: string; sourceId: string };
            const event_id = recordId(us.connection.id, kind, sourceId);
            return webhooks.map(({ id: webhook_id }) => ({ webhook_id, event_id, level }));
          },
        );
        expect(sorted(created)).toEqual(sorted(expected));
      }),
      { numRuns: 25 },
    );
  });
});

const sorted = (all: Delivery[]) =>
  all.map((one) => JSON.stringify(Object.entries(one).sort())).sort();

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const vins = oneOf('1FUJGLDR5CLBP8834', '1FUJGLDR5CLBP8835', '1FUJGLDR5CLBP8836', undefined);
const trucks = oneOf('t1', 't2', 't3');
const versions = oneOf(undefined, 1, 2).map((day) => day && `2026-11-0${day}T00:00:00Z`);

/** Few things, so that many records are about one that is known, or in the same call. */
const anyRecord: fc.Arbitrary<object> = fc.oneof(
  fc
    .record({
      sourceId: trucks,
      vin: vins,
      groups: oneOf(['North'], []),
      sourceUpdatedAt: versions,
    })
    .map(vehicle),
  fc.record({ sourceId: oneOf('d1', 'd2'), name: oneOf('Ann', 'Bob') }).map(driver),
  fc.record({ sourceId: oneOf('r1', 'r2'), vehicle: trucks, distanceKm: oneOf(1, -1) }).map(trip),
  fc
    .record({
      sourceId: oneOf('e1', 'e2', 'e3', 'e4', 'e5'),
      vehicle: trucks,
      incidentTypes: oneOf(['hard_brake'], ['crash'], ['unheard_of']),
      sourceUpdatedAt: versions,
      startedAt: oneOf(safetyEvent().startedAt, '2026-01-01T00:00:00Z', 'yesterday'),
    })
    .map(safetyEvent),
  fc
    .record({
      sourceId: oneOf('a1', 'a2', 'a3', 'a4'),
      vin: vins,
      vehicle: oneOf('t1', 't2', undefined),
      driver: oneOf('d1', undefined),
      notificationLevel: oneOf(1, 2, 3),
      dismissed: oneOf(false, false, true),
      sourceUpdatedAt: versions,
    })
    .map(accident),
);
