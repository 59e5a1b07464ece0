import type { InferOutput } from 'valibot';
import { failureName } from '../../core/webhooks/deliveries/words.ts';
import type {
  AttemptEntry,
  ShownDelivery,
  WebhookHealth,
} from '../../extras/delivery-log/operations.ts';
import type { Pull } from '../../extras/providers/operations.ts';
import type { AuditEntry, Token } from '../../operator/api/accounts.ts';
import type { Deletion } from '../../operator/api/deletion.ts';
import type { Call, Data } from './client.ts';

type Shown = {
  [C in Call]?: Data<C> extends (infer Item)[]
    ? (item: Item) => object
    : (thing: Data<C>) => object;
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

const token = ({ id, name, lastUsedAt, ...one }: InferOutput<typeof Token>) => {
  const kind = `${one.readOnly ? 'read only' : 'API token'}${one.connectionIds ? ', limited' : ''}`;
  return {
    id,
    name,
    kind: one.scope === 'ingest' ? 'ingest key' : kind,
    lastUsedAt,
    state: one.revokedAt ? 'revoked' : one.expiresAt ? `until ${one.expiresAt}` : 'active',
  };
};

type Webhook = InferOutput<typeof WebhookHealth>;

function stateOf({ pausedAt, openUntil, failures }: Webhook): string {
  if (pausedAt) return `paused since ${pausedAt}`;
  if (openUntil) return `fails, next try ${openUntil}`;
  return failures > 0 ? `fails: ${failures} in a row` : 'works';
}

const webhook = (one: Webhook) => {
  const { failures, openUntil, pausedAt, window, ...more } = one;
  return { ...more, state: stateOf(one), 'calls at a time now': window };
};

export const hostOf = (url: string | null): string | null => url && (URL.parse(url)?.host ?? url);

/** A webhook by its name, otherwise by the host of its address. */
export const webhookIn = ({ name, url }: { name: string | null; url: string }): string | null =>
  name ?? hostOf(url);

/** What a delivery is about, by its level. */
export const aboutOf = (level: number): string =>
  level === 0 ? 'event' : `accident, level ${level}`;

/** What an attempt ended with, or null without one. */
export const resultOf = (
  attempt: { result: string; status?: number | null | undefined } | null,
): string | null =>
  attempt && (attempt.status ? `HTTP ${attempt.status}` : failureName(attempt.result));

const delivery = ({ id, level, type, log, ...one }: InferOutput<typeof ShownDelivery>) => ({
  id,
  about: aboutOf(level),
  ...one,
  attemptsOmitted: one.attemptsOmitted || null,
  log: log.map(
    ({ at, durationMs, reason, answer, ...attempt }: InferOutput<typeof AttemptEntry>) => ({
      at,
      result: resultOf(attempt),
      took: `${durationMs} ms`,
      reason,
      response: answer,
    }),
  ),
});

const auditEntry = ({
  at,
  account,
  actor,
  actorName,
  ...entry
}: InferOutput<typeof AuditEntry>) => {
  const toWhat = [entry.subjectName ?? entry.subjectId, ...entry.fields];
  return { at, account, who: actorName ?? actor, did: `${entry.action} ${entry.subject}`, toWhat };
};

const deletion = ({ id, account, kind, problem, ...one }: InferOutput<typeof Deletion>) => {
  const state = one.step
    ? `${one.step} (${one.stepsDone + 1} of ${one.steps})`
    : `begins ${one.dueAt}`;
  return { id, account, deletes: kind, state, problem };
};

/** What matters most of each list's items, in at most six columns, and things in words; `--json` has everything. */
const shown: Shown = {
  'GET /accounts': ({ id, name, status, held, createdAt }) => {
    return { id, name, status: held ? 'held' : status, createdAt };
  },
  'GET /accounts/:id/connections': ({ id, name, tSP, healthStatus, lastPulledAt }) => {
    return { id, name, provider: tSP, healthStatus, lastPulledAt };
  },
  'GET /accounts/:id/connect-links': ({ id, name, connectionId, withdrawnAt, expiresAt }) => {
    const state = withdrawnAt ? 'consent withdrawn' : connectionId ? 'used' : `until ${expiresAt}`;
    return { id, name, state };
  },
  'GET /accounts/:id/tokens': token,
  'GET /accounts/:id/users': ({ email, role, createdAt, lastSignInAt, pending }) => {
    return { email, role, createdAt, lastSignInAt: pending ? 'pending' : lastSignInAt };
  },
  'GET /accounts/:id/webhooks': (one) => {
    const { id, url, maxInFlight, maxPerSecond } = one;
    return { id, url, state: stateOf(one), maxInFlight, maxPerSecond };
  },
  'GET /accounts/:id/channels': ({ id, kind, name, host, problem }) => ({
    id,
    kind,
    name,
    host,
    problem,
  }),
  'GET /accounts/:id/audit': auditEntry,
  'GET /audit': auditEntry,
  'GET /deletions': deletion,
  'GET /deliveries': ({ id, level, status, attempts, log }) => {
    return {
      id,
      about: aboutOf(level),
      status,
      attempts,
      lastResult: resultOf(log.at(-1) ?? null),
    };
  },
  'GET /deliveries/find': ({ id, account, level, status, last, createdAt, ...webhook }) => ({
    at: last?.at ?? createdAt,
    webhook: webhookIn(webhook),
    account,
    about: aboutOf(level),
    status,
    id,
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

/** What people see of what a call found, with the cells of a list's items, if there are several. */
export const shapeOf =
  (call: Call) =>
  (found: unknown): unknown => {
    const shape = (shown[call] ?? ((thing) => thing)) as (thing: unknown) => object; // of this call
    if (!Array.isArray(found)) return shape(found);
    return found.map((item) => ({ ...(item.cell && { cell: item.cell }), ...shape(item) }));
  };
