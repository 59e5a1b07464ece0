import { dayMs } from '../../../src/platform/durations.ts';
import {
  fakeMotive,
  motiveData,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from '../providers/motive.ts';
import { type Fleet, idsOf, longName, soon } from './fleet.ts';

let made = 0;

/** Its events are of both lists; the company's days begin at any hour, and its pages say how many there are, or not. */
export function motiveFleet(): Fleet {
  const now = Date.now();
  const data = { ...motiveData(), dayBeginsAt: made++ % 24 };
  const { vehicles } = data;
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  data.periods.push(...[1, 2, 3, 4].map((n) => motivePeriod(vehicle(n), now - n * dayMs)));
  for (const n of [1, 2, 3, 4, 5])
    data.performance.push(motiveEvent(vehicle(n), n === 2 ? 'crash' : 'hard_brake', now - n * dayMs));
  data.speeding.push(...[1, 2, 3].map((n) => motiveSpeeding(vehicle(n), now - n * dayMs)));
  const changedAt = () => new Date().toISOString();
  return {
    provider: 'motive',
    origin: 'https://api.gomotive.com',
    credential: data.key,
    wrongCredential: 'wrong-key-1',
    serve: fakeMotive(data, made % 2 === 0 ? { perPage: 2 } : { saysTotal: false }),
    addVehicle: (n) => void vehicles.push(motiveVehicle(n, { updated_at: changedAt() })),
    addBroken() {
      vehicles.push(
        motiveVehicle(8, { number: longName }),
        motiveVehicle(9, { make: 7, group_ids: 'none' }),
        null as never,
      );
      data.performance.push(motiveEvent(vehicle(0), 'hard_brake', soon(), { max_speed: -3 }), null as never);
    },
    addEvent(n, isCrash) {
      if (n % 3 === 2) {
        const event = motiveSpeeding(vehicle(n), soon(n));
        data.speeding.push(event);
        return { sourceId: `speeding:${event.id}`, confirm() {} };
      }
      const type = isCrash ? 'crash' : 'cell_phone';
      const event = motiveEvent(vehicle(n), type, soon(n), { changedAt: changedAt() });
      data.performance.push(event);
      return {
        sourceId: String(event.id),
        confirm: () => Object.assign(event, { coaching_status: 'coachable', changedAt: changedAt() }),
      };
    },
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.users),
      trips: idsOf(data.periods),
      safety_events: [...idsOf(data.performance), ...idsOf(data.speeding).map((id) => `speeding:${id}`)],
    }),
  };
}
