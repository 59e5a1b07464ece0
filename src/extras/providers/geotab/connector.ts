import type { Connector, Feed, ProviderRecord } from '../connector/connector.ts';
import { inPasses } from '../connector/passes.ts';
import { wantedNames } from '../connector/pick.ts';
import { at, field, iso } from '../connector/read.ts';
import { events } from './exceptions.ts';
import { driverRecord, isVehicle, tripRecord, vehicleRecord } from './records.ts';
import { type Api, feed, get, open, usualServer, walk } from './rpc.ts';

/** Devices have many fields: this makes a response of about a megabyte. */
const perPage = 250;
const tripsPerPage = 500;

/** A feed of a short list: read whole at first and daily, since Geotab does not report all deletions. */
const listFeed = (
  typeName: string,
  more: object,
  records: (api: Api, items: unknown[]) => Promise<ProviderRecord[]>,
): Feed<Api> =>
  inPasses<Api, string>({
    everyMinutes: 15,
    overlapMs: 0,
    async read(api, { isWhole, position }, version) {
      if (!isWhole && version !== undefined) {
        const {
          items,
          version: kept,
          more,
        } = await feed(api, typeName, { version, limit: perPage });
        return { records: await records(api, items), next: more ? kept : undefined, kept };
      }
      // Read before the list, so that changes meanwhile are read again.
      const kept =
        position === null ? (await feed(api, typeName, { limit: 1 })).version : (version ?? '');
      const { items, next } = await walk(api, typeName, position, {
        resultsLimit: perPage,
        ...more,
      });
      return { records: await records(api, items), next, kept };
    },
  });

/** The names of the customer's groups. Those that every database has begin with `Group`. */
async function groupNames(api: Api): Promise<Map<unknown, unknown>> {
  const groups = (await get(api, 'Group')).map((group) => [
    field(group, 'id'),
    field(group, 'name'),
  ]);
  const own = groups.filter(([id]) => !String(id).startsWith('Group'));
  return new Map(own.map(([id, name]) => [id, typeof name === 'string' ? name.trim() : name]));
}

const wanted = wantedNames(
  `
    result data toVersion error errors type credentials sessionId path id name deviceType
    vehicleIdentificationNumber engineVehicleIdentificationNumber vinInfoMake vinInfoModel
    vinInfoYear licensePlate groups activeFrom activeTo firstName lastName isDriver phoneNumber
    licenseProvince licenseNumber device driver start stop distance stopPoint x y rule state
    createdDateTime lastModifiedDateTime details maxSpeed maximumSpeed speedLimit dateTime latitude longitude
  `,
  { credentials: 10 },
);

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
        domain: 'geotab.com',
        hint: 'my.geotab.com, unless you were given another',
      },
      { name: 'database', label: 'Database', isSecret: false, isIdentity: true },
      { name: 'user', label: 'User', isSecret: false, isIdentity: true },
      { name: 'password', label: 'Password', isSecret: true },
    ],
  },
  maxHistoryDays: 365,
  wanted,
  open,
  async check(api) {
    await get(api, 'Device', { resultsLimit: 1 });
    const { database } = api.login;
    return { name: database, id: database.toLowerCase() };
  },
  feeds: {
    vehicles: listFeed('Device', {}, async (api, items) => {
      const own = items.filter(isVehicle);
      const names = own.length > 0 ? await groupNames(api) : undefined;
      return own.map((item) => vehicleRecord(item, names));
    }),
    // The feed has all users, including those who do not drive.
    drivers: listFeed('User', { search: { isDriver: true } }, async (_, items) =>
      items.filter((item) => at(item, 'isDriver') === true).map(driverRecord),
    ),
    trips: {
      everyMinutes: 5,
      async changes(api, cursor, since) {
        const from = cursor === null ? { since } : { version: cursor as string };
        const found = await feed(api, 'Trip', { ...from, limit: tripsPerPage });
        return { records: found.items.map(tripRecord), cursor: found.version, more: found.more };
      },
      history: {
        windowDays: 7,
        // The window is by end time.
        async page(api, { from, to }, after) {
          const search = { fromDate: iso(from), toDate: iso(to) };
          const { items, next } = await walk(api, 'Trip', after, {
            search,
            resultsLimit: tripsPerPage,
          });
          return { records: items.map(tripRecord), next };
        },
      },
    },
    events,
  },
};
