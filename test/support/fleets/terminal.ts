import { dayMs } from '../../../src/platform/durations.ts';
import {
  fakeTerminal,
  terminalCredential,
  terminalData,
  terminalEvent,
  terminalRaw,
  terminalTrip,
  terminalVehicle,
} from '../providers/terminal.ts';
import { type Fleet, idsOf, longName, soon } from './fleet.ts';

const review = (eventState: string) => [
  terminalRaw('samsara', { eventState, behaviorLabels: [{ label: 'Crash', source: 'automated' }] }),
];

export function terminalFleet(): Fleet {
  const now = Date.now();
  const data = terminalData();
  const { vehicles } = data;
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  data.trips.push(...[1, 2, 3, 4].map((n) => terminalTrip(vehicle(n), n, now - n * dayMs)));
  for (const n of [1, 2, 3, 4, 5]) {
    const [type, at] = [n === 2 ? 'crash' : 'harsh_brake', now - n * dayMs];
    data.events.push(terminalEvent(vehicle(n), type, n, at, { raw: review('reviewed') }));
  }
  let clock = now;
  const taken = () => {
    const at = new Date(clock++).toISOString(); // each change comes after those before
    return { metadata: { addedAt: at, modifiedAt: at } };
  };
  return {
    provider: 'terminal',
    origin: 'https://api.withterminal.com',
    credential: terminalCredential(data),
    wrongCredential: terminalCredential({ ...data, secretKey: 'sk_prod_wrong_1' }),
    serve: fakeTerminal(data, { perPage: 2 }),
    addVehicle: (n) => void vehicles.push(terminalVehicle(n, taken())),
    addBroken() {
      const broken = { make: 7, groups: 'none', licensePlate: 7 };
      vehicles.push(terminalVehicle(8, { name: longName }), terminalVehicle(9, broken));
      const stats = { maximumSpeed: -3 };
      data.events.push(terminalEvent(vehicle(0), 'speeding', 30, soon(), { ...taken(), stats, raw: 7 }));
    },
    addEvent(n, isCrash) {
      const more = { ...taken(), raw: review('needsReview') };
      const event = terminalEvent(vehicle(n), isCrash ? 'crash' : 'speeding', 10 + n, soon(n), more);
      data.events.push(event);
      return {
        sourceId: String(event.id),
        confirm: () => Object.assign(event, taken(), { raw: review('coached') }),
      };
    },
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.drivers),
      trips: idsOf(data.trips),
      safety_events: idsOf(data.events),
    }),
  };
}
