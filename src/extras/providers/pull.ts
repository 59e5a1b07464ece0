import { seal, unseal } from '../../core/platform/crypto.ts';
import { dumpedBytes } from '../../core/platform/db/dump.ts';
import { overQuota, refusalIn } from '../../core/platform/errors.ts';
import { type Budget, isLeft, newBudget, within } from '../../core/platform/jobs/budget.ts';
import { fault } from '../../core/platform/log.ts';
import { partsOf } from '../../core/platform/parts.ts';
import { send } from '../../core/platform/queue.ts';
import { ingestPulled } from './accept.ts';
import { accessTo } from './connect.ts';
import { pageMs } from './connector/call.ts';
import {
  type Access,
  type Connector,
  type FeedName,
  type Found,
  type Page,
  ProviderError,
  type ProviderRecord,
} from './connector/connector.ts';
import { idFrom } from './connector/read.ts';
import {
  afterPage,
  afterPart,
  afterProblem,
  type Feeds,
  healthOf,
  nextDueAt,
  nextTask,
  startAgain,
  type Task,
} from './plan.ts';
import { connectorOf } from './registry.ts';
import { type Claimed, claimDue, dueConnections, keepRefusals, type Saved, save } from './store.ts';

/** When an invocation stops beginning pages: the last may take 18 s and must be written within 30 s. */
const pullBudget = { ms: 8_000, queries: 400 };

const connectionsPerMessage = 5;

/** The wait after a rate limit that says none, or one that has passed. */
const limitedMs = 60_000;

/** The bytes of a connection's cursors, and of a session: rows must be restorable. */
export const maxFeedsBytes = 64_000;
const maxSessionBytes = 4_000;

/** How often the last success is written. */
const successMs = 5 * 60_000;

/** Queues all connections that are due, five a message. Returns how many there are. */
export async function startPulls(env: Env, now = Date.now()): Promise<number> {
  const ids = await dueConnections(env, now);
  const messages = partsOf(ids, connectionsPerMessage).map((pull) => ({ pull }));
  await send(env.DELIVERIES, messages);
  return ids.length;
}

/** Pulls what is due in parallel, and queues the rest. Never throws: unreleased claims expire. */
export async function pull(env: Env, ids: string[]): Promise<void> {
  const budget = newBudget(pullBudget);
  const counted = within(env, budget);
  try {
    const claimed = await claimDue(counted, ids);
    const remaining = await Promise.all(claimed.map((one) => pullOne(counted, one, budget)));
    await send(
      env.DELIVERIES,
      remaining.flatMap((again) => (again ? [{ pull: [again] }] : [])),
    );
  } catch (error) {
    fault('error', 'A pull was interrupted', {}, error);
  }
}

/** One connection's run. Returns its id if there is more to do. */
async function pullOne(env: Env, claimed: Claimed, budget: Budget): Promise<string | undefined> {
  try {
    const connector = connectorOf(claimed.provider);
    if (!connector) throw new Error(`No provider ${claimed.provider} is built in`);
    const known = { ...claimed, connector };
    // This one may not end either, which people would otherwise never learn.
    if (claimed.isInterrupted) await save(env, claimed, noteHealth(known, {}, Date.now()));
    const run = await openRun(env, known);
    await work(env, run, budget);
    const now = Date.now();
    const { saved, newSession: session } = run;
    noteHealth(run, saved, now);
    if (session) saved.session = await seal(env, claimed.connectionId, { session });
    const isDue = await save(env, claimed, saved, nextDueAt(run, now), run.limitedUntil);
    return isDue ? claimed.connectionId : undefined;
  } catch (error) {
    interrupted(claimed, error);
    return undefined;
  }
}

/** Adds the health of a connection to what is saved of it, if that has changed. */
function noteHealth(known: Claimed & { connector: Connector }, saved: Saved, now: number): Saved {
  const { refusedAt = null, succeededAt = known.succeededAt } = saved;
  const health = healthOf(known, { refusedAt, succeededAt, now });
  if (health !== known.healthStatus) saved.health = known.healthStatus = health;
  return saved;
}

const interrupted = ({ connectionId }: Pick<Claimed, 'connectionId'>, error: unknown): void =>
  fault('error', 'A pull was interrupted', { connectionId }, error);

type Run = Claimed & {
  connector: Connector;
  access: Access;
  api: unknown;
  done: Set<FeedName>;
  saved: Saved;
  newSession?: string;
  limitedUntil?: number;
};

async function openRun(env: Env, claimed: Claimed & { connector: Connector }): Promise<Run> {
  const { connector, connectionId, session, baseUrl, incidentTypeMap } = claimed;
  const { credential = '' } = await unseal(env, connectionId, claimed.secrets);
  const kept = session === null ? undefined : await unseal(env, connectionId, session);
  const access = accessTo(env, connector, {
    credential,
    baseUrl,
    session: JSON.parse(kept?.session ?? 'null'),
    keepSession(session) {
      const json = JSON.stringify(session);
      if (dumpedBytes(json) <= maxSessionBytes) run.newSession = json;
    },
    incidentTypeMap,
  });
  const run: Run = {
    ...claimed,
    access,
    api: connector.open(access),
    done: new Set(),
    saved: {},
  };
  return run;
}

/** Pulls page after page until nothing is due, the budget is used up, or the provider limits the rate. */
async function work(env: Env, run: Run, budget: Budget): Promise<void> {
  for (;;) {
    const task = nextTask(run, Date.now(), run.done);
    if (!task) return;
    try {
      if (!(await pullPage(env, run, task))) return;
    } catch (error) {
      if (refusalIn(error)?.failure.kind === 'forbidden') return; // its account was suspended meanwhile
      const problem = problemIn(run, error);
      if (problem.kind === 'rate limited') {
        run.limitedUntil = Date.now() + (problem.retryAfterMs || limitedMs);
        return;
      }
      fail(run, task, problem);
      if (problem.kind === 'refused') {
        run.saved.refusedAt = Date.now();
        return;
      }
    }
    if (!isLeft(budget)) return;
  }
}

/** Makes the feed wait, and start again if its cursor may be the problem. */
function fail(run: Run, task: Task, problem: ProviderError): void {
  const isOfHistory = task.window !== undefined && !task.isNewest;
  const next = afterProblem(run.feeds[task.feed], problem, Date.now(), isOfHistory);
  const mayBeCursor = problem.kind === 'unexpected' && problem.status !== undefined;
  const restart = run.connector.feeds[task.feed]?.restart;
  setFeed(run, task.feed, mayBeCursor ? startAgain(next, task, restart) : next);
}

/** The provider's problem, or an error of ours as one: only this feed waits. */
function problemIn(run: Run, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const { failure } = refusalIn(error) ?? {};
  if (failure?.kind === 'unavailable' || failure?.kind === 'rate limited')
    return new ProviderError('rate limited', 'We are busy', failure.retryAfter * 1000);
  if (failure?.kind === 'over quota')
    return new ProviderError('invalid', overQuota(failure.quota), failure.retryAfter * 1000);
  interrupted(run, error);
  return new ProviderError('unexpected', 'returns something that we cannot read yet');
}

/** Pulls a page. Returns false once the run has lost its claim, as when consent is withdrawn. */
async function pullPage(env: Env, run: Run, task: Task): Promise<boolean> {
  const { feeds, connector, access, done, saved } = run;
  access.until = Date.now() + pageMs;
  access.tooLarge = [];
  const feed = connector.feeds[task.feed];
  if (!feed) throw new Error(`${connector.provider} has no ${task.feed}`);
  const state = feeds[task.feed];
  const position = task.window ? (task.isNewest ? state?.newest : state?.history) : state;
  const cursor = position?.cursor ?? null;
  const page =
    task.window && feed.history
      ? ofHistory(await feed.history.page(run.api, task.window, cursor))
      : await feed.changes(run.api, cursor, run.connectedAt);
  const { unknownVehicles } = await ingestPulled(env, run, {
    ...page,
    records: await readable(env, run, task, page),
  });
  if (unknownVehicles) pullVehiclesSoon(run);
  if (page.more && JSON.stringify(page.cursor) === JSON.stringify(cursor))
    throw new ProviderError('unexpected', 'returns the same page again and again');
  const now = Date.now();
  const progress = { cursor: page.cursor, more: page.more, records: page.records.length };
  const whole = afterPage(state, task, progress, { now, everyMinutes: feed.everyMinutes });
  const next = page.problem ? afterPart(whole, state, page.problem, now) : whole;
  if (!task.window && !page.more) done.add(task.feed);
  const isNews = JSON.stringify(next) !== JSON.stringify(state);
  if (isNews && dumpedBytes(JSON.stringify({ ...feeds, [task.feed]: next })) > maxFeedsBytes)
    throw new ProviderError('unexpected', 'returns cursors that are too long');
  if (isNews) setFeed(run, task.feed, next);
  if (isNews || now - (saved.succeededAt ?? run.succeededAt ?? 0) > successMs)
    saved.succeededAt = now;
  // Saved now, so that a killed run need not pull it again. The last page is saved with the release.
  if (!isNews || !(page.more || task.window)) return true;
  return (await save(env, run, saved)) !== undefined;
}

const kinds = {
  vehicles: 'vehicle',
  drivers: 'driver',
  trips: 'trip',
  events: 'safetyEvent',
} as const;

/** The records of a page without those too large, which are listed as refused. */
async function readable(
  env: Env,
  run: Run,
  { feed }: Task,
  { records }: Found,
): Promise<ProviderRecord[]> {
  if (run.access.tooLarge.length === 0) return records;
  const ids = run.access.tooLarge.map((id) => idFrom(id) ?? '');
  const refused = ids.map((sourceId) => ({
    kind: kinds[feed],
    sourceId,
    reason: 'is too large to be read',
  }));
  await keepRefusals(env, run, refused, Date.now());
  return records.filter(({ sourceId }) => sourceId !== null && !ids.includes(String(sourceId)));
}

const ofHistory = ({ next, ...found }: Page) => ({
  ...found,
  cursor: next ?? null,
  more: next !== undefined,
});

/** Makes the vehicles' feed due at once when an event has an unknown vehicle. */
function pullVehiclesSoon(run: Run): void {
  const { pulledAt: _, ...feed } = run.feeds.vehicles ?? { cursor: null };
  setFeed(run, 'vehicles', feed);
}

function setFeed({ feeds, saved }: Run, name: FeedName, state: Feeds[FeedName]): void {
  if (state) feeds[name] = state;
  saved.feeds = feeds;
}
