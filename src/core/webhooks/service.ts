import {
  and,
  count,
  eq,
  exists,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  type SQL,
  sql,
} from 'drizzle-orm';
import { audit } from '../accounts/audit/write.ts';
import { normalisedUrl } from '../platform/address.ts';
import { type Sealed, seal } from '../platform/crypto.ts';
import {
  type Database,
  jsonList,
  refuse,
  refuseUnless,
  unlessTaken,
} from '../platform/db/database.ts';
import { asCaller, type Caller, isWithin } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { webhookConnections, webhooks } from '../platform/db/schema/webhooks.ts';
import { type Failure, invalid } from '../platform/errors.ts';
import { send } from '../platform/queue.ts';
import { wakeOf } from './deliveries/queue.ts';
import { allowProbe } from './deliveries/receiver/store.ts';
import { untilNoCallStarts } from './deliveries/send/in-flight.ts';
import { maxConnections, maxWebhooks, pick, plainFields } from './fields.ts';
import { canMatch, stored } from './filters.ts';
import type { NotificationType } from './notifications/types.ts';
import { sealClient } from './oauth.ts';
import type { WebhookInput } from './schema.ts';
import { newSecret, sealSecret } from './signing.ts';
import {
  changedFields,
  findRow,
  type Labels,
  opened,
  ownWebhook,
  revisionColumn,
  type SelectedWebhook,
  selectWebhooks,
  type Webhook,
} from './stored.ts';

/** A saved webhook, with the signing secret if that is new. */
export type SavedWebhook = Webhook & { signingSecret?: string };

/** The total size of an account's webhooks, which are listed in one response. */
export const maxWebhookBytes = 2_000_000;

/** SQL for about their size. All connections count as 1,000, so that a new one can always join. */
function webhookBytes(db: Database, { accountId }: Caller): SQL {
  const own = eq(webhooks.accountId, accountId);
  const { url, headers, filters, oauth, allConnections } = webhooks;
  const size = sql`coalesce(sum(300 + octet_length(${url}) + length(${headers})
    + coalesce(octet_length(${filters}), 0) + coalesce(length(${oauth}), 0)
    + 39 * ${maxConnections} * ${allConnections}), 0)`;
  const sizes = db.select({ size }).from(webhooks).where(own);
  const named = db
    .select({ count: count() })
    .from(webhooks)
    .crossJoin(webhookConnections)
    .where(and(own, eq(allConnections, false), eq(webhookConnections.webhookId, webhooks.id)));
  return sql`${sizes} + 39 * ${named}`;
}

const tooLarge: Failure = {
  kind: 'invalid',
  message: 'The webhooks of an account can be at most 2 MB in all',
  errors: [{ field: 'connectionIds', message: 'must be fewer, or headers shorter' }],
};

const mustBeListable = (db: Database, caller: Caller) =>
  refuseUnless(db, lte(webhookBytes(db, caller), maxWebhookBytes), tooLarge);

/** Creates a webhook, active at once. @throws Refusal: invalid, also for a url in use or too many webhooks */
export async function createWebhook(
  env: Env,
  caller: Caller,
  input: WebhookInput,
  labels: Labels = { name: null, description: null },
): Promise<SavedWebhook> {
  const { accountId } = caller;
  const id = newId();
  const { secret, ...columns } = await columnsOf(env, id, input);
  const create = (db: Database) => ({
    known: ownsConnections(db, caller, input),
    room: refuseUnless(
      db,
      lt(db.$count(webhooks, eq(webhooks.accountId, accountId)), maxWebhooks),
      `An account can have at most ${maxWebhooks} webhooks`,
    ),
    inserted: db
      .insert(webhooks)
      .values({ id, accountId, createdAt: Date.now(), ...columns, ...labels }),
    subscribed: subscribe(db, caller, id, input),
    listable: mustBeListable(db, caller),
    audited: audit(
      db,
      caller,
      'created',
      'webhooks',
      id,
      columns.allConnections ? ['allConnections'] : [],
    ),
    created: selectWebhooks(db, ownWebhook(caller, id)),
  });
  const { created } = await savingUrl(() => asCaller(env, caller, create));
  return saved(env, created[0], secret);
}

/** A webhook as it was just saved. @throws Refusal: invalid, if it is gone */
async function saved(
  env: Env,
  row: SelectedWebhook | undefined,
  signingSecret?: string,
): Promise<SavedWebhook> {
  if (!row) throw invalid('Invalid webhook id');
  return { ...(await opened(env, row)), ...(signingSecret !== undefined && { signingSecret }) };
}

/**
 * Replaces a webhook, if it was not saved since `revision`. Once it returns, no call to the old one
 * can start. Without `labels` it keeps its own.
 * @throws Refusal: invalid
 */
export async function updateWebhook(
  env: Env,
  caller: Caller,
  id: string,
  input: WebhookInput,
  { revision, labels }: { revision?: string; labels?: Labels } = {},
): Promise<SavedWebhook> {
  const before = await findRow(env, caller, id);
  const fields = before && (await changedFields(env, before, { ...input, ...labels }));
  const { secret, headers, filters, signing, ...columns } = await columnsOf(
    env,
    id,
    input,
    before?.oauth,
  );
  const isCurrent = revision === undefined ? undefined : eq(revisionColumn, revision);
  const own = ownWebhook(caller, id);
  const changed =
    'This webhook has been changed since you opened it. Open it again, then make your changes.';
  const save = (db: Database) => ({
    current: refuseUnless(
      db,
      exists(db.select({ id: webhooks.id }).from(webhooks).where(and(own, isCurrent))),
      revision === undefined ? 'Invalid webhook id' : changed,
    ),
    known: ownsConnections(db, caller, input),
    updated: db
      .update(webhooks)
      .set({
        ...columns,
        ...labels,
        headers,
        filters: filters === undefined ? unlessUnmatchable(input.notificationTypes) : filters,
        ...(columns.oauth !== undefined && { oauthToken: null }),
        signing: signing && sql`coalesce(${webhooks.signing}, ${signing})`,
        ...(input.signing === false && { signing: null }),
      })
      .where(own),
    unsubscribed: db.delete(webhookConnections).where(eq(webhookConnections.webhookId, id)),
    subscribed: subscribe(db, caller, id, input),
    listable: mustBeListable(db, caller),
    audited: audit(db, caller, 'changed', 'webhooks', id, fields),
    saved: selectWebhooks(db, own),
  });
  const results = await savingUrl(() => asCaller(env, caller, save));
  const [row] = results.saved;
  await untilNoCallStarts(env, [id]);
  return saved(env, row, row?.signing === signing ? secret : undefined);
}

/** Gives a webhook a new signing secret; the old one signs as well for 24 hours. @throws Refusal: invalid */
export async function rotateSecret(
  env: Env,
  caller: Caller,
  id: string,
): Promise<{ signingSecret: string }> {
  const found = await findRow(env, caller, id);
  if (!found) throw invalid('Invalid webhook id');
  if (found.signing === null) throw invalid('Deliveries of this webhook are not signed');
  const signingSecret = newSecret();
  const sealed = JSON.stringify(
    await sealSecret(env, id, signingSecret, JSON.parse(found.signing)),
  );
  const isUnchanged = sql`${eq(webhooks.id, id)} and ${eq(webhooks.signing, found.signing)}`;
  const rotate = (db: Database) => ({
    audited: audit(db, caller, 'changed', 'webhooks', isUnchanged, ['signingSecret']),
    rotated: db.update(webhooks).set({ signing: sealed }).where(isUnchanged),
  });
  const { rotated } = await asCaller(env, caller, rotate);
  // Another rotation may have been faster: this one follows it.
  return rotated.meta.changes > 0 ? { signingSecret } : rotateSecret(env, caller, id);
}

/** Deletes a webhook. Once it returns, within seconds, no call can start. @throws Refusal: invalid */
export async function deleteWebhook(env: Env, caller: Caller, id: string): Promise<void> {
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, id),
    audit(db, caller, 'deleted', 'webhooks', id),
    db.delete(webhooks).where(eq(webhooks.id, id)),
  ]);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [id])); // its worker cancels pending deliveries
  await untilNoCallStarts(env, [id]);
}

/** Pauses or resumes a webhook: its deliveries wait, and no call can start. @throws Refusal: invalid */
export async function setPaused(
  env: Env,
  caller: Caller,
  id: string,
  paused: boolean,
): Promise<SavedWebhook> {
  const now = Date.now();
  const isOther = paused ? isNull(webhooks.pausedAt) : isNotNull(webhooks.pausedAt);
  const changes = sql`${ownWebhook(caller, id)} and ${isOther}`;
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, id),
    audit(db, caller, 'changed', 'webhooks', changes, [paused ? 'paused' : 'resumed']),
    paused ? undefined : allowProbe(db, sql`(select id from webhooks where ${changes})`, now),
    db
      .update(webhooks)
      .set({ pausedAt: paused ? now : null })
      .where(changes),
  ]);
  if (paused) await untilNoCallStarts(env, [id]);
  else await send(env.DELIVERIES, wakeOf(caller.accountId, [id]));
  return saved(env, await findRow(env, caller, id));
}

/** Limits the calls to a receiver; null for the service's own limit. @throws Refusal: invalid */
export async function setReceiverLimits(
  env: Env,
  caller: Caller,
  id: string,
  limits: { maxInFlight?: number | null | undefined; maxPerSecond?: number | null | undefined },
): Promise<void> {
  await asCaller(env, caller, (db) => [
    mustBeOurs(db, caller, id),
    db
      .update(webhooks)
      .set({ id, ...limits })
      .where(ownWebhook(caller, id)),
    audit(db, caller, 'changed', 'webhooks', id, Object.keys(limits)),
  ]);
}

const filtersWithoutType: Failure = {
  kind: 'invalid',
  message: 'The filters of this webhook need a notification type that is left out',
  errors: [{ field: 'notificationTypes', message: 'must include what the filters are about' }],
};

const mustBeOurs = (db: Database, caller: Caller, id: string) =>
  refuseUnless(
    db,
    exists(db.select({ id: webhooks.id }).from(webhooks).where(ownWebhook(caller, id))),
    'Invalid webhook id',
  );

const unlessUnmatchable = (types: NotificationType[]): SQL =>
  sql`case when ${canMatch(sql`${webhooks.filters}`, types)} then ${webhooks.filters}
    else ${refuse(filtersWithoutType)} end`;

/** A token limited to some connections must name those of its own. */
function ownsConnections(
  db: Database,
  caller: Caller,
  { connectionIds: ids, allConnections }: WebhookInput,
) {
  const within = isWithin(caller, connections.id);
  const own = and(
    inArray(connections.id, jsonList(ids)),
    eq(connections.accountId, caller.accountId),
    within,
  );
  const isNamed = !within || (ids.length > 0 && !allConnections);
  return refuseUnless(
    db,
    sql`${Number(isNamed)} and ${db.$count(connections, own)} = ${ids.length}`,
    { kind: 'invalid', message: 'Invalid connection ids', code: 'unknown connections' },
  );
}

function subscribe(
  db: Database,
  { accountId }: Caller,
  id: string,
  { connectionIds, notificationTypes, allConnections }: WebhookInput,
) {
  const subscribed = allConnections
    ? sql`(select id, created_at as place from connections where account_id = ${accountId})`
    : sql`(select value as id, key as place from json_each(${JSON.stringify(connectionIds)}))`;
  return db.insert(webhookConnections).select(
    db
      .select({
        connectionId: sql<string>`c.id`.as('connection_id'),
        webhookId: webhooks.id,
        notificationTypes: sql<number>`${toBits(notificationTypes)}`.as('notification_types'),
        place: sql<number>`c.place`.as('place'),
        filtered: sql<boolean>`${isNotNull(webhooks.filters)}`.as('filtered'),
      })
      .from(webhooks)
      .crossJoin(sql`${subscribed} c`)
      .where(eq(webhooks.id, id)),
  );
}

/** The columns of a webhook with its secrets encrypted. `client` is its OAuth client so far. */
async function columnsOf(env: Env, id: string, input: WebhookInput, client?: Sealed | null) {
  const { signing, filters, oauth, headers = {}, notificationTypes } = input;
  const secret = signing ? newSecret() : undefined;
  return {
    ...pick(input, plainFields),
    normalisedUrl: normalisedUrl(input.url),
    notificationTypes: toBits(notificationTypes),
    allConnections: input.allConnections === true,
    headers: await seal(env, id, headers),
    filters: filters === undefined ? undefined : stored(filters),
    oauth: oauth && (await sealClient(env, id, oauth, client)),
    signing: secret && JSON.stringify(await sealSecret(env, id, secret)),
    secret,
  };
}

const savingUrl = <T>(save: () => Promise<T>): Promise<T> =>
  unlessTaken(
    'webhooks.account_id, webhooks.normalised_url',
    invalid('Webhook with this URL already exist', undefined, 'url taken'),
    save,
  );

const toBits = (types: WebhookInput['notificationTypes']): number =>
  types.reduce<number>((bits, type) => bits | type, 0);
