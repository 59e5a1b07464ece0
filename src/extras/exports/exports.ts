import {
  and,
  desc,
  eq,
  exists,
  gt,
  isNotNull,
  isNull,
  lt,
  ne,
  notExists,
  type SQL,
  sql,
} from 'drizzle-orm';
import * as v from 'valibot';
import { audit } from '../../core/accounts/audit/write.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { type Database, refuseUnless } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { tokens } from '../../core/platform/db/schema/accounts.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { invalid, Refusal } from '../../core/platform/errors.ts';
import { send } from '../../core/platform/queue.ts';
import { portalUsers } from '../../people/tables.ts';
import { exportFolder, formatNames, streamFile } from './files.ts';
import { exports } from './tables.ts';

export const maxExportsPerDay = 5;

export const tooManyExports = `An account can have at most ${maxExportsPerDay} exports a day. Try again tomorrow.`;

export const exportInProgress =
  'An export of this account is being prepared. Ask for another once it is ready.';

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
  /** Who asked for it: a person, an API token, or `operators`. */
  requestedBy: exports.requestedBy,
  connectionIds: exports.connectionIds,
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
export type Export = typeof exports.$inferSelect;

/** Whether this deployment can export: it needs a bucket. */
export const canExport = (env: Env): boolean => bucketOf(env) !== undefined;

/**
 * Asks for an export for a person, who is emailed when it is ready, or an API token, whose limit it has.
 * @throws Refusal: invalid
 */
export async function requestExport(
  env: Env,
  caller: Caller,
  requestedBy: string,
  { lists, formats, ...days }: Wanted,
) {
  if (!canExport(env)) throw invalid('Exports are not available here.');
  const { accountId } = caller;
  const now = Date.now();
  const id = newId();
  const own = eq(exports.accountId, accountId);
  const isOperators = requestedBy === operators;
  // Those of others wait while the account is suspended.
  const isOpen = and(
    own,
    isNotNull(exports.nextAt),
    isNull(exports.finishedAt),
    isOperators ? eq(exports.requestedBy, operators) : undefined,
  );
  const isOfToday = and(
    own,
    gt(exports.requestedAt, now - dayMs),
    ne(exports.requestedBy, operators),
  );
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      notExists(db.select({ id: exports.id }).from(exports).where(isOpen)),
      exportInProgress,
    ),
    isOperators
      ? undefined
      : refuseUnless(db, lt(db.$count(exports, isOfToday), maxExportsPerDay), tooManyExports),
    audit(db, caller, 'changed', 'accounts', accountId, ['export requested']),
    db.insert(exports).values({
      id,
      accountId,
      requestedBy,
      connectionIds: 'tokenId' in caller ? caller.connectionIds : undefined,
      requestedAt: now,
      wanted: { lists: [...new Set(lists)], formats: [...new Set(formats)], ...days },
      nextAt: now,
      expiresAt: now + exportKeptMs,
    }),
  ]);
  await send(env.DELIVERIES, [{ job: exportJob }]);
  return { id };
}

/** An export as people see it. */
export type ListedExport = Export & {
  /** Who asked for it: an address, or an API token's name; null once they are gone. */
  by: string | null;
  state: 'preparing' | 'ready' | 'failed';
  /** Whether it ends with the most records. */
  truncated: boolean;
};

/** The account's exports, newest first. There are few: they are deleted when they expire. */
export const listExports = (env: Env, caller: Caller): Promise<ListedExport[]> =>
  readExports(env, caller);

/** An export of the account; undefined if the caller may see none with this id. */
export const findExport = async (
  env: Env,
  caller: Caller,
  id: string,
): Promise<ListedExport | undefined> => (await readExports(env, caller, eq(exports.id, id)))[0];

async function readExports(env: Env, caller: Caller, which?: SQL): Promise<ListedExport[]> {
  const found = await asCaller(env, caller, (db) =>
    db
      .select({ ...exportColumns, email: portalUsers.email, token: tokens.name })
      .from(exports)
      .leftJoin(portalUsers, requestedIn(portalUsers))
      .leftJoin(tokens, requestedIn(tokens))
      .where(and(isSeenBy(caller), gt(exports.expiresAt, Date.now()), which))
      .orderBy(desc(exports.requestedAt), desc(exports.id)),
  );
  return found.map(({ email, token, ...row }) => ({
    ...row,
    by: email ?? token,
    state: row.finishedAt ? 'ready' : row.nextAt ? 'preparing' : 'failed',
    truncated: row.finishedAt !== null && row.records >= maxExportRecords,
  }));
}

const requestedIn = ({ id, accountId }: typeof portalUsers | typeof tokens) =>
  and(eq(id, exports.requestedBy), eq(accountId, exports.accountId));

/** A token that is limited to connections sees the exports that it has asked for, and no others. */
const isSeenBy = (caller: Caller) =>
  and(
    eq(exports.accountId, caller.accountId),
    'tokenId' in caller && caller.connectionIds
      ? eq(exports.requestedBy, caller.tokenId)
      : undefined,
  );

/** Opens a file of a ready export: its bytes, headers, and later work. @throws Refusal: not found */
export async function openFile(env: Env, caller: Caller, id: string, name: string) {
  const isReady = and(
    eq(exports.id, id),
    isSeenBy(caller),
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
  if (!found || !bucket) throw new Refusal({ kind: 'not found', what: 'file' });
  const headers = {
    'Content-Type': name.endsWith('.csv')
      ? 'text/csv; charset=utf-8'
      : 'application/vnd.apache.parquet',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
  };
  return {
    headers,
    ...streamFile(bucket, exportFolder(caller.accountId, id), JSON.parse(found.file)),
  };
}
