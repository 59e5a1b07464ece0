import type { InferOutput } from 'valibot';
import type { AuditEntry, Token } from '../../operator/api/accounts.ts';
import type { Pull } from '../../operator/api/connections.ts';
import type { Deletion } from '../../operator/api/deletion.ts';
import type { AttemptEntry, ShownDelivery, WebhookHealth } from '../../operator/api/webhooks.ts';
import type { Call, Data } from './client.ts';
import { listOf, tablesOf, withShortTimes } from './print.ts';

type Shown = {
  [C in Call]?: Data<C> extends (infer Item)[] ? (item: Item) => object : (thing: Data<C>) => object;
};

const pull = ({ feeds, state, isWithdrawn, refusals, warnings, unmapped, ...more }: Pull) => ({
  ...more,
  state: isWithdrawn ? 'consent withdrawn' : state,
  feeds: feeds.map(({ feed, everyMinutes, problem, history }) => ({
    feed,
    every: `${everyMinutes} min`,
    history: history && `${Math.floor(history.share * 100)} %`,
    state: problem ? (problem.isFailing ? 'fails' : 'tried again') : 'works',
    problem: problem && `${problem.advice} (since ${problem.since}, next try ${problem.nextAt})`,
  })),
  'rejected records': refusals,
  'records with warnings': warnings,
  'unmapped incident labels': unmapped,
});

const token = ({
  id,
  name,
  scope,
  readOnly,
  connectionIds,
  lastUsedAt,
  ...one
}: InferOutput<typeof Token>) => ({
  id,
  name,
  kind:
    scope === 'ingest'
      ? 'ingest key'
      : `${readOnly ? 'read only' : 'API token'}${connectionIds ? ', limited' : ''}`,
  'last used': lastUsedAt,
  state: one.revokedAt ? 'revoked' : one.expiresAt ? `until ${one.expiresAt}` : 'active',
});

type Webhook = InferOutput<typeof WebhookHealth>;

const stateOf = ({ pausedAt, openUntil, failures }: Webhook): string =>
  pausedAt
    ? `paused since ${pausedAt}`
    : openUntil
      ? `fails, next try ${openUntil}`
      : failures > 0
        ? `fails: ${failures} in a row`
        : 'works';

const webhook = (one: Webhook) => ({
  id: one.id,
  url: one.url,
  state: stateOf(one),
  'calls at a time now': one.window,
  'max in flight': one.maxInFlight,
  'max per second': one.maxPerSecond,
  'all connections': one.allConnections,
  filters: one.filters,
});

export const hostOf = (url: string | null): string | null => url && (URL.parse(url)?.host ?? url);

/** What a delivery is about, by its level. */
export const aboutOf = (level: number): string => (level === 0 ? 'event' : `accident, level ${level}`);

/** What an attempt ended with, or null without one. */
export const resultOf = (
  attempt: { result: string; status?: number | null | undefined } | null,
): string | null => attempt && (attempt.status ? `HTTP ${attempt.status}` : attempt.result);

const delivery = (one: InferOutput<typeof ShownDelivery>) => ({
  id: one.id,
  about: aboutOf(one.level),
  status: one.status,
  attempts: one.attempts,
  nextAttemptAt: one.nextAttemptAt,
  finishedAt: one.finishedAt,
  eventId: one.eventId,
  webhookId: one.webhookId,
  url: one.url,
  requestId: one.requestId,
  'attempts omitted': one.attemptsOmitted || null,
  log: one.log.map((attempt: InferOutput<typeof AttemptEntry>) => ({
    at: withShortTimes(attempt.at, 'seconds'),
    result: resultOf(attempt),
    took: `${attempt.durationMs} ms`,
    reason: attempt.reason,
    response: attempt.answer,
  })),
});

const auditEntry = ({ actor, actorName, action, subject, ...entry }: InferOutput<typeof AuditEntry>) => ({
  at: entry.at,
  account: entry.account,
  who: actorName ?? actor,
  did: `${action} ${subject}`,
  'to what': [entry.subjectName ?? entry.subjectId, ...entry.fields].join(', '),
});

const deletion = ({ id, kind, account, ...one }: InferOutput<typeof Deletion>) => ({
  id,
  account,
  deletes: kind,
  state: one.step ? `${one.step} (${one.stepsDone + 1} of ${one.steps})` : `begins ${one.dueAt}`,
  problem: one.problem,
});

/** What matters most of each list's items, in at most five columns, and things in words; `--json` has everything. */
const shown: Shown = {
  'GET /accounts': ({ id, name, status, held, createdAt }) => ({
    id,
    name,
    status: held ? 'held' : status,
    created: createdAt,
  }),
  'GET /accounts/:id/connections': ({ id, name, tSP, healthStatus, lastPulledAt }) => ({
    id,
    name,
    provider: tSP,
    health: healthStatus,
    'last pulled': lastPulledAt,
  }),
  'GET /accounts/:id/connect-links': ({ id, name, connectionId, withdrawnAt, expiresAt }) => ({
    id,
    name,
    state: withdrawnAt ? 'consent withdrawn' : connectionId ? 'used' : `until ${expiresAt}`,
  }),
  'GET /accounts/:id/tokens': token,
  'GET /accounts/:id/users': ({ email, role, createdAt, lastSignInAt, pending }) => ({
    email,
    role,
    added: createdAt,
    'last sign-in': pending ? 'pending' : lastSignInAt,
  }),
  'GET /accounts/:id/webhooks': (one) => ({
    id: one.id,
    url: one.url,
    state: stateOf(one),
    'max in flight': one.maxInFlight,
    'max per second': one.maxPerSecond,
  }),
  'GET /accounts/:id/channels': ({ id, kind, name, host, problem }) => ({ id, kind, name, host, problem }),
  'GET /accounts/:id/audit': auditEntry,
  'GET /audit': auditEntry,
  'GET /deletions': deletion,
  'GET /deliveries': ({ id, level, status, attempts, log }) => ({
    id,
    about: aboutOf(level),
    status,
    attempts: [attempts, resultOf(log.at(-1) ?? null)].filter((one) => one !== null),
  }),
  'GET /deliveries/find': ({ id, account, url, level, status }) => ({
    id,
    account,
    receiver: hostOf(url),
    about: aboutOf(level),
    status,
  }),
  'GET /deliveries/:id': delivery,
  'POST /deliveries/:id/send': delivery,
  'PATCH /webhooks/:id/limits': webhook,
  'POST /webhooks/:id/pause': webhook,
  'POST /webhooks/:id/resume': webhook,
  'GET /connections/:id/pull': pull,
  'POST /connections/:id/pull': pull,
  'POST /connections/:id/pause': pull,
  'POST /connections/:id/resume': pull,
  'PUT /connections/:id/credential': pull,
  'PUT /connections/:id/webhook-secret': pull,
};

/** How people see what a call found, with the cells of a list's items, if there are several. */
export const inTables =
  (call: Call) =>
  (found: unknown): string => {
    const show = shown[call] as ((thing: unknown) => object) | undefined; // of this call
    if (!show) return tablesOf(found);
    if (!Array.isArray(found)) return tablesOf(show(found));
    return listOf(found.map((item) => ({ ...(item.cell && { cell: item.cell }), ...show(item) })));
  };
