import { beforeAll, describe, expect, it } from 'vitest';
import { recordId } from '../../src/platform/db/ids.ts';
import { listPage, seededFleet } from '../support/fleet.ts';
import type { World } from '../support/world.ts';

let us: World;
let trucks: string;
let vans: string;
beforeAll(async () => {
  ({ us, trucks, vans } = await seededFleet());
});
const list = (path: string, connection?: string) => listPage(us.apiToken, path, connection);
const day = 'from=2026-11-20&to=2026-11-21';
const sourceIds = async (path: string, connection?: string) =>
  (await list(path, connection)).data.map(({ sourceId }) => sourceId);

describe('filters', () => {
  const truck1 = () => recordId(trucks, 'vehicle', 'truck-1');
  const truck2 = () => recordId(trucks, 'vehicle', 'truck-2');
  const ann = () => recordId(trucks, 'driver', 'ann');

  it('of /trips: range, vehicles and drivers, repeated or with commas', async () => {
    expect(await sourceIds('/trips')).toEqual(['trip-1', 'trip-2', 'v', 'trip-3']);
    expect(await sourceIds('/trips', vans)).toEqual(['v']);
    expect(await sourceIds('/trips?from=2026-11-20T02:00:00Z&to=2026-11-20T03:00:00Z')).toEqual([
      'trip-2',
      'v',
    ]);
    expect(await sourceIds('/trips?from=2026-11-20T04:00:00%2B01:00')).toEqual(['trip-3']);
    expect(await sourceIds('/trips?to=2026-11-20')).toEqual([]);
    expect(await sourceIds(`/trips?vehicleIds=${truck1()}`)).toEqual(['trip-1', 'trip-3']);
    expect(await sourceIds(`/trips?vehicleIds=${truck1()},${truck2().toUpperCase()}`)).toEqual([
      'trip-1',
      'trip-2',
      'trip-3',
    ]);
    expect(
      await sourceIds(`/trips?vehicleIds=${truck1()}&vehicleIds=${truck2()}&driverIds=${ann()}`),
    ).toEqual(['trip-1', 'trip-2']);
    expect(await sourceIds(`/trips?driverIds=${ann()}`, vans)).toEqual([]);
  });

  it('of /safety-events: range, vehicles, drivers, types and risk', async () => {
    const all = 'from=2026-11-19&to=2026-11-21';
    expect(await sourceIds(`/safety-events?${all}`, trucks)).toEqual(['a', 'b', 'c']);
    expect(await sourceIds(`/safety-events?${day}`, trucks)).toEqual(['b', 'c']);
    expect(await sourceIds('/safety-events?from=2026-11-19&to=2026-11-20', trucks)).toEqual(['a']);
    expect(await sourceIds(`/safety-events?${all}&minEventRisk=4`, trucks)).toEqual(['a', 'b']);
    expect(await sourceIds(`/safety-events?${all}&eventTypes=phone-usage,Other`, trucks)).toEqual(['b', 'c']);
    expect(await sourceIds(`/safety-events?${all}&vehicleIds=${truck2()}`, trucks)).toEqual(['c']);
    expect(await sourceIds(`/safety-events?${all}&driverIds=${ann()}&minEventRisk=5`, trucks)).toEqual(['a']);
    const many = Array.from({ length: 11 }, (_, i) => recordId(trucks, 'vehicle', `none-${i}`));
    expect(await sourceIds(`/safety-events?${all}&vehicleIds=${[truck1(), ...many]}`, trucks)).toEqual([
      'a',
      'b',
    ]);
  });

  it('take a hundred values each', async () => {
    const others = Array.from({ length: 99 }, () => crypto.randomUUID());
    const both = `vehicleIds=${[truck1(), ...others]}&driverIds=${[ann(), ...others]}`;
    expect(await sourceIds(`/trips?${both}`, trucks)).toEqual(['trip-1']);
    const spellings = Array.from({ length: 100 }, (_, i) => `phone${'-'.repeat(i)}usage`);
    expect(await sourceIds(`/safety-events?${day}&eventTypes=${spellings}`, trucks)).toEqual(['b']);
  });

  it.each([
    ['/safety-events?from=2026-11-20&to=2026-11-21&minRisk=4', 'minRisk', /, did you mean minEventRisk\?$/],
    ['/trips?vehicleId=1', 'vehicleId', /, did you mean vehicleIds\?$/],
    ['/vehicles?from=2026-11-20', 'from', /; the list has limit, cursor, status, vin, externalId$/],
    ['/changes?Kind=trip', 'Kind', /, did you mean kinds\?$/],
    ['/deliveries?since=2026-11-20', 'since', /; the list has limit, cursor, webhookId/],
  ])('that are unknown are refused with the nearest: %s', async (path, field, message) => {
    const refusal = { field, message: expect.stringMatching(message) };
    expect(await list(path, trucks)).toMatchObject({ status: 400, errors: [refusal] });
  });
});
