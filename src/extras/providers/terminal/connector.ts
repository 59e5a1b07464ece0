import { type Call, call, inSize } from '../connector/call.ts';
import {
  type Access,
  type Connector,
  type Json,
  type Organisation,
  ProviderError,
  type Window,
} from '../connector/connector.ts';
import { followAll, type OpenCrash } from '../connector/crash.ts';
import { changedSince, inPasses, listFeed, type Pass } from '../connector/passes.ts';
import { wantedNames } from '../connector/pick.ts';
import {
  at,
  field,
  idFrom,
  iso,
  itemsAt,
  listAt,
  msOf,
  nameFrom,
  namesOf,
} from '../connector/read.ts';
import { isHmac, isRecent } from '../connector/signature.ts';
import {
  crashOf,
  driverRecord,
  eventRecord,
  idOf,
  tripRecord,
  vehicleOf,
  vehicleRecord,
} from './records.ts';

type Keys = { secretKey: string; connectionToken: string };

type Api = Access & { keys: Keys };

type Query = NonNullable<Call['query']>;

/** Terminal's maximum is unknown; it allows this many. */
const limit = 100;

/** Passes overlap by this. Terminal filters only by when it received something. */
const overlapMs = 60_000;

async function get(api: Api, path: string, query: Query = {}): Promise<unknown> {
  const { secretKey, connectionToken } = api.keys;
  const headers = { Authorization: `Bearer ${secretKey}`, 'Connection-Token': connectionToken };
  return (await call(api, { url: `${api.baseUrl}${path}`, headers, query })).json;
}

/** A page of a list, and the next cursor: undefined after the last. @throws Problem */
async function page(api: Api, path: string, query: Query, after: Json) {
  const cursor = typeof after === 'string' ? after : undefined;
  const most = typeof query.limit === 'number' ? query.limit : limit;
  const reply = await inSize(most, (limit) => get(api, path, { ...query, limit, cursor }));
  const next = field(reply, 'next');
  return { items: listAt(reply, 'results'), next: typeof next === 'string' ? next : undefined };
}

/** The states of a connection in which nothing new arrives. */
const lost = ['disconnected', 'archived', 'pending_deletion'];

/** The connection's customer, otherwise its provider. `problem`: why nothing new arrives. @throws Problem */
async function organisationOf(api: Api): Promise<Organisation & { problem: string | undefined }> {
  const connection = await get(api, '/connections/current');
  const provider = nameFrom(at(connection, 'provider', 'name')) || 'the provider';
  return {
    name: field(connection, 'company', 'name') ?? provider,
    id: idFrom(at(connection, 'id')),
    problem: lost.includes(String(at(connection, 'status')))
      ? `is no longer connected to ${provider}: the customer has to connect it again, through Terminal`
      : undefined,
  };
}

/** Terminal goes on listing what it has when nothing new arrives any more. @throws Problem, if so */
async function requireConnected(api: Api): Promise<void> {
  const { problem } = await organisationOf(api);
  if (problem) throw new ProviderError('unavailable', problem);
}

/** The page of a pass of a list. Deleted items are only listed on request. */
const changesOf = (path: string) => (api: Api, pass: Pass) =>
  page(api, path, { modifiedAfter: changedSince(pass), deleted: true }, pass.position);

const groupNames = (api: Api, items: unknown[]): Promise<Map<unknown, unknown>> =>
  namesOf(
    items.flatMap((item) => itemsAt(item, 'groups').map(idOf)),
    (position) => page(api, '/groups', {}, position),
    (group) => at(group, 'name'),
  );

/** What began in a window; whether its end is inclusive is unknown. */
const startedIn = ({ from, to }: Window) => ({
  startedAfter: iso(from - 1),
  startedBefore: iso(to),
});

async function tripPage(api: Api, query: Query, position: Json) {
  const { items, next } = await page(api, '/trips', query, position);
  return { records: items.map(tripRecord), next };
}

/** Events come with vehicles, for VINs, and the provider's own long records: pages are small. */
const asked = { expand: 'vehicle', raw: true, limit: 20 };

async function eventPage(api: Api, query: Query, position: Json, known: OpenCrash[]) {
  const read = (query: Query, position: Json, within: Access) =>
    page({ ...api, ...within }, '/safety/events', { ...query, ...asked }, position);
  const { items: listed, next } = await read(query, position, api);
  const begun = async ({ startedAt }: OpenCrash, within: Access) => {
    const from = msOf(startedAt);
    return (await read(startedIn({ from, to: from + 1000 }), null, within)).items;
  };
  const assess = (item: unknown) => ({
    event: eventRecord(item, api.incidentTypeMap),
    crash: crashOf(item),
  });
  const { items, records, open } = await followAll(api, listed, known, assess, begun);
  return { records, vehicles: items.flatMap(vehicleOf), next, kept: open };
}

const wanted = wantedNames(
  `
    results next id name status sourceId provider company metadata addedAt modifiedAt deletedAt
    visibility vin make model year fuelType licensePlate number groups firstName middleName lastName
    username email phone license state vehicle driver startedAt endedAt startLocation endLocation
    latitude longitude distance duration type sourceType stats maximumSpeed roadSpeedLimit
    gForceForwardBackward gForceSideToSide extensions here speedLimit cameraMedia frontFacing
    rearFacing available raw data driver_performance_event coaching_status behaviorLabels label
    source eventState dismissalReason code media
  `,
);

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
  wanted,
  open: (access) => Object.assign(access, { keys: JSON.parse(access.credential) as Keys }), // as it was read
  async check(api) {
    const { problem, ...organisation } = await organisationOf(api);
    if (problem) throw new ProviderError('invalid', `Terminal ${problem}.`);
    return organisation;
  },
  feeds: {
    vehicles: listFeed(
      overlapMs,
      async (api, pass) => {
        if (pass.position === null) await requireConnected(api);
        return changesOf('/vehicles')(api, pass);
      },
      async (items, api) => {
        const names = await groupNames(api, items);
        return items.map((item) => vehicleRecord(item, names));
      },
    ),
    drivers: listFeed(overlapMs, changesOf('/drivers'), (items) => items.map(driverRecord)),
    trips: inPasses<Api>({
      everyMinutes: 5,
      overlapMs,
      read: (api, { from, position }) => tripPage(api, { modifiedAfter: iso(from) }, position),
      history: {
        windowDays: 14,
        page: (api, window, position) => tripPage(api, startedIn(window), position),
      },
    }),
    // Terminal often receives events hours late. Crashes that may still become something else are kept.
    events: inPasses<Api, OpenCrash[]>({
      everyMinutes: 1,
      overlapMs,
      read: (api, { from, position }, kept = []) =>
        eventPage(api, { modifiedAfter: iso(from) }, position, kept),
      history: {
        windowDays: 7,
        isExact: true,
        page: (api, window, position) => eventPage(api, startedIn(window), position, []),
      },
    }),
  },
  webhook: {
    steps: [
      'In Terminal, open Webhooks and add an endpoint with this URL.',
      'Choose the events safety_event.added, safety_event.modified, vehicle.added and vehicle.modified.',
      'Copy its signing secret, which begins with whsec_, into the field below.',
    ],
    isSigned,
  },
};

const mostSignatures = 10;

/**
 * Whether Terminal signed a call, as Svix does: `<id>.<seconds>.<body>`, with a secret in base64
 * after `whsec_`. During a rotation there are several signatures, of which any will do.
 */
async function isSigned(
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const header = (name: string) =>
    headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? '';
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
