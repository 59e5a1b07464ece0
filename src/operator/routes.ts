import { Hono } from 'hono';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import { listAudit } from '../accounts/audit/list.ts';
import { operatorIn, operatorInOwnerOf } from '../accounts/owner.ts';
import { addPortalUser, listPortalUsers, removePortalUser } from '../accounts/people.ts';
import { createSignInLinks, signInUrl } from '../accounts/sessions.ts';
import { issueToken, listTokens, type NewToken, revokeToken } from '../accounts/tokens/service.ts';
import { createConnection, sliceConnections, updateConnection } from '../fleet/connections.ts';
import { lists } from '../fleet/lists/registry.ts';
import { readList } from '../fleet/service.ts';
import type { Caller } from '../platform/db/guard.ts';
import { invalid } from '../platform/errors.ts';
import { parse } from '../platform/fields.ts';
import { homesOf, mainHome } from '../platform/homes/homes.ts';
import { readJson } from '../platform/http/body.ts';
import type { App, Context } from '../platform/http/context.ts';
import { ok } from '../platform/http/envelope.ts';
import { okSlice, requestedSlice } from '../platform/http/slices.ts';
import { connectProvider } from '../providers/connect.ts';
import { findDelivery, listDeliveries, locateDelivery } from '../webhooks/deliveries/queries.ts';
import { listReceivers } from '../webhooks/deliveries/receivers.ts';
import { replay, replayOne } from '../webhooks/deliveries/replay.ts';
import { countReplayable } from '../webhooks/deliveries/replayable.ts';
import { setReceiverLimits } from '../webhooks/limits.ts';
import { authenticateOperator } from './authenticate.ts';
import { activateAccount, deleteAccount, deleteConnection, eraseDriver } from './deletion/accept.ts';
import { continueDeletion } from './deletion/run.ts';
import { presentDelivery, presentStatus, presentWebhook } from './delivery-replies.ts';
import { listAllAccounts, listAllDeletions, listEverybodysAudit } from './homes/lists.ts';
import { listHomes } from './homes/overview.ts';
import { presentHome } from './homes/replies.ts';
import { enterHomeOfId } from './homes/routes.ts';
import { status } from './homes/status.ts';
import { moveRoutes } from './moves/routes.ts';
import { pullRoutes } from './pulls/routes.ts';
import {
  presentAccount,
  presentAuditEntry,
  presentConnection,
  presentDeletion,
  presentProgress,
  presentToken,
  presentUser,
} from './replies.ts';
import {
  AccountChange,
  AccountDeletion,
  ConnectionChange,
  ConnectionDeletion,
  DeliveryQuery,
  NewAccount,
  NewConnection,
  NewToken as NewTokenInput,
  NewUser,
  ReceiverLimits,
  RecordsQuery,
  ReplayQuery,
  ReplayRange,
  SignInLinkInput,
} from './schema.ts';

/** What the operator's tool calls. Nothing here is for customers. */
export const operatorRoutes = new Hono<App>()
  .use(authenticateOperator)
  .use(enterHomeOfId)
  .get('/status', async (c) => ok(c, 'Status', presentStatus(await status(c.env))))
  .get('/homes', async (c) =>
    ok(
      c,
      'Homes',
      (await listHomes(c.env)).map((home) => presentHome(home)),
    ),
  )
  .get('/accounts', async (c) =>
    okSlice(c, 'Accounts', await listAllAccounts(c.env, requestedSlice(c)), presentAccount),
  )
  .post('/accounts', newAccount)
  .patch('/accounts/:id', editAccount)
  .get('/accounts/:id/audit', async (c) =>
    okSlice(c, 'Audit log', await listAudit(c.env, inAccount(c), requestedSlice(c)), presentAuditEntry),
  )
  .get('/audit', async (c) =>
    okSlice(c, 'Audit log', await listEverybodysAudit(c.env, requestedSlice(c)), presentAuditEntry),
  )
  .get('/accounts/:id/connections', async (c) =>
    okSlice(
      c,
      'Connections',
      await sliceConnections(c.env, inAccount(c), requestedSlice(c)),
      presentConnection,
    ),
  )
  .post('/accounts/:id/connections', newConnection)
  .get('/accounts/:id/tokens', async (c) =>
    okSlice(c, 'Tokens', await listTokens(c.env, inAccount(c), requestedSlice(c)), presentToken),
  )
  .post('/accounts/:id/tokens', newApiToken)
  .get('/accounts/:id/webhooks', webhooks)
  .get('/accounts/:id/users', async (c) =>
    okSlice(c, 'Users', await listPortalUsers(c.env, inAccount(c), requestedSlice(c)), presentUser),
  )
  .post('/accounts/:id/users', newUser)
  .delete('/accounts/:id/users/:userId', removeUser)
  .post('/sign-in-links', signInLink)
  .patch('/connections/:id', changeConnection)
  .route('/connections', pullRoutes)
  .route('/accounts', moveRoutes)
  .post('/accounts/:id/deletion', removeAccount)
  .post('/connections/:id/deletion', removeConnection)
  .post('/drivers/:id/erasure', forgetDriver)
  .get('/connections/:id/records', records)
  .get('/deletions', async (c) => ok(c, 'Deletions', (await listAllDeletions(c.env)).map(presentDeletion)))
  .post('/deletions/:id/continue', goOnDeleting)
  .post('/connections/:id/ingest-keys', newIngestKey)
  .delete('/tokens/:id', removeToken)
  .get('/deliveries', deliveries)
  .get('/deliveries/:id', delivery)
  .post('/deliveries/:id/replay', replayDelivery)
  .get('/webhooks/:id/replay', countReplay)
  .post('/webhooks/:id/replay', replayWebhook)
  .patch('/webhooks/:id/limits', changeLimits);

const id = (c: Context): string => c.req.param('id') ?? '';
const inAccount = (c: Context) => operatorIn(id(c));
const body = (c: Context) => readJson(c, 64 * 1024);

async function newAccount(c: Context) {
  const { name, home = mainHome } = parse(NewAccount, await body(c));
  const env = homesOf(c.env).get(home);
  if (!env) {
    const must = `must be one of ${[...homesOf(c.env).keys()].join(', ')}`;
    throw invalid(`home ${must}`, [{ field: 'home', message: must }]);
  }
  return ok(c, 'Account created', presentAccount(await createAccount(env, name)));
}

async function editAccount(c: Context) {
  const changes = parse(AccountChange, await body(c));
  const account =
    changes.status === 'active'
      ? await activateAccount(c.env, id(c), changes.name)
      : await changeAccount(c.env, id(c), changes);
  return ok(c, `Account ${changes.status ?? 'changed'}`, presentAccount(account));
}

async function newConnection(c: Context) {
  const input = parse(NewConnection, await body(c));
  const { credential, baseUrl, historyDays, ...plain } = input;
  const connection =
    credential === undefined
      ? await createConnection(c.env, inAccount(c), plain)
      : await connectProvider(c.env, inAccount(c), { ...plain, credential, baseUrl, historyDays });
  return ok(c, 'Connection created', presentConnection(connection));
}

async function changeConnection(c: Context) {
  const { tSP, name, healthStatus, incidentTypeMap } = parse(ConnectionChange, await body(c));
  const changes = {
    ...(name !== undefined && { name }),
    ...(tSP !== undefined && { tsp: tSP }),
    ...(healthStatus !== undefined && { healthStatus }),
    ...(incidentTypeMap !== undefined && { incidentTypeMap }),
  };
  const caller = await operatorInOwnerOf(c.env, 'connection', id(c));
  return ok(
    c,
    'Connection changed',
    presentConnection(await updateConnection(c.env, caller, id(c), changes)),
  );
}

async function removeAccount(c: Context) {
  const input = parse(AccountDeletion, await body(c));
  return ok(c, 'Account suspended', presentProgress(await deleteAccount(c.env, id(c), input)));
}

async function removeConnection(c: Context) {
  const { name } = parse(ConnectionDeletion, await body(c));
  const caller = await operatorInOwnerOf(c.env, 'connection', id(c));
  const deletion = await deleteConnection(c.env, caller, id(c), name);
  return ok(c, 'Connection taken from its account', presentProgress(deletion));
}

/** A page of one of a connection's lists, as a client with its Connection-Id reads it. */
async function records(c: Context) {
  const { kind } = parse(RecordsQuery, c.req.query());
  const resource = lists.find((one) => one.kind === kind);
  if (!resource)
    throw invalid('kind must be the kind of a list', [
      { field: 'kind', message: 'must be the kind of a list' },
    ]);
  const caller = await operatorInOwnerOf(c.env, 'connection', id(c));
  const { kind: _, ...query } = c.req.queries();
  const { items, next } = await readList<unknown>(c.env, caller, resource.list, {
    connectionId: id(c),
    query,
  });
  return ok(c, 'Records', items, next);
}

async function forgetDriver(c: Context) {
  const caller = await operatorInOwnerOf(c.env, 'driver', id(c));
  return ok(c, 'Driver erased', presentProgress(await eraseDriver(c.env, caller, id(c))));
}

async function goOnDeleting(c: Context) {
  return ok(c, 'Deletion', presentProgress(await continueDeletion(c.env, id(c))));
}

async function newApiToken(c: Context) {
  return issue(c, inAccount(c), parse(NewTokenInput, await body(c)));
}

async function newIngestKey(c: Context) {
  const input = parse(NewTokenInput, await body(c));
  const caller = await operatorInOwnerOf(c.env, 'connection', id(c));
  return issue(c, caller, { connectionId: id(c), ...input });
}

async function issue(c: Context, caller: Caller, wanted: NewToken) {
  const { value, ...token } = await issueToken(c.env, caller, wanted);
  return ok(c, 'Token issued', { ...presentToken(token), value });
}

async function removeToken(c: Context) {
  const caller = await operatorInOwnerOf(c.env, 'token', id(c));
  return ok(c, 'Token revoked', presentToken(await revokeToken(c.env, caller, id(c))));
}

async function webhooks(c: Context) {
  return ok(c, 'Webhooks', (await listReceivers(c.env, inAccount(c))).map(presentWebhook));
}

async function changeLimits(c: Context) {
  const limits = parse(ReceiverLimits, await body(c));
  const caller = await operatorInOwnerOf(c.env, 'webhook', id(c));
  await setReceiverLimits(c.env, caller, id(c), limits);
  return ok(c, 'Limits changed', (await listReceivers(c.env, caller, id(c))).map(presentWebhook)[0]);
}

async function deliveries(c: Context) {
  const query = parse(DeliveryQuery, c.req.query());
  const caller = await operatorInOwnerOf(c.env, 'webhook', query.webhookId);
  return ok(c, 'Deliveries', (await listDeliveries(c.env, caller, query)).map(presentDelivery));
}

async function delivery(c: Context) {
  const { accountId, ...key } = await locateDelivery(c.env, id(c));
  const found = await findDelivery(c.env, operatorIn(accountId), key);
  if (!found) throw invalid('Unknown delivery');
  const { payload: _, about: _about, webhook: _webhook, ...shown } = found;
  return ok(c, 'Delivery', presentDelivery(shown));
}

async function replayDelivery(c: Context) {
  const { accountId, ...key } = await locateDelivery(c.env, id(c));
  return ok(c, 'Replayed', await replayOne(c.env, operatorIn(accountId), key));
}

async function countReplay(c: Context) {
  const selection = parse(ReplayQuery, c.req.query());
  const caller = await operatorInOwnerOf(c.env, 'webhook', id(c));
  return ok(c, 'Counted', await countReplayable(c.env, caller, id(c), selection));
}

async function replayWebhook(c: Context) {
  const selection = parse(ReplayRange, await body(c));
  const caller = await operatorInOwnerOf(c.env, 'webhook', id(c));
  return ok(c, 'Replayed', await replay(c.env, caller, id(c), selection));
}

async function newUser(c: Context) {
  const { email, role } = parse(NewUser, await body(c));
  return ok(c, 'User added', presentUser(await addPortalUser(c.env, inAccount(c), email, role)));
}

async function removeUser(c: Context) {
  const user = await removePortalUser(c.env, inAccount(c), c.req.param('userId') ?? '');
  return ok(c, 'User removed', presentUser(user));
}

async function signInLink(c: Context) {
  const { email, accountId } = parse(SignInLinkInput, await body(c));
  const [link, ...others] = await createSignInLinks(c.env, email, accountId);
  if (!link) throw invalid('Unknown address');
  if (others.length > 0)
    throw invalid('Several accounts have invited this address', [
      { field: 'accountId', message: 'must name one of them' },
    ]);
  return ok(c, 'Sign-in link', { url: signInUrl(c.env, link) });
}
