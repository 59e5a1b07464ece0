import { dayMs } from '../../../src/platform/durations.ts';
import { fakeGeotab, geotabCredential, geotabDatabase } from '../providers/geotab.ts';
import {
  geotabChange,
  geotabDevice,
  geotabException,
  geotabPosition,
  geotabTrip,
  geotabUser,
} from '../providers/geotab-items.ts';
import { type Fleet, idsOf, longName, soon } from './fleet.ts';

let made = 0;
const iso = (ms: number) => new Date(ms).toISOString();

/** A crash is confirmed by being old enough. With each second event all sessions end. */
export function geotabFleet(): Fleet {
  const now = Date.now();
  const data = geotabDatabase(`fleet${made++}`);
  data.devices.push(...[1, 2, 3].map((n) => geotabDevice(n)));
  data.users.push(...[1, 2, 3].map((n) => geotabUser(n)));
  const device = (n: number) => data.devices[n % data.devices.length] ?? {};
  data.trips.push(...[1, 2, 3, 4].map((n) => geotabTrip(device(n), now - n * dayMs)));
  const happens = (n: number, isCrash: boolean, at: number) => {
    const rule = isCrash ? 'RuleEnhancedMajorCollisionId' : 'RuleHarshBrakingId';
    const event = geotabException(device(n), rule, at);
    data.exceptions.push(event);
    data.positions.push(geotabPosition(device(n), at));
    return event;
  };
  for (const n of [1, 2, 3, 4, 5]) happens(n, n === 2, now - n * dayMs);
  return {
    provider: 'geotab',
    origin: 'https://my.geotab.com',
    credential: geotabCredential(data),
    wrongCredential: geotabCredential({ ...data, password: 'a wrong password' }),
    serve: fakeGeotab(data, { perPage: 2 }),
    addVehicle: (n) => void data.devices.push(geotabDevice(n)),
    addBroken() {
      const broken = { vinInfoMake: 7, groups: 'none' };
      data.devices.push(geotabDevice(8, { name: longName }), geotabDevice(9, broken), null as never);
      data.exceptions.push(
        geotabException(device(0), 'RuleHarshBrakingId', soon(), { details: { maxSpeed: -3 } }),
      );
      data.positions.push(null as never, geotabPosition(device(0), soon(), { latitude: 'north' }));
    },
    addEvent(n, isCrash) {
      const event = happens(n, isCrash, soon(n));
      if (n % 2 === 1) data.sessions.clear();
      const modifiedAt = Date.parse(String(event.lastModifiedDateTime));
      return {
        sourceId: String(event.id),
        confirm: () =>
          geotabChange(event, {
            createdDateTime: iso(now - dayMs),
            lastModifiedDateTime: iso(modifiedAt + 1),
          }),
      };
    },
    known: () => ({
      vehicles: idsOf(data.devices),
      drivers: idsOf(data.users),
      trips: idsOf(data.trips),
      safety_events: idsOf(data.exceptions),
    }),
  };
}
