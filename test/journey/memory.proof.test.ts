// More than 15 s: thousands of records, and the memory of a process as it is.
import { journeyAccount, listed, ownStack } from '#test/support/node/journey.ts';
import { canMeasureMemory, memoryOf } from '#test/support/node/memory.ts';

/** How many MiB a request may need beyond what an idle service has. */
const most = 64;
const vehicles = 10;
const eventsPerVehicle = 501;
const startedAt = '2026-11-20T20:00:00Z';

describe.skipIf(!canMeasureMemory)('the memory that one request needs', () => {
  let us: Awaited<ReturnType<typeof journeyAccount>>;
  let measure: ReturnType<typeof memoryOf>;
  const stack = ownStack();
  beforeAll(async () => {
    us = await journeyAccount(stack);
    for (let v = 0; v < vehicles; v++) {
      const groups = Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(11, 'g'));
      await ingest([
        { kind: 'vehicle', sourceId: `v${v}`, name: 'n'.repeat(200), vin: 'v1'.repeat(20), groups },
      ]);
      const events = Array.from({ length: eventsPerVehicle }, (_, i) => ({
        ...{ kind: 'safetyEvent', sourceId: `${v}-${i}`, vehicle: `v${v}`, startedAt },
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

  it.each(['', '&minEventRisk=1', '&minEventRisk=5'])(
    'is bounded for the largest page: %s',
    async (filter) => {
      expect(
        await measure(() => listed(stack, us, `/safety-events?${range}${filter}`)),
      ).toBeLessThanOrEqual(most);
    },
  );

  it.each(['', '&minEventRisk=1'])('is bounded for a page of ten streams: %s', async (filter) => {
    const ids = (await listed<{ id: string }>(stack, us, '/vehicles')).map(({ id }) => id);
    const path = `/safety-events?${range}&vehicleIds=${ids}${filter}`;
    expect(await measure(() => listed(stack, us, path))).toBeLessThanOrEqual(most);
  });

  const largeEvent = {
    ...{ kind: 'safetyEvent', vehicle: 'v0', startedAt },
    incidentTypes: Array.from({ length: 10 }, (_, k) => `${k}`.padEnd(80, 'x')),
    recipients: Array.from({ length: 20 }, (_, k) => `person-${k}@example.com`),
  };
  const wrong = Array(100).fill(0);
  const full = (value: string) => value.repeat(Math.floor(1_000_000 / value.length));
  const manyNames = Array.from({ length: 90_000 }, (_, i) => `"${i}":0`).join();
  it.each<[string, () => object[] | string]>([
    ['nothing but brackets', () => `{"records":[${full('[],')}[]]}`],
    ['names of fields', () => `{"records":[{${manyNames}}]}`],
    [
      'large events',
      () => Array.from({ length: 500 }, (_, i) => ({ ...largeEvent, sourceId: `large-${i}` })),
    ],
    [
      'records that are wrong in every field',
      () => Array(500).fill({ kind: 'trip', groups: wrong, recipients: wrong }),
    ],
  ])('is bounded for a call full of %s', async (_, body) => {
    const sent = body();
    expect(await measure(() => ingest(sent))).toBeLessThanOrEqual(most);
  });
});
