import { Hono } from 'hono';
import * as v from 'valibot';
import { openDatabase } from '../db/database.ts';
import { type Delivery, findDelivery, listDeliveries, listHealth, statuses } from '../deliveries/log.ts';
import { replay } from '../deliveries/replay.ts';
import { invalid } from '../errors.ts';
import type { App, Context } from '../http/context.ts';
import { ok, timestamp, timestampOrNull } from '../http/envelope.ts';
import { parse, readJson } from '../http/validation.ts';
import { isIncidentType } from '../ingest/incidents.ts';
import { Timestamp } from '../ingest/schema.ts';
import {
  addUser,
  Email,
  listUsers,
  makeSignInLink,
  type PortalUser,
  removeUser,
} from '../portal/sessions.ts';
import { issueToken, listTokens, revokeToken, type Token } from '../tokens/service.ts';
import { authenticateOperator } from './authenticate.ts';
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

/** What the operators' tool asks for; nothing here is for customers. */
export const operatorRoutes = new Hono<App>()
  .use(authenticateOperator)
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
    const { email } = parse(v.object({ email: Email }), await body(c));
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

const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'can be at most 200 characters'),
);

const NewAccount = v.object({ name: Name });

async function newAccount(c: Context) {
  const { name } = parse(NewAccount, await body(c));
  return ok(c, 'Account created', presentAccount(await createAccount(db(c), name)));
}

const AccountChange = v.object({
  status: v.picklist(['active', 'suspended'], 'must be active or suspended'),
});

async function changeAccount(c: Context) {
  const { status } = parse(AccountChange, await body(c));
  return ok(c, `Account ${status}`, presentAccount(await setAccountStatus(db(c), id(c), status)));
}

const isTypeMap = (input: unknown): input is Record<string, string[]> =>
  typeof input === 'object' &&
  input !== null &&
  Object.values(input).every(
    (types) => Array.isArray(types) && types.every((type) => typeof type === 'string'),
  );
const IncidentTypeMap = v.pipe(
  v.custom<Record<string, string[]>>(isTypeMap, "must map the provider's words to lists of types"),
  v.check(
    (map) => Object.values(map).flat().every(isIncidentType),
    'must map to normalised incident types alone',
  ),
);

const NewConnection = v.object({
  provider: v.pipe(
    v.string(),
    v.toLowerCase(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'must be letters, digits and hyphens, at most 40'),
  ),
  name: v.optional(Name),
  tSP: v.optional(Name),
  incidentTypeMap: v.optional(IncidentTypeMap),
});

const ConnectionChange = v.object({
  name: v.optional(Name),
  tSP: v.optional(Name),
  healthStatus: v.optional(
    v.picklist([1, 2, 3, 4], 'must be 1 (healthy), 2 (warning), 3 (unavailable) or 4 (degraded)'),
  ),
  incidentTypeMap: v.optional(IncidentTypeMap),
});

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

const NewToken = v.object({
  name: Name,
  expiresAt: v.optional(
    v.pipe(
      Timestamp,
      v.check((ms) => ms > Date.now(), 'must be in the future'),
    ),
  ),
});

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

const ReplayRange = v.object({ since: v.optional(Timestamp), until: v.optional(Timestamp) });

const DeliveryQuery = v.object({
  webhookId: v.pipe(v.string(), v.uuid('must be a UUID')),
  status: v.optional(v.picklist(statuses, `must be one of ${statuses.join(', ')}`)),
  since: v.optional(Timestamp),
  before: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'))),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.transform(Number),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
    ),
    '50',
  ),
});

async function deliveries(c: Context) {
  const query = parse(DeliveryQuery, c.req.query());
  return ok(c, 'Deliveries', (await listDeliveries(db(c), query)).map(presentDelivery));
}

const presentDelivery = ({ nextAttemptAt, finishedAt, log, ...delivery }: Delivery) => ({
  ...delivery,
  nextAttemptAt: delivery.status === 'pending' ? timestamp(nextAttemptAt) : null,
  finishedAt: timestampOrNull(finishedAt),
  log: log.map(({ at, ...entry }) => ({ at: timestamp(at), ...entry })),
});

async function signInLink(c: Context) {
  const { email } = parse(v.object({ email: Email }), await body(c));
  const link = await makeSignInLink(db(c), email);
  if (!link) throw invalid('Unknown address');
  return ok(c, 'Sign-in link', { url: `${new URL(c.req.url).origin}/portal/sign-in/${link}` });
}

const presentUser = ({ createdAt, lastSignInAt, ...user }: PortalUser) => ({
  ...user,
  createdAt: timestamp(createdAt),
  lastSignInAt: timestampOrNull(lastSignInAt),
});

const presentAccount = ({ createdAt, ...account }: Account) => ({
  ...account,
  createdAt: timestamp(createdAt),
});

const presentConnection = ({ tsp, createdAt, updatedAt, ...connection }: Connection) => ({
  ...connection,
  tSP: tsp,
  createdAt: timestamp(createdAt),
  updatedAt: timestamp(updatedAt),
});

const presentToken = ({ createdAt, expiresAt, lastUsedAt, revokedAt, ...token }: Token) => ({
  ...token,
  createdAt: timestamp(createdAt),
  expiresAt: timestampOrNull(expiresAt),
  lastUsedAt: timestampOrNull(lastUsedAt),
  revokedAt: timestampOrNull(revokedAt),
});
