import { config } from '../config.ts';
import { newId } from '../db/ids.ts';
import { type DeliveryMessage, send } from '../deliveries/queue.ts';
import { refusalIn } from '../errors.ts';
import { ingest } from '../ingest/service.ts';
import { unknownParent } from '../ingest/steps.ts';
import { described, fault } from '../log.ts';
import { providerProblem } from '../receivers/address.ts';
import { seal, unseal } from '../sealing.ts';
import type { Connector, FeedName, Json, Page, ProviderRecord } from './connector.ts';
import { healthOf } from './health.ts';
import {
  afterPage,
  afterProblem,
  type Feeds,
  limitedFor,
  nextDueAt,
  nextTask,
  type Planned,
  type Task,
} from './plan.ts';
import { Problem } from './problem.ts';
import { msOf } from './read.ts';
import { connectorOf } from './registry.ts';
import {
  type Claimed,
  claimDue,
  dueConnections,
  noteHealth,
  noteRefusals,
  release,
  type Saved,
  save,
} from './store.ts';

/** In this time a turn begins pages. The last may take 18 s, and then it is written; background work ends after 30 s. */
const turnMs = 8_000;

/** An invocation has connections for so many providers at once. */
export const connectionsPerMessage = 5;

/** A call of `/ingest` has no more records. */
const maxRecords = 500;

/** The last success is written this often. */
const successMs = 5 * 60_000;

/** Asks the queue for turns of all connections that are due, five a message. Returns how many connections there are. */
export async function startPulls(env: Env, now = Date.now()): Promise<number> {
  const ids = await dueConnections(env, now);
  const messages = Array.from({ length: Math.ceil(ids.length / connectionsPerMessage) }, (_, i) => ({
    pull: ids.slice(i * connectionsPerMessage, (i + 1) * connectionsPerMessage),
  }));
  await send(env.DELIVERIES, messages);
  return ids.length;
}

/**
 * Gives each of these connections a turn, side by side: it pulls what is due, page by page, through the write of
 * `/ingest` (design 14). Those that are not done are asked for again. Never throws: what fails is logged, and a claim
 * that nobody releases lapses.
 */
export async function pull(env: Env, ids: string[]): Promise<void> {
  try {
    const claimed = await claimDue(env, ids);
    const left = await Promise.all(claimed.map((one) => pullOne(env, one)));
    await send(
      env.DELIVERIES,
      left.flatMap((again) => (again ? [{ pull: [again] }] : [])),
    );
  } catch (error) {
    fault('error', { message: 'Pulls were interrupted', ...described(error) });
  }
}

/** One connection's turn. Returns its id if there is more to do at once. */
async function pullOne(env: Env, claimed: Claimed): Promise<string | undefined> {
  try {
    const connector = connectorOf(claimed.provider);
    if (!connector) throw new Error(`No provider ${claimed.provider} is built in`);
    const turn = await openTurn(env, claimed, connector);
    await work(env, turn);
    const now = Date.now();
    const { planned, saved } = turn;
    const health = healthOf(planned, {
      refusedAt: saved.refusedAt ?? null,
      succeededAt: saved.succeededAt ?? claimed.succeededAt,
      now,
    });
    if (health !== claimed.healthStatus) await noteHealth(env, claimed, health, now);
    const isDue = await release(env, claimed, turn.limitedUntil ?? nextDueAt(planned, now), {
      ...saved,
      ...(turn.session && {
        session: await seal(config(env).headerKeys, claimed.connectionId, turn.session),
      }),
    });
    return isDue ? claimed.connectionId : undefined;
  } catch (error) {
    const { connectionId } = claimed;
    fault('error', { message: 'A pull was interrupted', connectionId, ...described(error) });
    return undefined;
  }
}

/** What a turn works with, and what it has come to. */
type Turn = {
  claimed: Claimed;
  connector: Connector;
  api: unknown;
  planned: Planned;
  until: number;
  done: Set<FeedName>;
  saved: Saved;
  session?: { session: string };
  limitedUntil?: number;
};

async function openTurn(env: Env, claimed: Claimed, connector: Connector): Promise<Turn> {
  const { headerKeys, allowLoopbackReceivers } = config(env);
  const { credential = '' } = await unseal(headerKeys, claimed.connectionId, claimed.secrets);
  const kept = claimed.session && (await unseal(headerKeys, claimed.connectionId, claimed.session));
  const { feeds, connectedAt, historyDays } = claimed;
  const turn: Turn = {
    claimed,
    connector,
    api: undefined,
    planned: { connector, feeds, connectedAt, historyDays },
    until: Date.now() + turnMs,
    done: new Set(),
    saved: {},
  };
  turn.api = connector.open({
    credential,
    baseUrl: claimed.baseUrl,
    session: kept?.session === undefined ? null : (JSON.parse(kept.session) as Json),
    keepSession(session) {
      turn.session = { session: JSON.stringify(session) };
    },
    mayCall: (url) => providerProblem(url, { allowLoopback: allowLoopbackReceivers }) === undefined,
    incidentTypeMap: claimed.incidentTypeMap,
  });
  return turn;
}

/** Pulls page after page until nothing is due, the time is up, or the provider wants to be left alone. */
async function work(env: Env, turn: Turn): Promise<void> {
  const { planned, done } = turn;
  for (;;) {
    const task = nextTask(planned, Date.now(), done);
    if (!task) return;
    try {
      await pullPage(env, turn, task);
    } catch (error) {
      const problem = problemIn(error);
      if (problem.kind === 'refused') {
        turn.saved.refusedAt = Date.now();
        setFeed(turn, task.feed, afterProblem(planned.feeds[task.feed], problem, Date.now()));
        return;
      }
      if (problem.kind === 'rate limited') {
        turn.limitedUntil = Date.now() + limitedFor(problem);
        return;
      }
      setFeed(turn, task.feed, afterProblem(planned.feeds[task.feed], problem, Date.now()));
    }
    if (Date.now() >= turn.until) return;
  }
}

/** The provider's problem, or one of ours as if it were one: the feed waits, and nothing is lost. */
function problemIn(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const refusal = refusalIn(error);
  if (refusal?.failure.kind === 'unavailable' || refusal?.failure.kind === 'rate limited')
    return new Problem('rate limited', 'We are busy', refusal.failure.retryAfter * 1000);
  throw error;
}

async function pullPage(env: Env, turn: Turn, task: Task): Promise<void> {
  const { planned, connector, claimed, done, saved } = turn;
  const feed = connector.feeds[task.feed];
  if (!feed) throw new Error(`${connector.provider} has no ${task.feed}`);
  const state = planned.feeds[task.feed];
  const page =
    task.window && feed.history
      ? await feed.history.page(turn.api, task.window, state?.history?.cursor ?? null)
      : await feed.changes(turn.api, state?.cursor ?? null, claimed.connectedAt);
  await takeIn(env, turn, page);
  const now = Date.now();
  const progress = { cursor: page.cursor, more: page.more, records: page.records.length };
  const next = afterPage(state, task, progress, { now, everyMinutes: feed.everyMinutes });
  if (!task.window && !page.more) done.add(task.feed);
  const isNews = JSON.stringify(next) !== JSON.stringify(state);
  if (isNews) setFeed(turn, task.feed, next);
  if (isNews || now - (saved.succeededAt ?? claimed.succeededAt ?? 0) > successMs) saved.succeededAt = now;
  // What has landed need not be pulled again if the turn is killed. What comes last is kept with the release.
  if (isNews && (page.more || task.window)) {
    const { refusedAt: _, ...kept } = saved;
    await save(env, claimed, kept);
  }
}

function setFeed({ planned, saved }: Turn, name: FeedName, state: Feeds[FeedName]): void {
  if (state) planned.feeds[name] = state;
  saved.feeds = planned.feeds;
}

/** Takes in a page's records. Of what happened before the connection was made, nobody is told. */
async function takeIn(env: Env, turn: Turn, { records, vehicles = [] }: Page): Promise<void> {
  const { connectedAt } = turn.claimed;
  const isOld = (record: ProviderRecord) => msOf(record.startedAt ?? record.eventTime) < connectedAt;
  for (const notify of [true, false]) {
    const part = records.filter((record) => isOld(record) !== notify);
    for (let at = 0; at < part.length; at += maxRecords)
      await takeInSome(env, turn, part.slice(at, at + maxRecords), { notify, vehicles });
  }
}

async function takeInSome(
  env: Env,
  turn: Turn,
  records: ProviderRecord[],
  { notify, vehicles }: { notify: boolean; vehicles: ProviderRecord[] },
): Promise<void> {
  const { claimed } = turn;
  const { accountId, connectionId, claim, provider, tSP, incidentTypeMap } = claimed;
  const wakes: Promise<unknown>[] = [];
  const start = (messages: DeliveryMessage[]) => wakes.push(send(env.DELIVERIES, messages));
  /** Returns the records that were refused, and why. */
  const write = async (some: ProviderRecord[]) => {
    const source = { accountId, connectionId, provider, tSP, incidentTypeMap };
    const { rejected } = await ingest(
      env,
      { accountId, pull: { connectionId, claim } },
      { ...source, now: Date.now(), requestId: newId() },
      { records: some, notify },
      start,
    );
    return rejected.flatMap(({ index, sourceId, message }) => {
      const record = some[index];
      return record ? [{ record, sourceId: sourceId ?? '', reason: message }] : [];
    });
  };
  let refused = await write(records);
  const isOrphan = ({ reason }: { reason: string }) => reason === unknownParent('vehicle');
  const orphans = refused.filter(isOrphan).map(({ record }) => record);
  if (orphans.length > 0) {
    const known = new Map(vehicles.map((vehicle) => [vehicle.sourceId, vehicle]));
    const unknown = new Set(orphans.map(({ vehicle }) => vehicle));
    const standIns = [...unknown].map((id) => standIn(id, known.get(id)));
    refused = refused.filter((one) => !isOrphan(one));
    for (const some of [standIns, orphans]) refused.push(...(await write(some)));
    // Its feed has more to say of them, and is due at once.
    const { pulledAt: _, ...feed } = turn.planned.feeds.vehicles ?? { cursor: null };
    setFeed(turn, 'vehicles', feed);
  }
  await Promise.all(wakes);
  const reasons = refused.map(({ record: { kind }, ...why }) => ({ kind, ...why }));
  if (reasons.length > 0) await noteRefusals(env, claimed, reasons, Date.now());
}

/** What a vehicle is taken for until its feed has it: any version of the provider's own is newer. */
const standIn = (sourceId: unknown, known: ProviderRecord | undefined): ProviderRecord => ({
  name: sourceId,
  ...known,
  kind: 'vehicle',
  sourceId,
  sourceUpdatedAt: new Date(0).toISOString(),
});
