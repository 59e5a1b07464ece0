// @module-tag proof
// More than 15 s: thousands of records, and the memory of a process as it is.
import { type JourneyAccount, journeyAccount, ownStack, times } from '#test/support/node/index.ts';
import { canMeasureMemory, memoryOf } from '#test/support/node/memory.ts';

/** How many MiB a request may need beyond what an idle service has. */
const most = 64;
const vehicles = 10;
const eventsPerVehicle = 501;
const startedAt = '2026-11-20T20:00:00Z';

describe.skipIf(!canMeasureMemory)('the memory that one request needs', () => {
  let us: JourneyAccount;
  let measure: ReturnType<typeof memoryOf>;
  const stack = ownStack();
  beforeAll(async () => {
    us = await journeyAccount(stack);
    for (let v = 0; v < vehicles; v++) {
      const groups = times(20, (i) => `${i}`.padEnd(11, 'g'));
      await ingest([
        { kind: 'vehicle', sourceId: `v${v}`, name: 'n'.repeat(200), vin: 'v1'.repeat(20), groups },
      ]);
      const events = times(eventsPerVehicle, (i) => ({
        kind: 'safetyEvent',
        sourceId: `${v}-${i}`,
        vehicle: `v${v}`,
        startedAt,
        incidentTypes: ['w'.repeat(90), 'x'.repeat(90)],
      }));
      await ingest(events.slice(0, 250));
      await ingest(events.slice(250));
    }
    measure = memoryOf(stack.directory);
  });

  async function ingest(records: object[] | string): Promise<string> {
    const body = typeof records === 'string' ? records : JSON.stringify({ records });
    expect(body.length).toBeLessThanOrEqual(1024 * 1024);
    const headers = { 'x-api-key': us.ingestKey, 'content-type': 'application/json' };
    const reply = await fetch(`${stack.baseUrl}/ingest`, { method: 'POST', headers, body });
    return reply.text();
  }

  const range = 'from=2026-11-20&to=2026-11-21&limit=500';

  const pageOf = (filter: string) => us.get(`/safety-events?${range}${filter}`);
  const ofTen = async (filter: string) => {
    const ids = (await us.get<{ id: string }[]>('/vehicles')).map(({ id }) => id);
    return pageOf(`&vehicleIds=${ids}${filter}`);
  };
  const largeEvent = (i: number) => ({
    kind: 'safetyEvent',
    sourceId: `large-${i}`,
    vehicle: 'v0',
    startedAt,
    incidentTypes: times(10, (k) => `${k}`.padEnd(80, 'x')),
    recipients: times(20, (k) => `person-${k}@example.com`),
  });
  const wrong = Array(100).fill(0);
  const manyNames = times(90_000, (i) => `"${i}":0`).join();

  it.each<[what: string, work: () => Promise<unknown>]>([
    ['the largest page', () => pageOf('')],
    ['the largest page with a filter', () => pageOf('&minEventRisk=1')],
    ['a page that finds nothing', () => pageOf('&minEventRisk=5')],
    ['a page of ten streams', () => ofTen('')],
    ['a page of ten streams with a filter', () => ofTen('&minEventRisk=1')],
    ['a call full of brackets', () => ingest(`{"records":[${'[],'.repeat(333_333)}[]]}`)],
    ['a call full of names of fields', () => ingest(`{"records":[{${manyNames}}]}`)],
    ['a call full of large events', () => ingest(times(500, largeEvent))],
    [
      'a call full of records that are wrong in every field',
      () => ingest(Array(500).fill({ kind: 'trip', groups: wrong, recipients: wrong })),
    ],
  ])('is bounded for %s', async (_, work) => {
    expect(await measure(work)).toBeLessThanOrEqual(most);
  });
});
