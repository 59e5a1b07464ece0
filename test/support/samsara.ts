import { type Fault, fakeSamsara, type SamsaraData, samsaraVehicle } from '../../src/dev/fakes/samsara.ts';
import type { receiver } from './receiver.ts';

/** Where Samsara is, and a token that the fake takes. */
export const samsaraOrigin = 'https://api.samsara.com';
export const samsaraToken = 'samsara_api_made_up_1';

/**
 * Stands in for Samsara with two vehicles. Tests change `data` while it is read, and let calls fail by `fault`; `calls`
 * are the URLs that were called.
 */
export function samsara(hooks: ReturnType<typeof receiver>, { perPage = 100 }: { perPage?: number } = {}) {
  const data: SamsaraData = {
    organisation: 'Acme Trucking',
    token: samsaraToken,
    vehicles: [samsaraVehicle(1), samsaraVehicle(2)],
    drivers: [],
    trips: [],
    events: [],
  };
  const provider = { data, calls: [] as URL[], fault: (() => undefined) as Fault };
  const serve = fakeSamsara(data, { perPage, fault: (path, n) => provider.fault(path, n) });
  hooks.serves(samsaraOrigin, (request) => {
    provider.calls.push(new URL(request.url));
    return serve(request);
  });
  return provider;
}
