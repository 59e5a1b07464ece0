import {
  fakeSamsara,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '../../../src/dev/fakes/samsara.ts';
import {
  fakeTerminal,
  terminalDriver,
  terminalEvent,
  terminalGroup,
  terminalTrip,
  terminalVehicle,
} from '../../support/providers/terminal.ts';
import type { Exchange } from './published.ts';

const at = Date.UTC(2026, 10, 20);
const day = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

/** What each fake whose provider publishes a description answers to all that its connector asks. */
export const exchangesWith: { [provider: string]: () => Promise<Exchange[]> } = {
  samsara: () => {
    const vehicle = samsaraVehicle(1);
    const data = {
      organisation: 'Acme Trucking',
      token: 'token',
      vehicles: [vehicle, samsaraVehicle(2)],
      drivers: [samsaraDriver(1), samsaraDriver(2, { driverActivationStatus: 'deactivated' })],
      trips: [samsaraTrip(vehicle, at), samsaraTrip(vehicle, at + 1)],
      events: [samsaraEvent(vehicle, 'Braking', at), samsaraEvent(vehicle, 'Crash', at + 1)],
    };
    const headers = { authorization: 'Bearer token' };
    return ask(fakeSamsara(data, { perPage: 1 }), headers, [
      '/me',
      '/fleet/vehicles?limit=1',
      `/fleet/vehicles?limit=1&after=1&updatedAfterTime=${iso(at - 400 * day)}`,
      '/fleet/drivers?limit=1&driverActivationStatus=active',
      '/fleet/drivers?limit=1&driverActivationStatus=deactivated',
      `/trips/stream?ids=${vehicle.id}&includeAsset=true&startTime=${iso(at - day)}`,
      `/trips/stream?ids=${vehicle.id}&includeAsset=true&startTime=${iso(at - day)}&endTime=${iso(at + day)}&queryBy=tripStartTime`,
      `/safety-events/stream?startTime=${iso(at - day)}&includeAsset=true&includeDriver=true&includeVgOnlyEvents=true`,
      `/safety-events/stream?startTime=${iso(at - day)}&endTime=${iso(at + day)}&queryByTimeField=createdAtTime&after=1`,
    ]);
  },
  terminal: () => {
    const vehicle = terminalVehicle(1);
    const data = {
      company: 'Acme Trucking',
      secretKey: 'sk',
      connectionToken: 'con',
      vehicles: [vehicle],
      drivers: [terminalDriver(1)],
      groups: [terminalGroup(1, 'North')],
      trips: [terminalTrip(vehicle, 1, at)],
      events: [terminalEvent(vehicle, 'harsh_brake', 1, at), terminalEvent(vehicle, 'crash', 2, at)],
    };
    const headers = { authorization: 'Bearer sk', 'connection-token': 'con' };
    return ask(fakeTerminal(data, { perPage: 1 }), headers, [
      '/connections/current',
      '/vehicles?limit=1&deleted=true',
      '/drivers?limit=1',
      '/groups?limit=1',
      `/trips?limit=1&modifiedAfter=${iso(at - 400 * day)}`,
      `/safety/events?limit=1&startedAfter=${iso(at - day)}&startedBefore=${iso(at + day)}`,
    ]);
  },
};

async function ask(
  serve: (request: Request) => Promise<Response>,
  headers: Record<string, string>,
  paths: string[],
): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const path of paths) {
    const url = new URL(path, 'https://api.provider.example');
    const reply = await serve(new Request(url, { headers }));
    exchanges.push({
      path: url.pathname,
      query: url.searchParams,
      status: reply.status,
      body: await reply.json(),
    });
  }
  return exchanges;
}
