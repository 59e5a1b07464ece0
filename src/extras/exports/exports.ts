import { and, desc, eq, exists, gt, isNotNull, isNull, lt, ne, notExists, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { audit } from '../../core/accounts/audit/write.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { type Database, refuseUnless } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { invalid, Refusal } from '../../core/platform/errors.ts';
import { markWaiting } from '../../core/platform/jobs/jobs.ts';
import { send } from '../../core/platform/queue.ts';
import { portalUsers } from '../../people/tables.ts';
import { bucketOf } from '../archive/bucket.ts';
import { exportFolder, formatNames, streamFile } from './files.ts';
import { exports } from './tables.ts';

export const maxExportsPerDay = 5;

export const exportKeptMs = 7 * dayMs;

export const longestExportMs = dayMs;

export const maxExportRecords = 2_000_000;

/** In place of a person: an operator, without a limit a day, also for suspended accounts. */
export const operators = '';

export const exportJob = 'exports';

/** The paths of lists, without their slash. */
export const exportableLists = lists.map(({ list }) => list.path.slice(1));

/** Which lists, in which formats, and from when (inclusive) until when (exclusive), in RFC 3339. */
export const Wanted = v.object({
  lists: v.pipe(v.array(v.picklist(exportableLists)), v.minLength(1, 'Choose at least one.')),
  formats: v.pipe(v.array(v.picklist(formatNames)), v.minLength(1, 'Choose at least one.')),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
});
export type Wanted = v.InferOutput<typeof Wanted>;

/** The columns of an export. */
export const exportColumns = {
  id: exports.id,
  accountId: exports.accountId,
  /** Who asked for it: a person, or `operators`. */
  userId: exports.requestedBy,
  requestedAt: exports.requestedAt,
  finishedAt: exports.finishedAt,
  expiresAt: exports.expiresAt,
  /** When it is to be gone on with; null if there is nothing left to do. */
  nextAt: exports.nextAt,
  records: exports.records,
  wanted: exports.wanted,
  place: exports.place,
  files: exports.files,
};

/** An export; times in milliseconds since 1970. */
export type Export = Omit<typeof exports.$inferSelect, 'requestedBy'> & { userId: string };

/** Whether this deployment can export: it needs a bucket. */
export const canExport = (env: Env): boolean => bucketOf(env) !== undefined;

/** Asks for an export for a person, who is emailed when it is ready. @throws Refusal: invalid */
export async function requestExport(env: Env, caller: Caller, userId: string, wanted: Wanted) {
  if (!canExport(env)) throw invalid('Exports are not available here.');
  const { accountId } = caller;
  const now = Date.now();
  const id = newId();
  const own = eq(exports.accountId, accountId);
  const isOpen = and(own, isNotNull(exports.nextAt), isNull(exports.finishedAt));
  const isOfToday = and(
    own,
    gt(exports.requestedAt, now - dayMs),
    ne(exports.requestedBy, operators),
  );
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      notExists(db.select({ id: exports.id }).from(exports).where(isOpen)),
      'An export of this account is being prepared. Ask for another once it is ready.',
    ),
    userId === operators
      ? undefined
      : refuseUnless(
          db,
          lt(db.$count(exports, isOfToday), maxExportsPerDay),
          `An account can have at most ${maxExportsPerDay} exports a day. Try again tomorrow.`,
        ),
    audit(db, caller, 'changed', 'accounts', accountId, ['export requested']),
    db.insert(exports).values({
      id,
      accountId,
      requestedBy: userId,
      requestedAt: now,
      wanted,
      nextAt: now,
      expiresAt: now + exportKeptMs,
    }),
    markWaiting(db, [exportJob]),
  ]);
  await send(env.DELIVERIES, [{ job: exportJob }]);
  return { id };
}

/** An export as people see it; who asked for it is null once they have been removed. */
export type ListedExport = Export & {
  requestedBy: string | null;
  state: 'preparing' | 'ready' | 'failed';
};

/** The account's exports, newest first. There are few: they are deleted when they expire. */
export async function listExports(env: Env, caller: Caller): Promise<ListedExport[]> {
  const isTheirs = and(
    eq(portalUsers.id, exports.requestedBy),
    eq(portalUsers.accountId, exports.accountId),
  );
  const found = await asCaller(env, caller, (db) =>
    db
      .select({ ...exportColumns, requestedBy: portalUsers.email })
      .from(exports)
      .leftJoin(portalUsers, isTheirs)
      .where(and(eq(exports.accountId, caller.accountId), gt(exports.expiresAt, Date.now())))
      .orderBy(desc(exports.requestedAt), desc(exports.id)),
  );
  return found.map((row) => ({
    ...row,
    state: row.finishedAt ? 'ready' : row.nextAt ? 'preparing' : 'failed',
  }));
}

/** Opens a file of a ready export: its bytes, headers, and later work. @throws Refusal: not found */
export async function openFile(env: Env, caller: Caller, id: string, name: string) {
  const { accountId } = caller;
  const isReady = and(
    eq(exports.id, id),
    eq(exports.accountId, accountId),
    isNotNull(exports.finishedAt),
    gt(exports.expiresAt, Date.now()),
  );
  const named = (db: Database) =>
    db
      .select({ file: sql<string>`f.value`.as('file') })
      .from(exports)
      .crossJoin(sql`json_each(${exports.files}) f`)
      .where(and(isReady, eq(sql`f.value->>'name'`, name)));
  const { files } = await asCaller(env, caller, (db) => ({
    files: named(db),
    audited: audit(db, caller, 'changed', 'accounts', exists(named(db)), [
      `export downloaded: ${name}`,
    ]),
  }));
  const [found] = files;
  const bucket = bucketOf(env);
  if (!found || !bucket) throw new Refusal({ kind: 'not found' });
  const headers = {
    'Content-Type': name.endsWith('.csv')
      ? 'text/csv; charset=utf-8'
      : 'application/vnd.apache.parquet',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
  };
  return { headers, ...streamFile(bucket, exportFolder(accountId, id), JSON.parse(found.file)) };
}
