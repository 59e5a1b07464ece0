import type { Connector, Feed } from '../connector.ts';
import { events } from './exceptions.ts';
import { drivers, trips, vehicles } from './fleet.ts';
import { get } from './lists.ts';
import { type Api, open, pageMs, readLogin, usualServer } from './rpc.ts';

/** Geotab, by the API of MyGeotab. What is known of it, and how sure that is, is said where it matters. */
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
        hint: 'my.geotab.com, unless you were given another',
      },
      { name: 'database', label: 'Database', isSecret: false },
      { name: 'user', label: 'User', isSecret: false },
      { name: 'password', label: 'Password', isSecret: true },
    ],
  },
  maxHistoryDays: 365,
  readCredential: readLogin,
  open,
  async check(api) {
    await get(api, 'Device', { resultsLimit: 1 });
    return api.session?.database ?? api.login.database;
  },
  feeds: { vehicles: timed(vehicles), drivers: timed(drivers), trips: timed(trips), events: timed(events) },
};

/** The same feed, with all calls of a page within the time that a page has. */
function timed(feed: Feed<Api>): Feed<Api> {
  const { history } = feed;
  const begin = (api: Api) => {
    api.by = Date.now() + pageMs;
  };
  return {
    ...feed,
    changes(api, cursor, since) {
      begin(api);
      return feed.changes(api, cursor, since);
    },
    ...(history && {
      history: {
        ...history,
        page(api, window, cursor) {
          begin(api);
          return history.page(api, window, cursor);
        },
      },
    }),
  };
}
