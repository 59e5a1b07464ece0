import { and, type SQL, sql } from 'drizzle-orm';
import { type CursorKeys, invalidCursor } from '../../core/platform/db/cursor.ts';
import { firstIdAtSql } from '../../core/platform/db/id-sql.ts';
import type { statuses } from '../../core/webhooks/deliveries/policy.ts';
import { EVENT_LEVEL } from '../../core/webhooks/notifications/types.ts';

/** The states that lists can be of; retrying deliveries are also pending. */
type ListedState = (typeof statuses)[number] | 'retrying';

/** What decides in which order deliveries are read. */
export type Ordered = {
  state?: ListedState | undefined;
  /** Only those of events and accidents with ids in a list. */
  events?: SQL | undefined;
  /** Instead of oldest first; for one webhook alone. Pending ones are always as due. */
  newestFirst?: boolean;
};

/** An order that an index has: by webhook `w`, then by `keys` of its deliveries `d`. */
type ReadOrder = {
  /** What is joined to the webhooks. */
  deliveries: SQL;
  keys: SQL[];
  /** Comes before every first key. */
  least: string | number;
  descending?: boolean;
  /** Checked for each delivery. */
  filter?: SQL | undefined;
  /** Whether a range of time is a range of the index, as ids are ordered by time. */
  byTime: boolean;
};

const indexed: { [state in ListedState]?: SQL } = {
  failed: sql`indexed by deliveries_failed on d.webhook_id = w.id and d.status = 'failed'`,
  cancelled: sql`indexed by deliveries_cancelled on d.webhook_id = w.id and d.status = 'cancelled'`,
  retrying: sql`indexed by deliveries_retrying
    on d.webhook_id = w.id and d.status = 'pending' and d.attempts > 0`,
};

export function orderOf(
  accountId: string,
  { events, state, newestFirst = false }: Ordered,
): ReadOrder {
  const isInState = state && sql`d.status = ${state}`;
  // By level, among ids of the millisecond of their notification.
  if (events)
    return {
      deliveries: sql`${notifiedOf(accountId, events)} n
        cross join deliveries d on d.webhook_id = w.id
          and d.id >= ${firstIdAtSql(sql`n.created_at`)}
          and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}`,
      ...(newestFirst
        ? { keys: [sql`d.id`], least: '', descending: true }
        : { keys: [sql`n.level`, sql`d.id`], least: -1 }),
      filter: and(sql`(d.event_id = n.event_id and d.level = n.level)`, isInState),
      byTime: true,
    };
  // Accidents first, then events of risk 5, of risk 4, and the rest, each as due.
  if (state === 'pending')
    return {
      deliveries: sql`deliveries d indexed by deliveries_due
        on d.webhook_id = w.id and d.status = 'pending'`,
      keys: [sql`d.priority`, sql`d.next_attempt_at`, sql`d.id`],
      least: -1,
      byTime: false,
    };
  const index = state && indexed[state];
  return {
    deliveries: sql`deliveries d ${index ?? sql`on d.webhook_id = w.id`}`,
    keys: [sql`d.id`],
    least: '',
    descending: newestFirst,
    filter: index ? undefined : isInState,
    byTime: true,
  };
}

/** SQL for whether a delivery comes after a place. @throws Refusal: invalid, for no such place */
export function isAfter(
  { keys, least, descending }: ReadOrder,
  [webhookId, first, ...others]: CursorKeys,
): SQL {
  if (typeof first !== typeof least || others.length !== keys.length - 1) throw invalidCursor();
  const own = sql`(${sql.join(keys, sql`, `)})`;
  const rest = sql.join(others.map((value) => sql`, ${value}`));
  return descending
    ? sql`${own} < (${first}${rest})`
    : sql`w.id >= ${webhookId} and ${own} > (iif(w.id = ${webhookId}, ${first}, ${least})${rest})`;
}

/** SQL for the notifications of the events and accidents in a list: `event_id`, `level` and `created_at`. */
const notifiedOf = (accountId: string, ids: SQL): SQL => sql`(
  select event_id, level, created_at from notifications where event_id in ${ids} and account_id = ${accountId}
  union all
  select id, ${EVENT_LEVEL}, created_at from safety_events e where id in ${ids} and account_id = ${accountId}
    and not exists (select 1 from notifications where event_id = e.id and level = ${EVENT_LEVEL}))`;
