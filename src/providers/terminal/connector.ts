import type { Connector } from '../connector.ts';
import { Problem } from '../problem.ts';
import { isHmac, isRecent } from '../signature.ts';
import type { Api, Keys } from './api.ts';
import { organisationOf } from './api.ts';
import { drivers, events, trips, vehicles } from './feeds.ts';

/** Terminal, which reads many telematics providers. */
export const terminal: Connector<Api> = {
  provider: 'terminal',
  name: 'Terminal',
  baseUrl: 'https://api.withterminal.com/tsp/v1',
  regions: { sandbox: 'https://api.sandbox.withterminal.com/tsp/v1' },
  credential: {
    label: 'secret key or connection token',
    where:
      "In Terminal: the secret key is under API Keys, and the connection token comes with the customer's connection",
    scopes: [],
    example: '{"secretKey": "sk_…", "connectionToken": "con_tkn_…"}',
    fields: [
      { name: 'secretKey', label: 'Secret key', isSecret: true, hint: 'Begins with sk_' },
      {
        name: 'connectionToken',
        label: 'Connection token',
        isSecret: true,
        isIdentity: true,
        hint: 'Begins with con_tkn_',
      },
    ],
  },
  maxHistoryDays: 365,
  open: (access) => ({ access, keys: JSON.parse(access.credential) as Keys }), // as it was read
  async check(api) {
    const { problem, ...organisation } = await organisationOf(api);
    if (problem) throw new Problem('invalid', `Terminal ${problem}.`);
    return organisation;
  },
  feeds: { vehicles, drivers, trips, events },
  webhook: {
    steps: [
      'In Terminal, open Webhooks and add an endpoint with this URL.',
      'Choose the events safety_event.added, safety_event.modified, vehicle.added and vehicle.modified.',
      'Copy its signing secret, which begins with whsec_, into the field below.',
    ],
    isSigned,
  },
};

/**
 * Whether Terminal signed a call, as Svix does: `<id>.<seconds>.<body>`, with the bytes of the secret, which is base64
 * after `whsec_`. The headers have one of two names. During a rotation there are several signatures, of which any will
 * do.
 */
async function isSigned(headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> {
  const header = (name: string) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? '';
  const [id, timestamp] = [header('id'), header('timestamp')];
  if (!id || !timestamp || !isRecent(Number(timestamp) * 1000)) return false;
  const signatures = header('signature')
    .split(' ', mostSignatures)
    .filter((one) => one.startsWith('v1,'))
    .map((one) =>
      isHmac('SHA-256', [`${id}.${timestamp}.`, body], () => ({
        key: Uint8Array.fromBase64(secret.replace(/^whsec_/, '')),
        signature: Uint8Array.fromBase64(one.slice(3)),
      })),
    );
  return (await Promise.all(signatures)).includes(true);
}

/** How many secrets are valid at a time. */
const mostSignatures = 10;
