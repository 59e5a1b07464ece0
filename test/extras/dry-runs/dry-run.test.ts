import fc from 'fast-check';
import type { IngestOutcome } from '#src/core/ingest/schema.ts';
import { maxNamed } from '#src/extras/dry-runs/rehearse.ts';
import {
  accident,
  addConnection,
  addRows,
  addWebhooks,
  as,
  changeAccount,
  driver,
  issueKey,
  ownRows,
  recordId,
  rows,
  safetyEvent,
  story,
  tableNames,
  trip,
  vehicle,
} from '#test/support.ts';

const { us, heard, register } = story();
const send = (records: object[], more: object = {}) =>
  us.connector.post<IngestOutcome>('/ingest', { records, ...more });
const dry = (records: object[], more: object = {}) => send(records, { ...more, dryRun: true });

/** What is to be delivered: the webhook, the event and the level of each. */
const deliveries = async () =>
  (await ownRows(us, 'deliveries')).map((row) => `${row.webhook_id} ${row.event_id} ${row.level}`);

const [vin, otherVin, thirdVin] = ['1FUJGLDR5CLBP8834', '1FUJGLDR5CLBP8835', '1FUJGLDR5CLBP8836'];

/** A connection with vehicles of the South, and webhooks for the North: of the first one, and of both. */
async function groupsElsewhere() {
  const other = await addConnection(us.accountId);
  const filters = { vehicleGroups: ['North'] };
  const { id } = await register({ filters });
  await register({ filters, connectionIds: [us.connection.id, other.id] });
  const south = [otherVin, thirdVin].map((vin) =>
    vehicle({ sourceId: vin, vin, groups: ['South'] }),
  );
  await as(await issueKey(other.id)).send(...south);
  return id;
}

describe('a dry run', () => {
  it('stores nothing and notifies nobody', async () => {
    await register();
    const all = async () => {
      const tables = (await tableNames()).filter((name) => name !== 'tokens'); // which have the time of their use
      return Promise.all(tables.map((name) => rows(`select * from ${name}`)));
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
    expect(data).toMatchObject({
      accepted: 3,
      rejected: [{ index: 2 }],
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
    const ids = await addWebhooks(us.accountId, 120);
    await addRows('webhook_connections', ids.length, (i) => ({
      webhook_id: ids[i],
      connection_id: us.connection.id,
      notification_types: 3,
    }));
    const { data } = await dry([vehicle(), safetyEvent(), safetyEvent({ sourceId: 'other' })]);
    const counts = data.wouldNotify?.map(({ webhooks, more }) => [webhooks.length, more]);
    expect(counts).toEqual([1, 2].map(() => [maxNamed, 120 - maxNamed]));
  });

  it('knows no vehicle of a connection that a webhook does not cover', async () => {
    const id = await groupsElsewhere();
    const { data } = await dry([accident({ vin: otherVin })]);
    expect(data.wouldNotify).toMatchObject([{ webhooks: [{ id }] }]);
  });

  it('is refused as the call would be', async () => {
    await changeAccount(us, { recordsPerDay: 1 });
    await send([vehicle(), vehicle({ sourceId: 'other' })]);
    const [rehearsed, real] = [await dry([safetyEvent()]), await send([safetyEvent()])];
    expect(rehearsed).toMatchObject({ status: 429, message: real.message });
  });

  it('says what the same call then says and does, whatever it is', {
    tags: ['proof'],
  }, async () => {
    await register();
    await register({ notificationTypes: [1], filters: { accidentLevels: [2, 3] } });
    await register({ filters: { minEventRisk: 4 } });
    await groupsElsewhere();
    const oneCall = fc.tuple(fc.array(anyRecord, { minLength: 1, maxLength: 8 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(oneCall, async ([records, notify]) => {
        const body = { notify: notify || records.length > 2 };
        const before = await deliveries();
        const rehearsed = await dry(records, body);
        expect(rehearsed).toMatchObject({ status: 200 });
        const { wouldNotify = [], ...said } = rehearsed.data;
        expect((await send(records, body)).data).toEqual(said);
        const created = (await deliveries()).filter((one) => !before.includes(one));
        const expected = wouldNotify.flatMap(({ index, notificationLevel = 0, webhooks }) => {
          const { kind, sourceId } = records[index] as { kind: string; sourceId: string };
          const eventId = recordId(us.connection.id, kind, sourceId);
          return webhooks.map(({ id }) => `${id} ${eventId} ${notificationLevel}`);
        });
        expect(created.sort()).toEqual(expected.sort());
      }),
      { numRuns: 25 },
    );
  });
});

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const vins = oneOf(vin, otherVin, thirdVin, undefined);
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
