import { at } from '#src/extras/providers/connector/read.ts';
import { add, fleetOf, type Item, iso, shownPlace } from './fleet.ts';

let made = 0;

/** The version of the newest change of any item. */
const lastVersion = () => made.toString(16).padStart(16, '0');

/** The version of a new one. */
function changed() {
  made++;
  return { version: lastVersion() };
}

/** Gives an item new fields, and the version that comes with them. */
export const geotabChange = (item: Item, more: Item) => Object.assign(item, more, changed());

export const geotabDevice = (n: number, more: Item = {}) =>
  geotabChange(
    {
      id: `b${n}`,
      name: `Van ${n}`,
      vehicleIdentificationNumber: `1FTBW3XM5${String(10_000_000 + n)}`,
      engineVehicleIdentificationNumber: '?',
      vinInfoMake: 'Ford',
      vinInfoModel: 'Transit',
      vinInfoYear: '2023',
      licensePlate: `VAN-${n}`,
      groups: [{ id: 'b27A1' }, { id: 'GroupVehicleId' }],
      activeTo: '2050-01-01T00:00:00.000Z',
    },
    more,
  );

export const geotabUser = (n: number, more: Item = {}) =>
  geotabChange(
    {
      id: `b${1000 + n}`,
      name: `sam${n}@acme.example.com`,
      firstName: 'Sam',
      lastName: `Ortiz ${n}`,
      isDriver: true,
      licenseNumber: `77-${n}`,
      licenseProvince: 'CO',
      phoneNumber: '',
      activeTo: '2050-01-01T00:00:00.000Z',
    },
    more,
  );

/** A trip of half an hour from a time (milliseconds since 1970), as Geotab gives it. */
export const geotabTrip = (device: Item, at: number, more: Item = {}) =>
  geotabChange(
    {
      id: `b${at}`,
      device: { id: device.id },
      driver: { id: 'b3E9' },
      start: iso(at),
      stop: iso(at + 1_800_000),
      distance: 24.6,
      maximumSpeed: 101,
      stopPoint: { x: -104.87, y: 39.75 },
    },
    more,
  );

/** An exception of a rule at a time (milliseconds since 1970), as Geotab gives it: no place. */
export const geotabException = (device: Item, rule: string, at: number, more: Item = {}) =>
  geotabChange(
    {
      id: `a${device.id}_${at}`,
      activeFrom: iso(at),
      activeTo: iso(at + 4_000),
      rule: { id: rule },
      device: { id: device.id },
      driver: { id: 'b3E9' },
      state: 'ExceptionEventStateValidId',
      createdDateTime: iso(at + 20_000),
      lastModifiedDateTime: iso(at + 20_000),
    },
    more,
  );

/** A position of a vehicle at a time (milliseconds since 1970), as Geotab gives it. */
export const geotabPosition = (device: Item, at: number, more: Item = {}) =>
  geotabChange(
    {
      id: `b${at}${device.id}`,
      device: { id: device.id },
      dateTime: iso(at),
      latitude: 39.7392,
      longitude: -104.9903,
    },
    more,
  );

type Params = Item & {
  typeName: string;
  search?: Item;
  sort?: { offset?: unknown };
  fromVersion?: string;
  resultsLimit?: number;
  calls: Call[];
  credentials?: { sessionId: string };
};
type Call = { method: string; params: Params };

/** A call, and the host that got it. */
export type GeotabCall = Call & { host: string };

export type GeotabFault = (call: GeotabCall) => Response | undefined;

/** `Get` never gives more, and does not say so. */
const mostItems = 5_000;

/**
 * A fake of MyGeotab: JSON-RPC with errors in 200s, sessions of one host, walks by id, feeds by
 * version, calls in bulk. Who authenticates elsewhere than at `moves` is sent there.
 */
export function fakeGeotab(
  data: GeotabData,
  {
    perPage = mostItems,
    moves,
    fault = () => undefined,
  }: { perPage?: number; moves?: string; fault?: GeotabFault } = {},
) {
  let sessions = 0;
  const lists: { [typeName: string]: Item[] } = {
    Device: data.devices,
    User: data.users,
    Trip: data.trips,
    ExceptionEvent: data.exceptions,
    Rule: data.rules,
    Group: data.groups,
    LogRecord: data.positions,
  };
  const methods: { [method: string]: (params: Params) => unknown } = {
    Get({ typeName, search = {}, sort, resultsLimit = mostItems }) {
      const found = lists[typeName]?.filter((item) => matches(item, search)) ?? [];
      const limit = Math.min(resultsLimit, mostItems);
      if (!sort) return found.slice(0, limit);
      if (typeName === 'ExceptionEvent') throw geotabError('ArgumentException');
      return found
        .filter(({ id }) => typeof sort.offset !== 'string' || inOrder(sort.offset, id) < 0)
        .toSorted((a, b) => inOrder(a.id, b.id))
        .slice(0, Math.min(limit, perPage));
    },
    GetFeed({ typeName, fromVersion, search, resultsLimit }) {
      const version = fromVersion ?? lastVersion();
      const since = search && Date.parse(String(search.fromDate));
      const isNew = (item: Item) =>
        since === undefined
          ? String(item.version) > version
          : Date.parse(String(item.stop ?? item.activeFrom)) >= since;
      const found = (lists[typeName] ?? [])
        .filter(isNew)
        .toSorted((a, b) => (String(a.version) < String(b.version) ? -1 : 1))
        .slice(0, resultsLimit);
      return { data: found, toVersion: found.at(-1)?.version ?? version };
    },
    ExecuteMultiCall: ({ calls }) => calls.map(({ method, params }) => methods[method]?.(params)),
  };

  function reply({ method, params, host }: GeotabCall) {
    if (method === 'Authenticate') {
      const { database, userName, password } = params;
      if (database !== data.database || userName !== data.user || password !== data.password)
        throw geotabError('InvalidUserException');
      const sessionId = `${data.database}-${++sessions}`;
      data.sessions.add(sessionId);
      const path = moves === undefined || host === moves ? 'ThisServer' : moves;
      return { credentials: { database, sessionId, userName }, path };
    }
    const { sessionId = '' } = params.credentials ?? {};
    if (!data.sessions.has(sessionId) || (moves !== undefined && host !== moves))
      throw geotabError('InvalidUserException');
    return methods[method]?.(params);
  }

  return async (request: Request) => {
    const call = { ...(await request.json<Call>()), host: new URL(request.url).host };
    try {
      return fault(call) ?? Response.json({ result: reply(call) });
    } catch (error) {
      if (error instanceof Response) return error;
      throw error;
    }
  };
}

/** An error as Geotab replies it: with 200. */
export const geotabError = (type: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { message: 'It did not work.', data: { type } } }, { headers });

/** Ids are in order of length, then of text. */
const inOrder = (a: unknown, b: unknown) => {
  const [one, other] = [String(a ?? ''), String(b ?? '')];
  return one.length - other.length || (one < other ? -1 : Number(one > other));
};

const idOf = (value: unknown) => at(value, 'id') ?? value;

/** Trips match by when they ended, exceptions by what overlaps, positions by their time. */
function matches(item: Item, { fromDate = '', toDate = '~', ...search }: Item) {
  const first = item.stop ?? item.dateTime ?? item.activeFrom;
  const last = item.stop ?? item.dateTime ?? item.activeTo;
  const same = {
    id: item.id,
    isDriver: item.isDriver,
    deviceSearch: item.device,
    ruleSearch: item.rule,
  };
  return (
    Object.entries(same).every(
      ([name, value]) => search[name] === undefined || idOf(search[name]) === idOf(value),
    ) &&
    (first === undefined ||
      (String(first) <= String(toDate) && String(last ?? '~') >= String(fromDate)))
  );
}

/** A database with nothing but the usual groups and rules. Tests change it while it is read. */
export const geotabDatabase = (database: string) => ({
  database,
  user: `service@${database}.example.com`,
  password: 'a password with "quotes"',
  /** The sessions that are alive: what is taken out has ended. */
  sessions: new Set<string>(),
  devices: [] as Item[],
  users: [] as Item[],
  trips: [] as Item[],
  exceptions: [] as Item[],
  rules: [
    { id: 'RuleHarshBrakingId', name: 'Harsh Braking' },
    { id: 'RulePostedSpeedingId', name: 'Speeding' },
    { id: 'RuleEnhancedMajorCollisionId', name: 'Major Collision' },
    { id: 'RuleEngineLightOnId', name: 'Engine Light On' },
  ],
  groups: [
    { id: 'GroupCompanyId', name: 'Company Group' },
    { id: 'GroupVehicleId', name: 'Vehicle' },
    { id: 'b27A1', name: 'North' },
  ],
  positions: [] as Item[],
});
export type GeotabData = ReturnType<typeof geotabDatabase>;

export const geotabCredential = (
  { database, user, password }: GeotabData,
  server = 'my.geotab.com',
) => JSON.stringify({ server, database, user, password });

let fleets = 0;

/** A crash is confirmed by being old enough. With each second event all sessions end. */
export function geotabFleet(perPage?: number) {
  const data = geotabDatabase(`fleet${fleets++}`);
  data.devices.push(geotabDevice(8, { deviceType: 'None', name: 'Trailer' })); // not a vehicle
  data.users.push(geotabUser(9, { isDriver: false }));
  return fleetOf({
    provider: 'geotab',
    origin: 'https://my.geotab.com',
    credential: geotabCredential(data),
    wrongCredential: geotabCredential({ ...data, password: 'a wrong password' }),
    serve: fakeGeotab(data, perPage ? { perPage } : {}),
    asked: ['/apiv1'],
    vehicle: (n) => add(data.devices, geotabDevice(n)),
    driver: (n) => add(data.users, geotabUser(n)),
    trip: (device, at) => add(data.trips, geotabTrip(device, at)),
    event(device, at, isCrash, more) {
      if (data.exceptions.length % 2) data.sessions.clear();
      const rule = isCrash ? 'RuleEnhancedMajorCollisionId' : 'RuleHarshBrakingId';
      data.positions.push(geotabPosition(device, at, more));
      return add(data.exceptions, geotabException(device, rule, at, more));
    },
    changed,
    confirmed: { createdDateTime: iso(Date.now() - 86_400_000) },
    dismissed: { state: 'ExceptionEventStateDismissedId' },
    movedTo(latitude, { activeFrom }) {
      Object.assign(data.positions.find(({ dateTime }) => dateTime === activeFrom) ?? {}, {
        latitude,
      });
      return undefined; // the crash says nothing of it
    },
    vin: 'vehicleIdentificationNumber',
    shown: {
      organisation: data.database,
      vehicles: {
        vin: '1FTBW3XM510000001',
        make: 'Ford',
        model: 'Transit',
        year: 2023,
        licensePlate: 'VAN-1',
        groups: ['North'],
        status: 'active',
      },
      drivers: { name: 'Sam Ortiz 1', email: 'sam1@acme.example.com', status: 1 },
      trips: {
        startLocation: null,
        endLocation: shownPlace(39.75, -104.87),
        distanceKm: 24.6,
        durationSeconds: 1800,
      },
      events: {
        incidentTypes: ['RuleHarshBrakingId'],
        location: shownPlace(39.7392, -104.9903),
      },
    },
  });
}
