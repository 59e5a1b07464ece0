import { expect } from 'vitest';
import { maxLargeWaiting } from '../../../src/platform/fair-queue.ts';
import { rows } from '../../support/rows.ts';
import { accident, as, driver, safetyEvent, vehicle, world } from '../../support/world.ts';
import {
  api,
  connector,
  create,
  dayMs,
  type Hits,
  letters,
  minuteMs,
  type Numbers,
  refusesMore,
  rejectsMore,
  times,
  us,
} from './setting.ts';

export const recordHits: Hits = {
  'records of a call': (limit) =>
    refusesMore(limit, 400, (size) => connector().send(...times(size, () => driver()))),
  'body of `POST /ingest`': (limit) =>
    refusesMore(limit, 413, (size) => {
      const body = JSON.stringify({ records: [driver()] });
      return connector().post('/ingest', body + ' '.repeat(size - body.length));
    }),
  'calls of more than so many records that an account has taken in at a time': async (
    records,
    calls,
    waiting = 0,
  ) => {
    const them = await world();
    const of = (count: number) => () =>
      as(them.connection.ingestKey).send(...times(count, (i) => driver({ sourceId: `d${i}` })));
    const refused = async (send: ReturnType<typeof of>) =>
      (await Promise.all(times(calls + waiting + 5, send))).filter(({ status }) => status === 429).length;
    expect(await refused(of(records))).toBe(0);
    expect(await refused(of(records + 1))).toBeGreaterThan(0);
    expect(maxLargeWaiting).toBe(waiting);
  },
  '`sourceId`': (limit) => rejectsMore((size) => driver({ sourceId: letters(size) }), limit),
  '`name` of a vehicle': (limit) => rejectsMore((size) => vehicle({ name: bytes(size) }), limit),
  '`vin` of a vehicle': (limit) => rejectsMore((size) => vehicle({ vin: bytes(size) }), limit),
  '`groups` of a vehicle': (...limits) =>
    rejectsLongerLists(limits, letters, (groups) => vehicle({ groups })),
  '`incidentTypes` of an event': (...limits) =>
    rejectsLongerLists(limits, letters, (incidentTypes) => safetyEvent({ incidentTypes })),
  '`recipients` of an event': (...limits) =>
    rejectsLongerLists(limits, address, (recipients) => safetyEvent({ recipients })),
  '`address` of a location': (limit) =>
    rejectsMore(
      (size) => safetyEvent({ location: { latitude: 1, longitude: 2, address: letters(size) } }),
      limit,
    ),
  '`name` of a driver': (limit) => rejectsMore((size) => driver({ name: letters(size) }), limit),
  '`reportUrl` of an accident': (limit) =>
    rejectsMore((size) => accident({ reportUrl: 'https://example.com/'.padEnd(size, 'a') }), limit),
  'vehicles with the VIN of an accident, in all accounts, among which yours is looked for': async (limit) => {
    const [them, us] = [await world(), await world()];
    const vehicleAfter = async (others: number) => {
      const vin = crypto.randomUUID();
      const sourceId = vin;
      const theirs = times(others, (i) => vehicle({ sourceId: `${vin} ${i}`, vin }));
      await as(them.connection.ingestKey).send(...theirs);
      await as(us.connection.ingestKey).send(vehicle({ sourceId, vin }), accident({ sourceId, vin }));
      const list = await as(us.apiToken).get<{ vehicleId: string | null }[]>(`/accidents?vin=${vin}`);
      return list.data[0]?.vehicleId;
    };
    expect(await vehicleAfter(limit - 1)).toEqual(expect.any(String));
    expect(await vehicleAfter(limit)).toBeNull();
  },
  'times, here and in the filters of lists': async (first, last = 0) => {
    const event = (startedAt: string) => safetyEvent({ sourceId: startedAt, startedAt });
    const [from, to] = [`${first}-01-01T00:00:00.000Z`, `${last}-12-31T23:59:59.999Z`];
    const [tooEarly, tooLate] = [`${first - 1}-12-31T23:59:59.999Z`, `${last}-12-31T23:59:59-00:01`];
    const { data } = await connector().send(vehicle(), ...[from, to, tooEarly, tooLate].map(event));
    expect(data.rejected).toMatchObject([{ index: 3 }, { index: 4 }]);
    const list = (start: string, end: string) => api().get(`/trips?from=${start}&to=${end}`);
    expect((await list(from, to)).status).toBe(200);
    expect((await list(tooEarly, to)).status).toBe(400);
    expect((await list(from, tooLate)).status).toBe(400);
  },
  'age of a safety event that is notified': async (days) => {
    await create({});
    const started = (age: number) => new Date(Date.now() - age * dayMs).toISOString();
    const events = [days - 1, days + 2].map((age) =>
      safetyEvent({ sourceId: `${age}`, startedAt: started(age) }),
    );
    const before = await told();
    expect((await connector().send(vehicle(), ...events)).data).toMatchObject({ rejected: [] });
    expect(await told()).toBe(before + 1);
  },
  '`sourceUpdatedAt`': (days) =>
    rejectsMore((days) => {
      const ahead = days * dayMs - minuteMs;
      return driver({ sourceUpdatedAt: new Date(Date.now() + ahead).toISOString() });
    }, days),
};

/** How many events of ours have been notified. */
const told = async () =>
  (await rows('select 1 from notifications where type = 2 and account_id = ?1', us.accountId)).length;

/** Text of so many bytes, of which most characters take two. */
const bytes = (count: number) => 'é'.repeat(count / 2).padEnd(count - Math.floor(count / 2), 'a');

/** An email address of so many characters. */
const address = (length: number) => '@example.com'.padStart(length, 'a');

/** Of two lists, one at a limit and one beyond, the second is rejected: by count, by length and by bytes as JSON. */
async function rejectsLongerLists(
  [most, length = 0, bytes = 0]: Numbers,
  text: (length: number) => string,
  record: (values: string[]) => object,
) {
  const shortest = text(0).length + 1;
  await rejectsMore((count) => record(times(count, () => text(shortest))), most);
  await rejectsMore((size) => record([text(size)]), length);
  await rejectsMore((size) => record(lengthsWithin(size, length).map(text)), bytes);
}

/** How long texts are, at most `longest`, that have so many bytes as JSON. */
function lengthsWithin(size: number, longest: number): number[] {
  const quotes = '"",'.length;
  const whole = Math.floor((size - 1) / (longest + quotes));
  return [...times(whole, () => longest), ((size - 1) % (longest + quotes)) - quotes];
}
