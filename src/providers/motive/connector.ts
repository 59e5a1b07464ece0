import type { Connector } from '../connector.ts';
import { at, idFrom } from '../read.ts';
import { isHmac } from '../signature.ts';
import { type Api, companies, page } from './api.ts';
import { drivers, events, trips, vehicles } from './feeds.ts';

/** Motive. Comments say how certain its API's behaviour is. */
export const motive: Connector<Api> = {
  provider: 'motive',
  name: 'Motive',
  baseUrl: 'https://api.gomotive.com',
  regions: {},
  credential: {
    label: 'API key',
    where: 'In Motive: Admin → Developers → API Keys → Create API Key',
    scopes: [
      'vehicles',
      'users',
      'companies',
      'driving periods',
      'driver performance events',
      'speeding events',
    ],
    example: '01a2b3c4-…',
  },
  maxHistoryDays: 365,
  open: (access) => access,
  async check(api) {
    const { items } = await page(api, companies, {}, null);
    return { name: at(items[0], 'name'), id: idFrom(at(items[0], 'id')) };
  },
  feeds: { vehicles, drivers, trips, events },
  webhook: {
    steps: [
      'In Motive, open Admin → Developers → Webhooks and add a webhook with this URL, in the format JSON.',
      'Choose a secret of 20 characters, and enter the same one here.',
      'Choose the actions driver_performance_event_created, driver_performance_event_updated and ' +
        'speeding_event_created.',
    ],
    isSigned,
  },
};

/**
 * Whether Motive signed a call: its body alone, with the secret as text. The time is not signed, so calls can be
 * replayed, which only makes the pull due.
 */
function isSigned(headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> {
  return isHmac('SHA-1', [body], () => ({
    key: new Uint8Array(new TextEncoder().encode(secret)),
    signature: Uint8Array.fromHex(headers.get('x-kt-webhook-signature') ?? ''),
  }));
}
