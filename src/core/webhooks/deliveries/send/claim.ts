import { sql } from 'drizzle-orm';
import type { Sealed } from '../../../platform/crypto.ts';
import type { Database, Results } from '../../../platform/db/database.ts';
import { type StoredOptions, webhooks } from '../../../platform/db/schema/webhooks.ts';
import { type PlainField, plainFields } from '../../fields.ts';
import { isFirst, notificationOf, typeOf } from '../../notifications/of-delivery.ts';
import { typeOfLevel } from '../../notifications/types.ts';
import type { WebhookInput } from '../../schema.ts';
import { dueDeliveries } from '../due.ts';
import { type ClaimedDelivery, firstWindow, leaseMs } from '../policy.ts';
import {
  callsLeft,
  ceilingOf,
  ofReceiver,
  stateOf,
  useUpCalls,
  windowOf,
} from '../receiver/store.ts';

/** How a webhook is called: its plain fields, and its headers and options, encrypted. */
export type CallSettings = Pick<WebhookInput, PlainField> & {
  headers: Sealed;
  options: StoredOptions;
};

/** A webhook as a worker sees it, with the state of its receiver. */
export type ClaimedWebhook = {
  accountId: string;
  /** Its `CallSettings` as JSON. */
  settings: string;
  /** Its receiver's state, as JSON. */
  state: string;
  /** The most calls that may be in flight now, and ever. */
  window: number;
  ceiling: number;
  /** 1 if a wider window would hold more due deliveries. */
  more: number;
  /** The operator's limit; null if there is none. */
  maxPerSecond: number | null;
  /** When the limit per second has room again. */
  nextCallAt: number;
  /** 1 if its receiver fails and an accident waits for it. */
  accidentWaits: number;
};

/** What to claim. `known` is the webhook as last seen, which saves reading limits it does not have. */
type ClaimRequest = {
  webhookId: string;
  count: number;
  now: number;
  accidentsOnly?: boolean;
  known?: ClaimedWebhook | undefined;
};

/**
 * The statements that claim up to `count` of a webhook's due deliveries, accidents first. Claimed
 * ones stay in that window until they are recorded, which bounds the calls in flight; accidents may
 * exceed it as much again. It is 0 while the circuit is open, and 1 for a probe.
 */
export const claimStatements = (
  db: Database,
  { webhookId, count, now, accidentsOnly = false, known }: ClaimRequest,
) => {
  const due = dueDeliveries(webhookId, now, accidentsOnly ? 'accidents' : 'all');
  const limited = !known || known.maxPerSecond !== null;
  return {
    // The claim, raw for speed.
    rows: db.all<ClaimedRow>(sql`
      update deliveries set claimed_until = ${now + leaseMs}
      where (webhook_id, id) in (
        select webhook_id, id from (
          select webhook_id, id, claimed_until from ${due}
          limit ${ofReceiver(webhookId, windowOf(now))})
        where claimed_until <= ${now}
        limit ${limited ? ofReceiver(webhookId, callsLeft(now, count)) : count})
      returning webhook_id as webhookId, id, claimed_until as claimedUntil,
        next_attempt_at as dueAt, attempts, level,
        ${isFirst(sql`deliveries`)} as first,
        event_id as eventId, account_id as accountId,
        (select json_object('data', n.data, 'requestId', n.request_id,
            'wanted', exists (select 1 from webhook_connections wc
              where wc.connection_id = n.connection_id and wc.webhook_id = deliveries.webhook_id
                and wc.notification_types & ${typeOf('deliveries')}) and not ${isWithdrawn})
          from ${notificationOf('deliveries')} n) as notification`),
    used: limited ? useUpCalls(db, webhookId, now) : undefined,
    webhooks: selectWebhook(db, webhookId, now, known?.window ?? firstWindow),
  };
};

/** Whether the event of a delivery has been withdrawn. Others are not in this index, and cost nothing. */
const isWithdrawn = sql`exists (select 1 from safety_events indexed by safety_events_withdrawn
  where id = deliveries.event_id and withdrawn = 1)`;

/** The webhook's row, and whether more is due than a window of this size holds. */
const selectWebhook = (db: Database, webhookId: string, now: number, window: number) =>
  // Part of the claim, and names an index.
  db.all<ClaimedWebhook>(sql`
    select w.account_id as accountId, ${settingsOf} as settings, ${stateOf} as state,
      ${windowOf(now)} as window, ${ceilingOf} as ceiling,
      w.max_per_second as maxPerSecond, coalesce(h.next_call_at, 0) as nextCallAt,
      iif(h.failures > 0, exists (select 1 from deliveries indexed by deliveries_due
        where webhook_id = w.id and status = 'pending' and priority = 0), 0) as accidentWaits,
      iif(${windowOf(now)} between 1 and ${ceilingOf} - 1,
        exists (select 1 from ${dueDeliveries(webhookId, now)} limit 1 offset ${window}), 0) as more
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and w.stopped_at is null`);

const plain = sql.raw(plainFields.map((name) => `'${name}', w.${webhooks[name].name}`).join(', '));

/** SQL for the `CallSettings` of `w`, as JSON. */
const settingsOf = sql`json_object(${plain}, 'headers', json(w.headers), 'options', json(w.options))`;

type ClaimedRow = Omit<ClaimedDelivery, 'type' | 'data' | 'requestId' | 'wanted'> & {
  notification: string | null;
};

/** What was claimed of a webhook; that is undefined if it was deleted. */
export type Claim = { webhook: ClaimedWebhook | undefined; claimed: ClaimedDelivery[] };

/** Combines the results of `claimStatements`. */
export const readClaim = ({
  rows,
  webhooks,
}: Results<ReturnType<typeof claimStatements>>): Claim => ({
  webhook: webhooks[0],
  claimed: rows.map(asClaimed),
});

/** A claimed delivery with what it has of its notification: nothing past retention. */
function asClaimed({ notification, ...row }: ClaimedRow): ClaimedDelivery {
  const { data, requestId, wanted } = JSON.parse(notification ?? '{"data":"{}","requestId":null}');
  return { ...row, type: typeOfLevel(row.level), data, requestId, wanted: wanted === 1 };
}
