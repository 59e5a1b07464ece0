import { fakeSamsara, type SamsaraData, samsaraVehicle } from '../../src/dev/fakes/samsara.ts';
import type { receiver } from './receiver.ts';

/** What goes wrong with a call of this path: a reply instead of the data. */
type Fault = (path: string) => Response | undefined;

/** Where Samsara is, and a token that the fake takes. */
export const samsaraOrigin = 'https://api.samsara.com';
export const samsaraToken = 'samsara_api_made_up_1';

/** A Samsara with two vehicles, and nothing that happened yet. */
export const samsaraData = (token = samsaraToken): SamsaraData => ({
  organisation: 'Acme Trucking',
  token,
  vehicles: [samsaraVehicle(1), samsaraVehicle(2)],
  drivers: [],
  trips: [],
  events: [],
});

/**
 * Stands in for Samsara with two vehicles. Tests change `data` while it is read, and let calls fail by `fault`; `calls`
 * are the URLs that were called.
 */
export function samsara(hooks: ReturnType<typeof receiver>, { perPage = 100 }: { perPage?: number } = {}) {
  const data = samsaraData();
  const provider = { data, calls: [] as URL[], fault: undefined as Fault | undefined };
  const serve = fakeSamsara(data, { perPage });
  hooks.serves(samsaraOrigin, (request) => {
    const url = new URL(request.url);
    provider.calls.push(url);
    return provider.fault?.(url.pathname) ?? serve(request);
  });
  return provider;
}
