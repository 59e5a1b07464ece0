import { dayMs } from '#src/core/platform/durations.ts';
import { add, type Fleet, type Item, idsOf, iso, soon } from './fleet.ts';

let made = 0;
const versionOf = (n: number): string => n.toString(16).padStart(16, '0');
const cameIn = new WeakMap<Item, number>();

/** The version of the newest change of any item. */
const lastVersion = (): string => versionOf(made);

const cameInAt = (item: Item): number => cameIn.get(item) ?? 0;

/** Gives an item new fields, and the version that comes with them. */
export const geotabChange = <T extends Item>(item: T, more: Item): T =>
  Object.assign(item, more, { version: versionOf(++made) });

function come(at: number, item: Item): Item {
  const whole = geotabChange(item, {});
  cameIn.set(whole, at);
  return whole;
}

export const geotabDevice = (n: number, more: Item = {}): Item =>
  come(0, {
    id: `b${n.toString(16).toUpperCase()}`,
    name: `Van ${n}`,
    deviceType: 'GO9',
    vehicleIdentificationNumber: `1FTBW3XM5${String(10_000_000 + n)}`,
    engineVehicleIdentificationNumber: '?',
    vinInfoMake: 'Ford',
    vinInfoModel: 'Transit',
    vinInfoYear: '2023',
    licensePlate: `VAN-${n}`,
    groups: [{ id: 'b27A1' }, { id: 'GroupVehicleId' }],
    activeFrom: '2024-03-01T10:00:00.000Z',
    activeTo: '2050-01-01T00:00:00.000Z',
    ...more,
  });

export const geotabUser = (n: number, more: Item = {}): Item =>
  come(0, {
    id: `b${(1000 + n).toString(16).toUpperCase()}`,
    name: `sam${n}@acme.example.com`,
    firstName: 'Sam',
    lastName: `Ortiz ${n}`,
    isDriver: true,
    licenseNumber: `77-${n}`,
    licenseProvince: 'CO',
    phoneNumber: '',
    activeFrom: '2024-03-01T10:00:00.000Z',
    activeTo: '2050-01-01T00:00:00.000Z',
    ...more,
  });

/** A trip of half an hour from a time (milliseconds since 1970), as Geotab gives it. */
export const geotabTrip = (device: Item, at: number, more: Item = {}): Item =>
  come(at + 1_800_000, {
    id: `b${at.toString(16).toUpperCase()}`,
    device: { id: device.id },
    driver: { id: 'b3E9', isDriver: true },
    start: iso(at),
    stop: iso(at + 1_800_000),
    distance: 24.6,
    maximumSpeed: 101,
    stopPoint: { x: -104.87, y: 39.75 },
    ...more,
  });

/** An exception of a rule at a time (milliseconds since 1970), as Geotab gives it: no place. */
export const geotabException = (device: Item, rule: string, at: number, more: Item = {}): Item =>
  come(at, {
    id: `a${device.id}_${at}`,
    activeFrom: iso(at),
    activeTo: iso(at + 4_000),
    distance: 0.05,
    rule: { id: rule, state: 'RuleStateActiveId', reason: '' },
    device: { id: device.id },
    driver: { id: 'b3E9', isDriver: true },
    state: 'ExceptionEventStateValidId',
    createdDateTime: iso(at + 20_000),
    lastModifiedDateTime: iso(at + 20_000),
    ...more,
  });

/** A position of a vehicle at a time (milliseconds since 1970), as Geotab gives it. */
export const geotabPosition = (device: Item, at: number, more: Item = {}): Item =>
  come(at, {
    id: `b${at.toString(16).toUpperCase()}${device.id}`,
    device: { id: device.id },
    dateTime: iso(at),
    latitude: 39.7392,
    longitude: -104.9903,
    speed: 64,
    ...more,
  });

/** A rule as Geotab gives it. Those of customers have ids that say nothing. */
export const geotabRule = (id: string, name: string): Item => ({
  id,
  name,
  state: 'RuleStateActiveId',
});

/** A call: its method, the type it is about, its parameters, and the host that got it. */
export type GeotabCall = { method: string; typeName: string; params: Item; host: string };

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
  const listOf = (typeName: unknown): Item[] => {
    const lists: { [typeName: string]: Item[] } = {
      Device: data.devices,
      User: data.users,
      Trip: data.trips,
      ExceptionEvent: data.exceptions,
      Rule: data.rules,
      Group: data.groups,
      LogRecord: data.positions,
    };
    const list = lists[String(typeName)];
    if (!list) throw geotabError('MissingMethodException');
    return list;
  };

  const methods: { [method: string]: (params: Item) => unknown } = {
    Get({ typeName, search, sort, resultsLimit = mostItems }) {
      const found = listOf(typeName).filter((item) =>
        matches(item, (search ?? {}) as Item, String(typeName)),
      );
      const limit = Math.min(Number(resultsLimit), mostItems);
      if (!sort) return found.slice(0, limit);
      if (typeName === 'ExceptionEvent') throw geotabError('ArgumentException');
      const { offset } = sort as Item;
      return found
        .filter((item) => typeof offset !== 'string' || inOrder(offset, item?.id) < 0)
        .toSorted((a, b) => inOrder(a?.id, b?.id))
        .slice(0, Math.min(limit, perPage));
    },
    GetFeed({ typeName, fromVersion, search, resultsLimit = 50_000 }) {
      const list = listOf(typeName);
      if (fromVersion === undefined && search === undefined)
        return { data: [], toVersion: lastVersion() };
      const since = Date.parse(String((search as Item | undefined)?.fromDate));
      const found = list
        .filter((item) =>
          fromVersion === undefined
            ? cameInAt(item) >= since
            : String(item?.version) > String(fromVersion),
        )
        .toSorted((a, b) => (String(a.version) < String(b.version) ? -1 : 1))
        .slice(0, Number(resultsLimit));
      return { data: found, toVersion: found.at(-1)?.version ?? fromVersion ?? lastVersion() };
    },
    ExecuteMultiCall: ({ calls }) =>
      (calls as { method: string; params: Item }[]).map(({ method, params }) =>
        methods[method]?.(params),
      ),
  };

  function reply({ method, params, host }: GeotabCall): unknown {
    if (method === 'Authenticate') {
      const { database, userName, password } = params;
      if (database !== data.database || userName !== data.user || password !== data.password)
        throw geotabError('InvalidUserException');
      const sessionId = `${data.database}-${++sessions}`;
      data.sessions.add(sessionId);
      const path = moves === undefined || host === moves ? 'ThisServer' : moves;
      return { credentials: { database, sessionId, userName }, path };
    }
    const session = (params.credentials as Item | undefined)?.sessionId;
    if (!data.sessions.has(String(session)) || (moves !== undefined && host !== moves))
      throw geotabError('InvalidUserException');
    return methods[method]?.(params);
  }

  return async (request: Request): Promise<Response> => {
    const { method, params } = (await request.json()) as { method: string; params: Item }; // as clients send it
    const call = {
      method,
      typeName: String(params.typeName ?? ''),
      params,
      host: new URL(request.url).host,
    };
    try {
      return fault(call) ?? Response.json({ result: reply(call), jsonrpc: '2.0' });
    } catch (error) {
      if (error instanceof Response) return error;
      throw error;
    }
  };
}

/** An error as Geotab replies it: with 200. */
export const geotabError = (type: string, headers: Record<string, string> = {}): Response => {
  const [message, name] = ['It did not work.', 'JSONRPCError'];
  const error = { message, code: -32_000, data: { type }, name, errors: [{ message, name: type }] };
  return Response.json({ error, jsonrpc: '2.0', requestIndex: 0 }, { headers });
};

/** Ids are in order of length, then of text. */
const inOrder = (a: unknown, b: unknown): number => {
  const [one, other] = [String(a ?? ''), String(b ?? '')];
  return one.length - other.length || (one < other ? -1 : Number(one > other));
};

const idOf = (value: unknown): unknown =>
  typeof value === 'object' ? (value as Item | null)?.id : value;

/** Trips match by when they ended, exceptions by what overlaps, positions by their time. */
function matches(item: Item, search: Item, typeName: string): boolean {
  const [from, to] = [String(search.fromDate ?? ''), String(search.toDate ?? '~')];
  const [first, last] =
    typeName === 'ExceptionEvent'
      ? [item?.activeFrom, item?.activeTo]
      : typeName === 'Trip'
        ? [item?.stop, item?.stop]
        : [item?.dateTime, item?.dateTime];
  const is = (name: string, value: unknown) =>
    search[name] === undefined || idOf(search[name]) === idOf(value);
  return (
    (search.id === undefined || search.id === item?.id) &&
    (search.isDriver === undefined || search.isDriver === item?.isDriver) &&
    is('deviceSearch', item?.device) &&
    is('ruleSearch', item?.rule) &&
    (first === undefined || (String(first) <= to && String(last ?? '~') >= from))
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
    geotabRule('RuleHarshBrakingId', 'Harsh Braking'),
    geotabRule('RulePostedSpeedingId', 'Speeding'),
    geotabRule('RuleEnhancedMajorCollisionId', 'Major Collision'),
    geotabRule('RuleEngineLightOnId', 'Engine Light On'),
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
): string => JSON.stringify({ server, database, user, password });

let fleets = 0;

/** A crash is confirmed by being old enough. With each second event all sessions end. */
export function geotabFleet(perPage?: number): Fleet {
  const data = geotabDatabase(`fleet${fleets++}`);
  const device = (n: number) => data.devices[n % data.devices.length] ?? {};
  const event: Fleet['event'] = (device, _, at, isCrash, more) => {
    const rule = isCrash ? 'RuleEnhancedMajorCollisionId' : 'RuleHarshBrakingId';
    data.positions.push(geotabPosition(device, at, more));
    return add(data.exceptions, geotabException(device, rule, at, more));
  };
  return {
    provider: 'geotab',
    origin: 'https://my.geotab.com',
    credential: geotabCredential(data),
    wrongCredential: geotabCredential({ ...data, password: 'a wrong password' }),
    serve: fakeGeotab(data, perPage ? { perPage } : {}),
    asked: ['/apiv1'],
    vehicle: (n) => add(data.devices, geotabDevice(n)),
    driver: (n) => add(data.users, geotabUser(n)),
    trip: (device, _, at) => add(data.trips, geotabTrip(device, at)),
    event,
    addVehicle: (n) => void data.devices.push(geotabDevice(n)),
    addEvent(n, isCrash) {
      const happened = event(device(n), n, soon(n), isCrash);
      if (n % 2 === 1) data.sessions.clear();
      const modifiedAt = Date.parse(String(happened.lastModifiedDateTime));
      return {
        sourceId: String(happened.id),
        confirm: () =>
          geotabChange(happened, {
            createdDateTime: iso(Date.now() - dayMs),
            lastModifiedDateTime: iso(modifiedAt + 1),
          }),
        move: (latitude) => void Object.assign(data.positions.at(-1) ?? {}, { latitude }),
      };
    },
    setVin: (n, vin) => void geotabChange(device(n), { vehicleIdentificationNumber: vin }),
    known: () => ({
      vehicles: idsOf(data.devices),
      drivers: idsOf(data.users),
      trips: idsOf(data.trips),
      safety_events: idsOf(data.exceptions),
    }),
  };
}
