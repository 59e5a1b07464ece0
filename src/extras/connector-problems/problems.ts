import { and, eq } from 'drizzle-orm';
import { kindNamed, recordKinds } from '../../core/fleet/lists/registry.ts';
import type { NoteCall } from '../../core/ingest/call.ts';
import type { Rejection, Warning } from '../../core/ingest/schema.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { isObject } from '../../core/platform/fields.ts';
import { type IngestProblem, ingestProblems, type ProblemDay } from './tables.ts';

/** How many different rejections of a connection are kept, and warnings, and of how many days the counts. */
export const problemsKept = 25;
export const problemDaysKept = 30;

/** How much of a message is kept: longer ones are of several fields. */
export const maxMessage = 400;

/** What was last wrong with the records of a connector, the newest first. */
export type Problems = {
  rejected: IngestProblem[];
  warned: IngestProblem[];
  days: ProblemDay[];
};

/** What was wrong with the records of a call. */
export type Found = { rejected: FoundProblem[]; warned: FoundProblem[] };
type FoundProblem = Pick<IngestProblem, 'kind' | 'field' | 'message' | 'records' | 'index'>;

/** What was wrong with the records of a call, the same about several once. */
export function problemsIn(
  records: unknown[],
  rejected: Rejection[],
  warnings: Warning[] = [],
): Found {
  const kindOf = (index: number) => {
    const record = records[index];
    const name = isObject(record) && kindNamed(record.kind);
    return recordKinds.find(({ kind }) => kind === name)?.kind ?? null;
  };
  const refused = rejected.map(({ index, message }) => ({
    kind: kindOf(index),
    message: cut(message),
    records: 1,
    index,
  }));
  const warned = warnings.map(({ field, message, records, index }) => ({
    kind: kindOf(index),
    field,
    message: cut(message),
    records,
    index,
  }));
  return { rejected: merged(refused), warned: merged(warned) };
}

const cut = (message: string): string => message.slice(0, maxMessage).toWellFormed();

/** The same problems once, with the records of all; otherwise each as it first is. */
function merged<T extends FoundProblem>(problems: T[]): T[] {
  const known = new Map<string, T>();
  for (const problem of problems) {
    const { kind, field, message } = problem;
    const key = JSON.stringify([kind, field, message]);
    const before = known.get(key);
    known.set(key, before ? { ...before, records: before.records + problem.records } : problem);
  }
  return [...known.values()];
}

/** What is known of a connection once a call has had these problems. */
export function withFound(
  known: Problems,
  { rejected, warned }: Found,
  { requestId, now }: { requestId: string; now: number },
): Problems {
  const first = (found: FoundProblem[], before: IngestProblem[]) =>
    merged([...found.map((one) => ({ ...one, requestId, at: now })), ...before]).slice(
      0,
      problemsKept,
    );
  const day = new Date(now).toISOString().slice(0, 10);
  const today = known.days.find((one) => one.day === day);
  const counted = {
    day,
    rejected: (today?.rejected ?? 0) + recordsOf(rejected),
    warnings: (today?.warnings ?? 0) + recordsOf(warned),
  };
  return {
    rejected: first(rejected, known.rejected),
    warned: first(warned, known.warned),
    days: [counted, ...known.days.filter((one) => one !== today)].slice(0, problemDaysKept),
  };
}

const recordsOf = (problems: FoundProblem[]): number =>
  problems.reduce((sum, { records }) => sum + records, 0);

const nothing: Problems = { rejected: [], warned: [], days: [] };

/** How often it is tried to note problems while other calls of the connection do. */
const mostTries = 5;

/** Notes for people what was wrong with the records of a call. One without problems costs nothing. */
export const noteProblems: NoteCall = async (env, caller, source, call) => {
  const found = problemsIn(call.records, call.rejected, call.warnings);
  if (found.rejected.length + found.warned.length > 0) await note(env, caller, source, found);
};

/** A row is read and written. */
async function note(
  env: Env,
  caller: Caller,
  { connectionId, requestId, now }: { connectionId: string; requestId: string; now: number },
  found: Found,
): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const [known] = await asCaller(env, caller, (db) => selectProblems(db, caller, connectionId));
    const next = {
      ...withFound(known ?? nothing, found, { requestId, now }),
      version: (known?.version ?? 0) + 1,
    };
    const saved = await asCaller(env, caller, (db) =>
      db
        .insert(ingestProblems)
        .values({ connectionId, ...next })
        .onConflictDoUpdate({
          target: ingestProblems.connectionId,
          set: next,
          setWhere: eq(ingestProblems.version, known?.version ?? 0),
        })
        .returning({ version: ingestProblems.version }),
    );
    if (saved.length > 0) return;
  }
}

/** What was last wrong with the records that connectors sent for a connection of the account. */
export async function ingestProblemsOf(
  env: Env,
  caller: Caller,
  connectionId: string,
): Promise<Problems> {
  const [known] = await asCaller(env, caller, (db) => selectProblems(db, caller, connectionId));
  return known ?? nothing;
}

const selectProblems = (db: Database, { accountId }: Caller, connectionId: string) =>
  db
    .select({
      version: ingestProblems.version,
      rejected: ingestProblems.rejected,
      warned: ingestProblems.warned,
      days: ingestProblems.days,
    })
    .from(ingestProblems)
    .innerJoin(connections, eq(connections.id, ingestProblems.connectionId))
    .where(
      and(eq(ingestProblems.connectionId, connectionId), eq(connections.accountId, accountId)),
    );
