import { and, eq, exists, inArray, isNotNull, ne, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { audit } from '../../core/accounts/audit/write.ts';
import { selectByIds } from '../../core/fleet/find.ts';
import { accidents } from '../../core/fleet/lists/accidents.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { type Database, int } from '../../core/platform/db/database.ts';
import { asCaller, type Caller, isWithin, notBeingDeleted } from '../../core/platform/db/guard.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { timestamp } from '../../core/platform/fields.ts';
import type { EvidenceFile } from './schema.ts';
import { evidence, evidenceDays } from './tables.ts';
import { fileName } from './types.ts';

/** SQL for `with`: the accounts that have such files, in order, each found by an index from the one before. */
export const owners = (which: SQL, after = ''): SQL => sql`
  recursive owners (id) as (
    select min(account_id) from evidence where ${which} and account_id > ${after}
    union all
    select (select min(account_id) from evidence where ${which} and account_id > owners.id)
    from owners where owners.id is not null)`;

/**
 * The statement that deletes all but the identity and checksum of files, given as a JSON list of ids: so they are
 * recognised when a record links to them again.
 */
export const forget = (db: Database, ids: SQL) =>
  db
    .update(evidence)
    .set({
      state: 'gone',
      camera: null,
      takenAt: null,
      source: null,
      reason: null,
      contentType: null,
      bytes: null,
      upload: null,
      nextAt: null,
      opened: '{}',
      endedAt: null,
    })
    .where(inArray(evidence.id, ids));

/** The statement that has an account's copies begin again, in another bucket. */
export const restartCopies = (db: Database, accountId: string) =>
  db
    .update(evidence)
    .set({ upload: null })
    .where(and(eq(evidence.accountId, accountId), isNotNull(evidence.nextAt)));

const [e, k] = [alias(evidence, 'e'), alias(evidenceDays, 'k')];

/** SQL for whether an account with the days `k` keeps the evidence `e`. */
export const isKept = (now: number): SQL =>
  sql`(${e.createdAt} >= ${k.since} and ${e.createdAt} > ${now} - ${k.days} * ${int(dayMs)})`;

/** Which files of an accident the caller sees. */
const isShown = (caller: Caller, accidentId: string) =>
  and(
    isKept(Date.now()),
    eq(e.accidentId, accidentId),
    eq(e.accountId, caller.accountId),
    ne(e.state, 'gone'),
    notBeingDeleted(e.connectionId),
    isWithin(caller, e.connectionId),
  );

/** The statement that reads the evidence of an accident, oldest first, or what `passes` of it. */
const selectEvidence = (db: Database, caller: Caller, accidentId: string, passes?: SQL) =>
  db
    .select({
      id: e.id,
      kind: e.kind,
      camera: e.camera,
      takenAt: e.takenAt,
      state: sql<'waiting' | 'stored' | 'missed'>`${e.state}`.as('shown'), // none that is gone
      reason: e.reason,
      contentType: e.contentType,
      sha256: e.sha256,
      bytes: ifStored(e.bytes).as('size'),
      storedAt: ifStored(e.endedAt).as('stored'),
      expiresAt: sql<number>`${e.createdAt} + ${k.days} * ${int(dayMs)}`.as('expires'),
    })
    .from(e)
    .innerJoin(k, eq(k.accountId, e.accountId))
    .where(and(isShown(caller, accidentId), passes))
    .orderBy(e.createdAt, e.id);

const ifStored = (column: typeof e.bytes | typeof e.endedAt) =>
  sql<number | null>`iif(${e.state} = 'stored', ${column}, null)`;

const timesOf = ['takenAt', 'storedAt', 'expiresAt'] as const;

type Stored = Awaited<ReturnType<typeof selectEvidence>>[number];

export const evidenceOf = (rows: Stored[]): EvidenceFile[] =>
  rows.map((row) => {
    const times = timesOf.map((name) => [name, row[name] === null ? null : timestamp(row[name])]);
    return { ...row, ...Object.fromEntries(times) };
  });

/** An accident as its list shows it, with its evidence if there is any. */
export async function findWithEvidence(env: Env, caller: Caller, id: string) {
  const { rows, evidence } = await asCaller(env, caller, (db) => ({
    rows: selectByIds(db, caller, accidents.list, [id]),
    evidence: selectEvidence(db, caller, id),
  }));
  const [row] = rows;
  if (!row) return undefined;
  const found = evidenceOf(evidence);
  return { ...accidents.list.present(row), ...(found.length > 0 && { evidence: found }) };
}

export const findEvidence = async (
  env: Env,
  caller: Caller,
  accidentId: string,
): Promise<EvidenceFile[]> =>
  evidenceOf(await asCaller(env, caller, (db) => selectEvidence(db, caller, accidentId)));

/** The folder of an account's files, and the key of one. */
export const evidenceFolder = (accountId: string): string => `evidence/account=${accountId}/`;
export const keyOf = ({
  accountId,
  accidentId,
  id,
}: {
  accountId: string;
  accidentId: string;
  id: string;
}) => `${evidenceFolder(accountId)}${accidentId}/${id}`;

type Asked = { accidentId: string; id?: string; by: string };

/**
 * Opens the stored files of an accident, or the one with an id, for whoever `by` identifies. The audit log has it once
 * an hour: players ask for many ranges. @throws Refusal: not found
 */
export async function openEvidence(env: Env, caller: Caller, { accidentId, id, by }: Asked) {
  const now = Date.now();
  const wanted = and(eq(e.state, 'stored'), id === undefined ? undefined : eq(e.id, id));
  const isNew = sql`not exists (
    select 1 from json_each(${e.opened}) where key = ${by} and value > ${now - hourMs})`;
  const added = sql`(
    select json_group_object(key, value) from (
      select key, value from json_each(${evidence.opened}) where value > ${now - hourMs}
      union all select ${by}, ${now}))`;
  const field = `evidence opened: accident ${accidentId}${id ? `, file ${id}` : ''}`;
  const { files } = await asCaller(env, caller, (db) => {
    const ids = db
      .select({ id: e.id })
      .from(e)
      .innerJoin(k, eq(k.accountId, e.accountId))
      .where(and(isShown(caller, accidentId), wanted, isNew));
    return {
      files: selectEvidence(db, caller, accidentId, wanted),
      audit: audit(db, caller, 'changed', 'accounts', exists(ids), [field]),
      opened: db.update(evidence).set({ opened: added }).where(inArray(evidence.id, ids)),
    };
  });
  const bucket = bucketOf(env);
  if (files.length === 0 || !bucket) throw new Refusal({ kind: 'not found', what: 'evidence' });
  const { accountId } = caller;
  const open = async (file: { id: string }, range?: R2Range) => {
    const object = await bucket.get(
      keyOf({ accountId, accidentId, id: file.id }),
      range && { range },
    );
    if (!object) throw new Refusal({ kind: 'not found', what: 'evidence' });
    return object.body;
  };
  const stored = evidenceOf(files).map((file) => ({
    ...file,
    name: fileName(file),
    contentType: file.contentType ?? '',
    bytes: file.bytes ?? 0,
  }));
  return { files: stored, open };
}

/** The same for one file. @throws Refusal: not found */
export async function openFile(env: Env, caller: Caller, asked: Asked & { id: string }) {
  const { files, open } = await openEvidence(env, caller, asked);
  const [file] = files;
  if (!file) throw new Refusal({ kind: 'not found', what: 'evidence' });
  return { file, open: (range?: R2Range) => open(file, range) };
}
