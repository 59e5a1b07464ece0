import { and, inArray, sql } from 'drizzle-orm';
import type { ArchiveKind } from '../../core/fleet/lists/list.ts';
import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import { keptMs } from '../../core/fleet/record-changes.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import type { Position } from '../../core/platform/db/cursor.ts';
import { type Database, int, jsonList, transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { hasId } from '../../core/platform/db/has-id.ts';
import { comparePositions, selected } from '../../core/platform/db/pages.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { type Budget, inSteps, isLeft, newBudget } from '../../core/platform/jobs/budget.ts';
import type { Lease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import { partsOf } from '../../core/platform/parts.ts';
import type { Extra } from '../extra.ts';
import { type ArchivedRow, isSame, newerOf, placeOf } from './archived.ts';
import { dayOf, type Folder, firstHotDay, type Part } from './bucket.ts';
import { catalogued, inArchive, putEntry, recordArchived } from './catalog.ts';
import {
  deleteFiles,
  lengthOf,
  maxCharacters,
  readPart,
  readRowsOf,
  type Sizes,
  tidy,
  usualSizes,
  writeParts,
} from './files.ts';

/** How many accounts have a day of each kind moved in a round, before any has two. */
const accountsAtATime = 20;

/** How many rows one statement reads or deletes: some tens of milliseconds of D1's time. */
const rowsPerStatement = 1000;

/**
 * Archives days that are no longer hot, in rounds: of each account the oldest. Retries on the next run. `conditions` are
 * those of other extras.
 */
export async function archive(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
  conditions: NonNullable<Extra['mayArchive']>[] = [],
): Promise<void> {
  const bucket = bucketOf(env);
  const before = firstHotDay(env, now) * dayMs;
  if (!bucket || before === -Infinity) return;
  const toMove = (db: Database, failed: string[]) =>
    daysToMove(bucket, db, before, failed, conditions);
  if ((await toMove(openDatabase(env), [])).length === 0) return;
  await inArchive(env, async (lease) => {
    const failed: string[] = [];
    for (;;) {
      const days = await toMove(lease.db, failed);
      if (days.length === 0) return;
      for (const folder of days) {
        if (!isLeft(budget)) return;
        await moveDay({ ...folder, lease, sizes: usualSizes }, budget).catch((error: unknown) => {
          const { kind, connectionId } = folder.day;
          failed.push(kind + connectionId);
          fault('error', 'A job failed', { job: 'archive', connectionId }, error);
        });
      }
    }
  });
}

/** For each kind, the oldest day of some accounts, chosen at random, so that none waits for others. */
async function daysToMove(
  bucket: R2Bucket,
  db: Database,
  before: number,
  failed: string[],
  conditions: NonNullable<Extra['mayArchive']>[],
): Promise<Folder[]> {
  const found: Folder[] = [];
  for (const kind of archiveKinds) {
    const order = orderOf(kind);
    const [accountId, day] = [sql`accountId`, sql`oldest / ${int(dayMs)}`];
    const may = conditions.map((of) => of(kind.name, accountId, day));
    // Raw: in a table known only at run time.
    const select = db.all<{ connectionId: string; accountId: string; oldest: number }>(sql`
      select connectionId, accountId, min(oldest) as oldest from (
        select id as connectionId, account_id as accountId,
          (select min(${order}) from ${kind.table} t where ${hasId(sql`t.connection_id`, sql`c.id`)}) as oldest
        from connections c where ${kind.name} || id not in ${jsonList(failed)}
          and not exists (select 1 from deletions d where d.id in (c.id, c.account_id))
          and ${ofActiveAccount(sql`c.account_id`)})
      where ${and(sql`oldest < ${before}`, ...may)}
      group by accountId order by random() limit ${accountsAtATime}`);
    for (const { oldest: time, ...owner } of await transaction(db, select))
      found.push({ bucket, kind, day: { kind: kind.name, ...owner, day: dayOf(time) } });
  }
  return found;
}

type Move = Folder & { lease: Lease; sizes: Sizes };

/** Moves a day of a connection to the archive as far as the budget goes. Merges late rows; resumes. */
export async function moveDay(move: Move, budget: Budget): Promise<void> {
  const known: KnownFiles = new Map();
  await inSteps(budget, () => moveSome(move, known));
}

/** Moves as many rows as a file has, and deletes them last. Returns false if there are none. */
async function moveSome(move: Move, known: KnownFiles): Promise<boolean> {
  const { kind, day, lease } = move;
  const { db, commit } = lease;
  const hot = await someRows(move);
  if (hot.length === 0) return false;
  const parts = await catalogued(db, day);
  const archivedCopies = await archivedCopiesOf(move, parts, hot, known);
  const versions = hot.map((row): Version => {
    const twin = archivedCopies.get(row.id);
    return { row, twin, newer: twin ? newerOf(kind, twin.row, row) : row };
  });
  const different = versions.filter(({ newer, twin }) => newer !== twin?.row);
  const written = await writeVersions(move, parts, different);
  const replaced = parts.filter((part) => !written.includes(part));
  if (different.length > 0) await commit(...putEntry(db, day, written));
  if (replaced.length > 0) await deleteFiles(move, replaced);
  await tidy(move, written);
  for (const some of partsOf(versions, rowsPerStatement)) {
    // The change feed finds them in the archive from here on, and as merged.
    const shown = some.flatMap(({ row, newer }) =>
      Number(row.updatedAt) > Date.now() - keptMs - hourMs || !isSame(kind, row, newer)
        ? [row.id]
        : [],
    );
    await commit(
      ...(shown.length > 0 ? [recordArchived(db, day, 'changed', shown)] : []),
      deleteRows(db, kind, some),
    );
  }
  return true;
}

type ArchivedCopy = { row: ArchivedRow; at: number };

type Version = { row: ArchivedRow; twin: ArchivedCopy | undefined; newer: ArchivedRow };

async function someRows({ kind, day, sizes, lease: { db } }: Move): Promise<ArchivedRow[]> {
  const order = orderOf(kind);
  const rows: ArchivedRow[] = [];
  let characters = 0;
  for (let after: Position = { sort: day.day * dayMs, id: '' }; ; ) {
    // Raw as in pages of lists: in a table known only at run time, as D1 stores it.
    const select = db.all<ArchivedRow>(sql`
      select ${selected(kind.stored)} from ${kind.table}
      where ${hasId(sql`connection_id`, sql`${day.connectionId}`)} and ${order} < ${(day.day + 1) * dayMs}
        and (${order}, id) > (${after.sort}, ${after.id})
      order by ${order}, id limit ${rowsPerStatement}`);
    const found = await transaction(db, select);
    rows.push(...found);
    characters += lengthOf(found);
    const last = found[rowsPerStatement - 1];
    if (!last || rows.length >= sizes.part || characters > maxCharacters)
      return rows.slice(0, sizes.part);
    after = placeOf(kind, last);
  }
}

const orderOf = ({ stored, order }: ArchiveKind) => sql.identifier(stored[order]?.name ?? order);

/** Deletes rows from D1, unless they have changed since they were read. */
const deleteRows = (db: Database, { table: archived }: ArchiveKind, versions: Version[]) => {
  const read = JSON.stringify(versions.map(({ row }) => [row.id, row.updatedAt]));
  const same = sql`(
    select t.id from json_each(${read}) v
    cross join ${archived} t on t.id = v.value->>0 and t.updated_at = v.value->>1)`;
  return db.delete(archived).where(inArray(archived.id, same));
};

/** The ends of the ids in files read so far, as numbers: only late records need one read again. */
type KnownFiles = Map<string, Float64Array>;

const endOf = (id: unknown): number => Number.parseInt(String(id).slice(-12), 16);

/** The archived versions of these records on this day, by id. */
async function archivedCopiesOf(
  move: Move,
  parts: Part[],
  hot: ArchivedRow[],
  known: KnownFiles,
): Promise<Map<unknown, ArchivedCopy>> {
  const ids = new Set(hot.map(({ id }) => id));
  const ends = new Set([...ids].map(endOf));
  const endsIn = async (file: string) =>
    Float64Array.from((await readPart(move, file, ['id'])).map(({ id }) => endOf(id)));
  const archivedCopies = new Map<unknown, ArchivedCopy>();
  for (const [at, { file }] of parts.entries()) {
    const inFile = known.get(file) ?? (await endsIn(file));
    known.set(file, inFile);
    if (inFile.some((end) => ends.has(end)))
      for (const row of await readRowsOf(move, file, ids)) archivedCopies.set(row.id, { row, at });
  }
  return archivedCopies;
}

async function writeVersions(move: Move, parts: Part[], versions: Version[]): Promise<Part[]> {
  const { kind, sizes } = move;
  const added = Map.groupBy(
    versions.map(({ newer }) => newer),
    (row) => indexIn(parts, placeOf(kind, row), sizes),
  );
  const without = new Set(versions.flatMap(({ row, twin }) => (twin ? [row.id] : [])));
  const changed = new Set([...added.keys(), ...versions.flatMap(({ twin }) => twin?.at ?? [])]);
  const written: Part[] = [];
  for (const [at, part] of [...parts, undefined].entries()) {
    if (part && !changed.has(at)) {
      written.push(part);
      continue;
    }
    const kept = part
      ? (await readPart(move, part.file)).filter((row) => !without.has(row.id))
      : [];
    const rows = [...kept, ...(added.get(at) ?? [])];
    rows.sort((a, b) => comparePositions(placeOf(kind, a), placeOf(kind, b)));
    written.push(...(await writeParts(move, rows, sizes)));
  }
  return written;
}

/** The place of a row's file: a further one if it comes after all, and the last is half full. */
function indexIn(parts: Part[], position: Position, sizes: Sizes): number {
  const last = parts.at(-1);
  const isFull = last && Math.max(last.rows / sizes.part, last.bytes / maxCharacters) > 0.5;
  if (!last || (isFull && comparePositions(last.last, position) < 0)) return parts.length;
  const at = parts.findLastIndex(({ first }) => comparePositions(first, position) <= 0);
  return Math.max(0, at);
}
