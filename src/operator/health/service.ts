import { change, openDatabase, repeatsRefusals, transaction } from '../../platform/db/database.ts';
import { inTime } from '../../platform/homes/each.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { described, fault } from '../../platform/log.ts';
import type { Health, HomeHealth } from '../api/service.ts';
import { earlierSize, sizeOf, warningShare } from './size.ts';

/** A delivery that five sweeps could not start is stuck. */
export const staleAfterSeconds = 5 * 60;

type Swept = { at: number; oldestDueAt: number | null };

/** Checks all homes at the same time. Never throws: a failure is a result. */
export async function checkHomes(env: Env): Promise<Health> {
  if (!hasHomes(env)) return checkHealth(env);
  const names = [...homesOf(env).keys()];
  const checked = await Promise.all([...homesOf(env).values()].map((home) => checkHealth(home)));
  return { ...worstOf(checked), homes: Object.fromEntries(checked.map((health, at) => [names[at], health])) };
}

function worstOf(all: HomeHealth[]): HomeHealth {
  const known = <T>(values: (T | null)[]) => values.filter((value) => value !== null);
  const most = (values: (number | null)[]) => known(values).reduce<number | null>(greater, null);
  const sizes = known(all.map(({ size }) => size)).toSorted((a, b) => b.share - a.share);
  return {
    database: all.every(({ database }) => database === 'ok') ? 'ok' : 'unavailable',
    queueBacklog: known(all.map(({ queueBacklog }) => queueBacklog)).reduce<number | null>(sum, null),
    oldestDueSeconds: most(all.map(({ oldestDueSeconds }) => oldestDueSeconds)),
    sweptSecondsAgo: most(all.map(({ sweptSecondsAgo }) => sweptSecondsAgo)),
    size: sizes[0] ?? null,
  };
}

const greater = (a: number | null, b: number): number => Math.max(a ?? b, b);
const sum = (a: number | null, b: number): number => (a ?? 0) + b;

/**
 * Checks D1 and the queue, reading two rows: the last sweep's findings, and the database's size. `oldestDueSeconds` is
 * how long the oldest unclaimed delivery has been due, null if there is none. Never throws: a failure is a result.
 */
export async function checkHealth(env: Env): Promise<HomeHealth> {
  const now = Date.now();
  const [found, queueBacklog] = await Promise.all([
    inTime(readStored(env, now)).catch((error: unknown) => {
      fault('error', { message: 'Database does not respond', ...described(error) });
    }),
    backlog(env.DELIVERIES),
  ]);
  if (!found) {
    const unknown = { oldestDueSeconds: null, sweptSecondsAgo: null, size: null };
    return { database: 'unavailable', queueBacklog, ...unknown };
  }
  const [{ results, meta }, [earlier]] = found;
  const [swept] = results as Swept[]; // as the statement selects
  const seconds = (since: number | null | undefined) =>
    since && since <= now ? Math.floor((now - since) / 1000) : null;
  const oldestDueSeconds = seconds(swept?.oldestDueAt);
  return {
    database: 'ok',
    queueBacklog,
    oldestDueSeconds,
    sweptSecondsAgo: seconds(swept?.at),
    size: sizeOf(meta.size_after, now, earlier),
  };
}

async function readStored(env: Env, now: number) {
  const db = openDatabase(env);
  const swept = change(db)`select at, oldest_due_at as oldestDueAt from sweeps where id = 1`;
  const [found, repeats] = await Promise.all([
    transaction(db, [swept, earlierSize(db, now)], { repeatable: true }),
    repeatsRefusals(db),
  ]);
  if (!repeats) throw new Error('D1 does not repeat the words of refusals: every 401 is a 503');
  return found;
}

/** Messages waiting in the queue; null if it does not say, which is no failure, because D1 has the truth. */
const backlog = (queue: Queue): Promise<number | null> =>
  queue.metrics().then(
    ({ backlogCount }) => backlogCount,
    () => null,
  );

/** What is wrong and in which home, for people; undefined if all is well. */
export const problemIn = (health: Health): string | undefined => said(health, problemOf);

/** What will go wrong unless somebody acts, in the same form. */
export const warningIn = (health: Health): string | undefined => said(health, warningOf);

function said(
  { homes, ...only }: Health,
  words: (health: HomeHealth) => string | undefined,
): string | undefined {
  if (!homes) return words(only);
  const found = Object.entries(homes).flatMap(([name, health]) => {
    const text = words(health);
    return text ? [`${name}: ${text}`] : [];
  });
  return found.length > 0 ? found.join('; ') : undefined;
}

/** What is wrong with one home. */
export function problemOf({ database, oldestDueSeconds, sweptSecondsAgo }: HomeHealth): string | undefined {
  if (database !== 'ok') return 'Database does not respond';
  if ((oldestDueSeconds ?? 0) > staleAfterSeconds) return 'Deliveries are late';
  if ((sweptSecondsAgo ?? 0) > staleAfterSeconds) return 'Scheduled jobs have stopped';
  return undefined;
}

/** What will go wrong with it unless somebody acts. */
export function warningOf({ size }: HomeHealth): string | undefined {
  if (!size || size.share <= warningShare) return undefined;
  const left = size.daysLeft === null ? '' : `, and will be full in ${size.daysLeft} days at this rate`;
  return `The database is ${Math.floor(size.share * 100)} % full${left}`;
}
