import { env } from 'cloudflare:workers';
import { lists } from '#src/core/fleet/lists/registry.ts';
import { fullAccount } from '#test/support/full-account.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { bodies, portalRoutes, routes } from '#test/support/routes.ts';
import { type AccountRows, addRows, rows, rowsOf } from '#test/support/rows.ts';
import {
  addConnection,
  call,
  issueToken,
  type World,
  webhookBody,
  world,
} from '#test/support/world.ts';

/** Whoever adds a route decides here how it keeps accounts apart. */
const anonymous = ['GET /health'];
const ofOperators = routes.filter((route) => route.includes(' /operator'));
const providers = routes.filter((route) => route.includes(' /providers')); // for signed calls: test/extras/providers/connection.test.ts
// The portal's are walked by a test of their own.
const customers = routes.filter(
  (route) => ![...anonymous, ...ofOperators, ...providers, ...portalRoutes].includes(route),
);

let us: World;
let them: World;
let theirs: { webhook: string; rows: AccountRows };
/** A token of the other account that is limited to another connection. */
let limited: { id: string; token: string; connectionId: string };
beforeAll(async () => {
  [us, them] = [await world(), await fullAccount()];
  await leaveWork();
  limited = await limitedBeside(them);
  const found = await rowsOf(them.accountId);
  theirs = { webhook: String(found.webhooks?.[0]?.id), rows: found };
});

async function limitedBeside({ accountId }: World) {
  const { id: connectionId } = await addConnection(accountId);
  const { id, value } = await issueToken(accountId, { connectionIds: [connectionId] });
  await rows('update tokens set last_used_at = ?1 where account_id = ?2', Date.now(), accountId);
  return { id, token: value, connectionId };
}

/** The rows of theirs, but for what their limited token did, such as an export of its connection. */
async function rowsOfOthers(): Promise<AccountRows> {
  const found = Object.entries(await rowsOf(them.accountId));
  return Object.fromEntries(
    found.map(([table, all]) => [
      table,
      all.filter((row) => ![row.actor_id, row.requested_by].includes(limited.id)),
    ]),
  );
}

// Each route is called often, and some are limited by token and by account.
const unlimited = { limit: async () => ({ success: true }) };
const bindings = { ...env, ACTION_LIMIT: unlimited, ACCOUNT_ACTION_LIMIT: unlimited };

/** Leaves what is there of theirs while something is deleted or moved, and once a driver has been erased. */
async function leaveWork(): Promise<void> {
  const [account, connection] = [
    { account_id: them.accountId },
    { connection_id: them.connection.id },
  ];
  await addRows('deletions', 1, () => ({
    id: 'a deletion of theirs',
    ...account,
    kind: 'connection',
    due_at: 9e15,
  }));
  await addRows('erased_drivers', 1, () => ({
    id: 'a driver of theirs',
    ...account,
    ...connection,
  }));
  const move = { state: 'their-secret-state', move: '{"id":"their-secret-move"}' };
  await addRows('moves', 1, () => ({ ...account, ...move }));
}

const aimedAtThem = (route: string) => {
  const [method = '', pattern = ''] = route.split(' ');
  const [item] = theirs.rows[pattern.split('/')[1]?.replace('-', '_') ?? ''] ?? [];
  const path = pattern.replace(
    ':id',
    pattern.startsWith('/webhook') ? theirs.webhook : String(item?.id),
  );
  const records = [vehicle(), driver(), trip(), safetyEvent(), accident()];
  const saves = /^\/webhook(\/:id)?$/.test(pattern);
  const body =
    path === '/ingest' ? { records } : saves ? webhookBody(them) : (bodies[route]?.(them) ?? {});
  return { method, path, ...(method !== 'GET' && method !== 'DELETE' && { body }) };
};

const period = 'from=2026-11-01&to=2100-01-01';

/** Filters of the lists by what the other account has. A webhook of theirs is as one that nobody has. */
const filters = () => {
  const ids = (table: string) => theirs.rows[table]?.map(({ id }) => id).join(',');
  const eventId = theirs.rows.deliveries?.[0]?.event_id;
  return `vehicleIds=${ids('vehicles')}&driverIds=${ids('drivers')}&eventId=${eventId}`;
};
/** Of a query what a list has: it refuses the rest. */
const asTakenBy = (route: string, query: string) => {
  const list = lists.find(({ list }) => route === `GET ${list.path}`)?.list;
  const range = list?.range || route === 'GET /deliveries' ? ['from', 'to'] : [];
  const filters = list ? Object.keys(list.filters) : ['eventId', 'webhookId'];
  const taken = [...new URLSearchParams(query)].filter(([name]) =>
    [...range, ...filters].includes(name),
  );
  return `?${new URLSearchParams(route === 'GET /changes' ? [] : taken)}`;
};
const theirWebhook = () => `webhookId=${theirs.webhook}`;

/** What must not come out: the ids of all that the other account has, and what it calls things. */
const secrets = () => [
  String(theirs.rows.webhooks?.[0]?.url),
  'their-secret',
  ...Object.values(theirs.rows).flatMap((rows) =>
    rows.flatMap(({ id }) => (typeof id === 'string' && id !== limited.connectionId ? id : [])),
  ),
];

describe('two accounts, and connections of one', () => {
  it('there are routes to walk', () => {
    expect(customers).toEqual(
      expect.arrayContaining(['GET /webhooks', 'PUT /webhook/:id', 'POST /ingest']),
    );
  });

  it('the other has something in every table, so that nothing is left out', () => {
    const empty = Object.keys(theirs.rows).filter((table) => theirs.rows[table]?.length === 0);
    expect(empty).toEqual([]);
  });

  it.each(customers)('%s neither shows nor changes anything of others', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    const ids = [them.connection.id, us.connection.id, limited.connectionId, 'all'];
    const connections = [...ids.map((id) => ({ 'connection-id': id })), {}];
    // No change looks at the query.
    for (const token of [us.apiToken, us.connection.ingestKey, limited.token])
      for (const connection of connections)
        for (const query of method !== 'GET'
          ? ['']
          : ['', period, `${period}&${filters()}`, theirWebhook()]) {
          const headers = { 'x-api-key': token, ...connection };
          const reply = await call(method, path + asTakenBy(route, query), {
            headers,
            body,
            bindings,
          });
          const text = JSON.stringify(reply);
          for (const secret of secrets()) expect(text).not.toContain(secret);
          expect([200, 400, 403, ...(/s\/:id/.test(route) ? [404] : [])]).toContain(reply.status);
        }
    expect(await rowsOfOthers()).toEqual(theirs.rows);
  });

  it.each(customers)('%s refuses whoever has no credential', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    for (const headers of [{}, { 'x-api-key': 'x' }])
      expect(await call(method, path, { headers, body })).toMatchObject({
        status: 401,
        message: 'Invalid or expired token',
      });
  });

  it.each(ofOperators)('%s refuses whoever is no operator', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    // Each from an address of its own: wrong keys are counted by address.
    for (const headers of [
      {},
      { 'x-api-key': us.apiToken },
      { authorization: `Bearer ${us.apiToken}` },
    ])
      expect(
        (
          await call(method, path, {
            headers: { ...headers, 'cf-connecting-ip': crypto.randomUUID() },
          })
        ).status,
      ).toBe(401);
  });
});
