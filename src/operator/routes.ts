import { Hono } from 'hono';
import { openDatabase } from '../db/database.ts';
import { type Delivery, findDelivery, listDeliveries, listHealth } from '../deliveries/log.ts';
import { replay } from '../deliveries/replay.ts';
import { invalid } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ok, timestamp, timestampOrNull } from '../http/envelope.ts';
import { parse, readJson } from '../http/validation.ts';
import { addUser, listUsers, makeSignInLink, type PortalUser, removeUser } from '../portal/sessions.ts';
import { issueToken, listTokens, revokeToken, type Token } from '../tokens/service.ts';
import { authenticateOperator } from './authenticate.ts';
import {
  AccountChange,
  type AccountOutput,
  ConnectionChange,
  type ConnectionOutput,
  type DeliveryOutput,
  DeliveryQuery,
  NewAccount,
  NewConnection,
  NewToken,
  NewUser,
  ReplayRange,
  type StatusOutput,
  type TokenOutput,
  type UserOutput,
} from './schema.ts';
import {
  type Account,
  type Connection,
  createAccount,
  createConnection,
  listAccounts,
  listConnections,
  setAccountStatus,
  updateConnection,
} from './service.ts';
import { type Status, status } from './status.ts';

/** What the operators' tool asks for; nothing here is for customers. */
export const operatorRoutes = new Hono<App>()
  .use(authenticateOperator)
  .get('/status', async (c) => ok(c, 'Status', presentStatus(await status(c.env))))
  .get('/accounts', async (c) => ok(c, 'Accounts', (await listAccounts(db(c))).map(presentAccount)))
  .post('/accounts', newAccount)
  .patch('/accounts/:id', changeAccount)
  .get('/accounts/:id/connections', async (c) =>
    ok(c, 'Connections', (await listConnections(db(c), id(c))).map(presentConnection)),
  )
  .post('/accounts/:id/connections', newConnection)
  .get('/accounts/:id/tokens', async (c) =>
    ok(c, 'Tokens', (await listTokens(db(c), id(c))).map(presentToken)),
  )
  .post('/accounts/:id/tokens', newApiToken)
  .patch('/connections/:id', changeConnection)
  .post('/connections/:id/ingest-keys', newIngestKey)
  .get('/accounts/:id/webhooks', async (c) => ok(c, 'Webhooks', await listHealth(db(c), id(c))))
  .get('/deliveries', deliveries)
  .get('/deliveries/:id', async (c) => ok(c, 'Delivery', presentDelivery(await findDelivery(db(c), id(c)))))
  .post('/deliveries/:id/replay', async (c) => {
    const { webhookId } = await findDelivery(db(c), id(c));
    return ok(c, 'Replayed', await replay(c.env, webhookId, { id: id(c) }));
  })
  .post('/webhooks/:id/replay', async (c) =>
    ok(c, 'Replayed', await replay(c.env, id(c), parse(ReplayRange, await body(c)))),
  )
  .get('/accounts/:id/users', async (c) => ok(c, 'Users', (await listUsers(db(c), id(c))).map(presentUser)))
  .post('/accounts/:id/users', async (c) => {
    const { email } = parse(NewUser, await body(c));
    return ok(c, 'User added', presentUser(await addUser(db(c), id(c), email)));
  })
  .delete('/accounts/:id/users/:userId', async (c) =>
    ok(c, 'User removed', presentUser(await removeUser(db(c), id(c), c.req.param('userId')))),
  )
  .post('/sign-in-links', signInLink)
  .delete('/tokens/:id', async (c) =>
    ok(c, 'Token revoked', presentToken(await revokeToken(db(c), c.env.TOKENS, id(c)))),
  );

const db = (c: Context) => openDatabase(c.env.DB);
const id = (c: Context): string => c.req.param('id') ?? '';
const body = (c: Context) => readJson(c, 64 * 1024);

async function newAccount(c: Context) {
  const { name } = parse(NewAccount, await body(c));
  return ok(c, 'Account created', presentAccount(await createAccount(db(c), name)));
}

async function changeAccount(c: Context) {
  const { status } = parse(AccountChange, await body(c));
  return ok(c, `Account ${status}`, presentAccount(await setAccountStatus(db(c), id(c), status)));
}

async function changeConnection(c: Context) {
  const { tSP, name, healthStatus, incidentTypeMap } = parse(ConnectionChange, await body(c));
  const change = {
    ...(name !== undefined && { name }),
    ...(tSP !== undefined && { tsp: tSP }),
    ...(healthStatus !== undefined && { healthStatus }),
    ...(incidentTypeMap !== undefined && { incidentTypeMap }),
  };
  const connection = await updateConnection(db(c), c.env.TOKENS, id(c), change);
  return ok(c, 'Connection changed', presentConnection(connection));
}

async function newConnection(c: Context) {
  const input = parse(NewConnection, await body(c));
  return ok(c, 'Connection created', presentConnection(await createConnection(db(c), id(c), input)));
}

async function newApiToken(c: Context) {
  return issue(c, { accountId: id(c), ...parse(NewToken, await body(c)) });
}

async function newIngestKey(c: Context) {
  return issue(c, { connectionId: id(c), ...parse(NewToken, await body(c)) });
}

async function issue(c: Context, wanted: Parameters<typeof issueToken>[2]) {
  const { value, ...token } = await issueToken(db(c), c.env.TOKENS, wanted);
  return ok(c, 'Token issued', { ...presentToken(token), value });
}

async function deliveries(c: Context) {
  const query = parse(DeliveryQuery, c.req.query());
  return ok(c, 'Deliveries', (await listDeliveries(db(c), query)).map(presentDelivery));
}

const presentDelivery = ({ nextAttemptAt, finishedAt, log, ...delivery }: Delivery): DeliveryOutput => ({
  ...delivery,
  nextAttemptAt: delivery.status === 'pending' ? timestamp(nextAttemptAt) : null,
  finishedAt: timestampOrNull(finishedAt),
  log: log.map(({ at, ...entry }) => ({ at: timestamp(at), ...entry })),
});

const presentStatus = ({ oldestPendingAt, failing, ...rest }: Status): StatusOutput => ({
  ...rest,
  oldestPendingAt: timestampOrNull(oldestPendingAt),
  failing: failing.map(({ openUntil, ...webhook }) => ({
    ...webhook,
    openUntil: timestampOrNull(openUntil),
  })),
});

async function signInLink(c: Context) {
  const { email } = parse(NewUser, await body(c));
  const link = await makeSignInLink(db(c), email);
  if (!link) throw invalid('Unknown address');
  return ok(c, 'Sign-in link', { url: `${new URL(c.req.url).origin}/portal/sign-in/${link}` });
}

const presentUser = ({ createdAt, lastSignInAt, ...user }: PortalUser): UserOutput => ({
  ...user,
  createdAt: timestamp(createdAt),
  lastSignInAt: timestampOrNull(lastSignInAt),
});

const presentAccount = ({ createdAt, ...account }: Account): AccountOutput => ({
  ...account,
  createdAt: timestamp(createdAt),
});

const presentConnection = ({ tsp, createdAt, updatedAt, ...connection }: Connection): ConnectionOutput => ({
  ...connection,
  tSP: tsp,
  createdAt: timestamp(createdAt),
  updatedAt: timestamp(updatedAt),
});

const presentToken = ({ createdAt, expiresAt, lastUsedAt, revokedAt, ...token }: Token): TokenOutput => ({
  ...token,
  createdAt: timestamp(createdAt),
  expiresAt: timestampOrNull(expiresAt),
  lastUsedAt: timestampOrNull(lastUsedAt),
  revokedAt: timestampOrNull(revokedAt),
});
