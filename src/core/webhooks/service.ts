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
import { seal } from '../platform/crypto.ts';
import { type Database, jsonList, refuseUnless, unlessTaken } from '../platform/db/database.ts';
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
import { isFiltered } from './notifications/pass.ts';
import {
  changed,
  changeOptions,
  type OptionsChange,
  type OptionsShownOnce,
  options,
  shownOnceOf,
} from './options.ts';
import type { WebhookInput } from './schema.ts';
import {
  changedFields,
  findRow,
  type Labels,
  mustBeOurs,
  opened,
  ownWebhook,
  revisionColumn,
  type SelectedWebhook,
  selectWebhooks,
  unknownWebhook,
  type Webhook,
} from './stored.ts';

/** A saved webhook, with what options show once. */
export type SavedWebhook = Webhook & OptionsShownOnce;

/** The total size of an account's webhooks, which are listed in one response. */
export const maxWebhookBytes = 2_000_000;

/** SQL for about their size. All connections count as 1,000, so that a new one can always join. */
function webhookBytes(db: Database, { accountId }: Caller): SQL {
  const own = eq(webhooks.accountId, accountId);
  const { url, headers, allConnections } = webhooks;
  const large = options()
    .filter(({ isLarge }) => isLarge)
    .map(({ name }) => sql` + coalesce(octet_length(${webhooks.options}->>${name}), 0)`);
  const size = sql`coalesce(sum(300 + octet_length(${url}) + length(${headers})${sql.join(large)}
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
  const columns = await columnsOf(env, id, input);
  const change = await changeOptions(input, { env, webhookId: id, before: {} });
  const create = (db: Database) => ({
    known: ownsConnections(db, caller, input),
    room: refuseUnless(
      db,
      lt(db.$count(webhooks, eq(webhooks.accountId, accountId)), maxWebhooks),
      `An account can have at most ${maxWebhooks} webhooks`,
    ),
    inserted: db.insert(webhooks).values({
      ...{ id, accountId, createdAt: Date.now(), ...columns, ...labels },
      options: changed(sql`'{}'`, change),
    }),
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
  return saved(env, created, change);
}

/** A webhook as the transaction that saved it has read it. */
async function saved(
  env: Env,
  [row]: SelectedWebhook[],
  change?: Required<OptionsChange>,
): Promise<SavedWebhook> {
  const webhook = row as SelectedWebhook; // it has just been saved
  return {
    ...(await opened(env, webhook)),
    ...(change && shownOnceOf(webhook.options, change)),
  };
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
  const columns = await columnsOf(env, id, input);
  const own = { env, webhookId: id, before: before?.options ?? {} };
  const change = await changeOptions(input, own);
  const isCurrent = revision === undefined ? undefined : eq(revisionColumn, revision);
  const which = ownWebhook(caller, id);
  const isOutdated =
    'This webhook has been changed since you opened it. Open it again, then make your changes.';
  const save = (db: Database) => ({
    current: refuseUnless(
      db,
      exists(db.select({ id: webhooks.id }).from(webhooks).where(and(which, isCurrent))),
      revision === undefined ? unknownWebhook : isOutdated,
    ),
    known: ownsConnections(db, caller, input),
    updated: db
      .update(webhooks)
      .set({ ...columns, ...labels, options: changed(webhooks.options, change) })
      .where(which),
    unsubscribed: db.delete(webhookConnections).where(eq(webhookConnections.webhookId, id)),
    subscribed: subscribe(db, caller, id, input),
    listable: mustBeListable(db, caller),
    audited: audit(db, caller, 'changed', 'webhooks', id, fields),
    rows: selectWebhooks(db, which),
  });
  const { rows } = await savingUrl(() => asCaller(env, caller, save));
  await untilNoCallStarts(env, [id]);
  return saved(env, rows, change);
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
  const { rows } = await asCaller(env, caller, (db) => ({
    ours: mustBeOurs(db, caller, id),
    audited: audit(db, caller, 'changed', 'webhooks', changes, [paused ? 'paused' : 'resumed']),
    probe: paused
      ? undefined
      : allowProbe(db, sql`(select id from webhooks where ${changes})`, now),
    changed: db
      .update(webhooks)
      .set({ pausedAt: paused ? now : null })
      .where(changes),
    rows: selectWebhooks(db, ownWebhook(caller, id)),
  }));
  if (paused) await untilNoCallStarts(env, [id]);
  else await send(env.DELIVERIES, wakeOf(caller.accountId, [id]));
  return saved(env, rows);
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
        filtered: sql<boolean>`${isFiltered(webhooks.options)}`.as('filtered'),
      })
      .from(webhooks)
      .crossJoin(sql`${subscribed} c`)
      .where(eq(webhooks.id, id)),
  );
}

/** The columns of a webhook with its headers encrypted. */
async function columnsOf(env: Env, id: string, input: WebhookInput) {
  return {
    ...pick(input, plainFields),
    normalisedUrl: normalisedUrl(input.url),
    notificationTypes: toBits(input.notificationTypes),
    allConnections: input.allConnections === true,
    headers: await seal(env, id, input.headers ?? {}),
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
