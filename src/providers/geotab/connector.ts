import type { Connector } from '../connector.ts';
import { events } from './exceptions.ts';
import { drivers, trips, vehicles } from './fleet.ts';
import { type Api, get, open, usualServer } from './rpc.ts';

/** Geotab, by the API of MyGeotab. Comments say how certain its behaviour is. */
export const geotab: Connector<Api> = {
  provider: 'geotab',
  name: 'Geotab',
  baseUrl: usualServer,
  regions: {},
  credential: {
    label: 'login',
    where: 'In MyGeotab: People → Users & Drivers → Add, a service account for this service alone',
    scopes: ['the clearance View Only', 'data access to the whole company'],
    example:
      '{"server": "my.geotab.com", "database": "acme", "user": "fleet-data-service@acme.example", "password": "…"}',
    fields: [
      {
        name: 'server',
        label: 'Server',
        isSecret: false,
        otherwise: 'my.geotab.com',
        hint: 'my.geotab.com, unless you were given another',
      },
      { name: 'database', label: 'Database', isSecret: false, isIdentity: true },
      { name: 'user', label: 'User', isSecret: false, isIdentity: true },
      { name: 'password', label: 'Password', isSecret: true },
    ],
  },
  maxHistoryDays: 365,
  open,
  async check(api) {
    await get(api, 'Device', { resultsLimit: 1 });
    const name = api.session?.database ?? api.login.database;
    return { name, id: name.toLowerCase() };
  },
  feeds: { vehicles, drivers, trips, events },
};
