import { type AccountRows, rowsOf } from '#test/support/account-rows.ts';
import { added } from '#test/support/added.ts';
import { fullAccount } from '#test/support/full-account.ts';
import { operations } from '#test/support/operations.ts';
import { portalRoutes, requestOf, routes, unlimited } from '#test/support/routes.ts';
import {
  accident,
  addConnection,
  addRow,
  call,
  driver,
  issueToken,
  openedBefore,
  rows,
  safetyEvent,
  trip,
  vehicle,
  webhookBody,
  worldBefore,
} from '#test/support.ts';

/** Whoever adds a route decides here how it keeps accounts apart. */
const anonymous = ['GET /health'];
const ofOperators = routes.filter((route) => route.includes(' /operator'));
const signed = added.flatMap((one) => one.signed ?? []);
// The portal's are walked by a test of their own.
const customers = routes.filter(
  (route) => ![...anonymous, ...ofOperators, ...signed, ...portalRoutes].includes(route),
);

const us = worldBefore(beforeAll);
const them = openedBefore(beforeAll, fullAccount);
/** A token of the other account that is limited to another connection. */
const limited = openedBefore(beforeAll, async () => {
  const { id: connectionId } = await addConnection(them.accountId);
  const issued = await issueToken(them.accountId, { connectionIds: [connectionId] });
  return { ...issued, connectionId };
});
const theirs = openedBefore(beforeAll, async () => {
  await leaveWork();
  const used = 'update tokens set last_used_at = ?1 where account_id = ?2';
  await rows(used, Date.now(), them.accountId);
  return rowsOf(them.accountId);
});

/** Leaves what is there of theirs while something is deleted, or work of extras is under way, and once a driver has been erased. */
async function leaveWork(): Promise<void> {
  const { accountId: account_id, connection } = them;
  await addRow('deletions', { account_id, kind: 'connection', due_at: 9e15 });
  await addRow('erased_drivers', { account_id, connection_id: connection.id });
  for (const one of added) await one.leaveWork?.(them, 'their-secret');
}

/** The rows of theirs, but for what their limited token did, such as an export of its connection. */
async function rowsOfOthers(): Promise<AccountRows> {
  const found = Object.entries(await rowsOf(them.accountId));
  const isOthers = (row: AccountRows[string][number]) =>
    ![row.actor_id, row.requested_by].includes(limited.id);
  return Object.fromEntries(found.map(([table, all]) => [table, all.filter(isOthers)]));
}

/** A request of a route for what is theirs. */
function aimedAtThem(route: string) {
  const { method, path, body } = requestOf(route, them);
  const list = path.split('/')[1]?.replace('-', '_') ?? '';
  const [item] = theirs[list === 'webhook' ? 'webhooks' : list] ?? [];
  const records = [vehicle(), driver(), trip(), safetyEvent(), accident()];
  const others: { [path: string]: object } = {
    '/ingest': { records },
    '/webhook': webhookBody(them),
    '/webhook/:id': webhookBody(them),
  };
  return {
    method,
    path: path.replace(':id', String(item?.id)),
    body: body && (others[path] ?? body),
  };
}

const period = 'from=2026-11-01&to=2100-01-01';

/** Queries by what the other account has. A webhook of theirs is as one that nobody has. */
const queries = () => {
  const ids = (table: string) => theirs[table]?.map(({ id }) => id).join(',');
  const eventId = theirs.deliveries?.[0]?.event_id;
  const filters = `vehicleIds=${ids('vehicles')}&driverIds=${ids('drivers')}&eventId=${eventId}`;
  return ['', period, `${period}&${filters}`, `webhookId=${theirs.webhooks?.[0]?.id}`];
};
/** Of a query what a route takes: it refuses the rest. */
const asTakenBy = (route: string, query: string) => {
  const { parameters = [] } = operations.find((one) => one.route === route) ?? {};
  const taken = [...new URLSearchParams(query)].filter(([name]) => parameters.includes(name));
  return `?${new URLSearchParams(taken)}`;
};

/** What must not come out: the ids of all that the other account has, and what it calls things. */
const secrets = () => [
  ...[String(theirs.webhooks?.[0]?.url), 'their-secret'],
  ...Object.values(theirs).flatMap((rows) =>
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
    expect(Object.keys(theirs).filter((table) => theirs[table]?.length === 0)).toEqual([]);
  });

  it.each(customers)('%s neither shows nor changes anything of others', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    const ids = [them.connection.id, us.connection.id, limited.connectionId, 'all'];
    const connections = [...ids.map((id) => ({ 'connection-id': id })), {}];
    const bindings = unlimited();
    const allQueries = method === 'GET' ? queries() : ['']; // no change looks at the query
    for (const token of [us.apiToken, us.connection.ingestKey, limited.value])
      for (const connection of connections)
        for (const query of allQueries) {
          const headers = { 'x-api-key': token, ...connection };
          const asked = path + asTakenBy(route, query);
          const reply = await call(method, asked, { headers, body, bindings });
          const text = JSON.stringify(reply);
          for (const secret of secrets()) expect(text).not.toContain(secret);
          expect([200, 400, 403, ...(/s\/:id/.test(route) ? [404] : [])]).toContain(reply.status);
        }
    expect(await rowsOfOthers()).toEqual(theirs);
  });

  it.each(customers)('%s refuses whoever has no credential', async (route) => {
    const { method, path, body } = aimedAtThem(route);
    const refused = { status: 401, message: 'Invalid or expired token' };
    for (const headers of [{}, { 'x-api-key': 'x' }])
      expect(await call(method, path, { headers, body })).toMatchObject(refused);
  });

  it.each(ofOperators)('%s refuses whoever is no operator', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const token = us.apiToken;
    for (const credential of [{}, { 'x-api-key': token }, { authorization: `Bearer ${token}` }]) {
      // Each from an address of its own: wrong keys are counted by address.
      const headers = { ...credential, 'cf-connecting-ip': crypto.randomUUID() };
      expect((await call(method, path, { headers })).status).toBe(401);
    }
  });
});
