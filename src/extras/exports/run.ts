import { and, eq, type SQL, sql } from 'drizzle-orm';
import { operatorIn } from '../../core/accounts/accounts.ts';
import { findConnection, sliceConnections } from '../../core/fleet/connections.ts';
import type { List } from '../../core/fleet/lists/list.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { readList } from '../../core/fleet/service.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import { config, originOf } from '../../core/platform/config.ts';
import type { Position } from '../../core/platform/db/cursor.ts';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { minuteMs } from '../../core/platform/durations.ts';
import { refusalIn } from '../../core/platform/errors.ts';
import { type Budget, inSteps, isLeft, newBudget } from '../../core/platform/jobs/budget.ts';
import { type Lease, withLease } from '../../core/platform/jobs/lease.ts';
import { fault } from '../../core/platform/log.ts';
import { renderMail } from '../../people/mail/render.ts';
import { sendMail } from '../../people/mail/send.ts';
import { portalUsers } from '../../people/tables.ts';
import { counted, minuteOf } from '../../texts/words.ts';
import { readAcross } from '../archive/lists.ts';
import {
  type Export,
  exportColumns,
  exportJob,
  exportKeptMs,
  longestExportMs,
  maxExportRecords,
  operators,
} from './exports.ts';
import { exportFolder, writePiece } from './files.ts';
import type { ExportPlace } from './tables.ts';
import { exports } from './tables.ts';

/** A piece, which is held in memory, ends after so many pages of so many records, or characters. */
const pagesPerPiece = 20;
const perPage = 500;
const pieceCharacters = 6_000_000;

/** When an export that has failed is gone on with. */
const retryMs = 30 * minuteMs;

/** Who changes the files of exports: one invocation at a time. */
export const exportLease = 'export files';

/** Goes on with exports, a piece of each in turn. What is killed is repeated. */
export async function prepareExports(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const bucket = bucketOf(env);
  if (!bucket) return;
  await withLease(env, exportLease, (lease) =>
    inSteps(budget, async () => {
      const one = await nextOpen(lease.db, now);
      if (!one) return false;
      await step(env, bucket, lease, one, budget).catch(async (error: unknown) => {
        fault('error', 'A job failed', { job: exportJob }, error);
        await lease.commit(later(lease.db, one, Date.now() + retryMs));
      });
      return true;
    }),
  );
}

/** SQL for the export that has waited longest to be gone on with. */
const nextOf = (now: number): SQL => sql`(
  select e.id from exports e indexed by exports_open
  join accounts a on a.id = e.account_id and (
    a.status = 'active' or (a.status = 'suspended' and e.requested_by = ${operators}))
  where e.next_at <= ${now}
  order by e.next_at limit 1)`;

/** SQL for whether `prepareExports` has work. */
export const exportsAreDue = (now: number): SQL => sql`${nextOf(now)} is not null`;

async function nextOpen(db: Database, now: number): Promise<Export | undefined> {
  const next = nextOf(Math.max(now, Date.now()));
  const [found] = await transaction(
    db,
    db.select(exportColumns).from(exports).where(eq(exports.id, next)),
  );
  return found;
}

const later = (db: Database, { id }: Export, nextAt: number | null) =>
  db.update(exports).set({ nextAt }).where(eq(exports.id, id));

async function step(
  env: Env,
  bucket: R2Bucket,
  lease: Lease,
  one: Export,
  budget: Budget,
): Promise<void> {
  const { db } = lease;
  const isLate = one.requestedAt < Date.now() - longestExportMs;
  if (one.finishedAt === null && !isLate) return writeNext(env, bucket, lease, one, budget);
  if (one.finishedAt !== null && !isLate) await emailReady(env, db, one);
  await lease.commit(later(db, one, null));
}

/** Writes the next piece of each format, and notes where to go on. */
async function writeNext(
  env: Env,
  bucket: R2Bucket,
  { db, commit }: Lease,
  one: Export,
  budget: Budget,
) {
  const { id, accountId, wanted, place: position } = one;
  const at = position.list ?? 0;
  const resource = lists.find(({ list }) => list.path === `/${wanted.lists[at]}`);
  if (!resource) throw new Error('An export names no list'); // of another version of the service
  const { list, itemFields: columns } = resource;
  const { items, next } = await readItems(env, one, list, budget);
  let { files } = one;
  for (const format of wanted.formats) {
    const name = `${wanted.lists[at]}.${format}`;
    const file = files.find((known) => known.name === name) ?? {
      name,
      records: 0,
      bytes: 0,
      pieces: 0,
    };
    const target = { format, columns, order: list.order };
    const written = await writePiece(
      bucket,
      exportFolder(accountId, id),
      file,
      target,
      items,
      !next,
    );
    files = [...files.filter((known) => known.name !== name), written];
  }
  const records = one.records + items.length;
  const now = Date.now();
  const isDone = !next && (at + 1 === wanted.lists.length || records >= maxExportRecords);
  await commit(
    db
      .update(exports)
      .set({
        place: next ?? { list: at + 1 },
        files,
        records,
        nextAt: now,
        finishedAt: isDone ? now : null,
        expiresAt: isDone ? now + exportKeptMs : one.expiresAt,
      })
      .where(eq(exports.id, id)),
  );
}

async function readItems(env: Env, one: Export, list: List, budget: Budget) {
  const remaining = maxExportRecords - one.records;
  const items: object[] = [];
  let characters = 0;
  let next: ExportPlace | undefined = one.place;
  for (let pages = 0; next && items.length < remaining; pages++) {
    if (pages >= pagesPerPiece || characters >= pieceCharacters || (pages > 0 && !isLeft(budget)))
      return { items, next };
    const page: Page = await readPage(
      env,
      one,
      list,
      next,
      Math.min(perPage, remaining - items.length),
    );
    items.push(...page.items);
    characters += JSON.stringify(page.items).length;
    next = page.next;
  }
  return { items };
}

type Page = { items: object[]; next?: ExportPlace };

async function readPage(
  env: Env,
  one: Export,
  list: List,
  position: ExportPlace,
  limit: number,
): Promise<Page> {
  const { from = '1970-01-01', to = '9999-12-31' } = one.wanted;
  const reader = operatorIn(one.accountId, one.connectionIds ?? undefined);
  const ofAccount = list.path === '/connections';
  const isBegun = ofAccount || position.cursor;
  const connection = isBegun
    ? position.connection
    : await connectionAfter(env, reader, position.connection);
  if (!connection && !ofAccount) return { items: [] };
  const query = {
    limit: [String(limit)],
    ...(list.range && { from: [from], to: [to] }),
    ...(position.cursor && { cursor: [position.cursor] }),
  };
  const request = { connectionId: connection?.id, query };
  const read = readList(env, reader, list, request, readAcross);
  const { items, next: cursor } = await read.catch(
    async (error: unknown): Promise<{ items: unknown[]; next?: string }> => {
      if (refusalIn(error)?.failure.kind !== 'invalid' || !connection) throw error;
      if (await findConnection(env, reader, connection.id)) throw error;
      return { items: [] }; // it has been deleted
    },
  );
  const isLast = ofAccount && !cursor;
  return {
    items: items as object[],
    ...(!isLast && { next: { ...position, connection, cursor } }),
  }; // of a list
}

async function connectionAfter(
  env: Env,
  reader: Caller,
  after?: Position,
): Promise<Position | undefined> {
  const { items } = await sliceConnections(env, reader, { after, limit: 1 });
  return items[0] && { sort: items[0].createdAt, id: items[0].id };
}

/** Emails whoever asked for an export that it is ready, if they may still download it. */
async function emailReady(env: Env, db: Database, one: Export): Promise<void> {
  const { emailFrom } = config(env);
  const isReader = and(
    eq(portalUsers.id, one.requestedBy),
    eq(portalUsers.accountId, one.accountId),
    eq(portalUsers.role, 'admin'),
  );
  const [reader] = await transaction(
    db,
    db
      .select({
        email: portalUsers.email,
        timeZone: portalUsers.timeZone,
        account: accounts.name,
      })
      .from(portalUsers)
      .innerJoin(accounts, eq(accounts.id, portalUsers.accountId))
      .where(isReader),
  );
  if (!emailFrom || !reader) return;
  const until = minuteOf(one.expiresAt, reader.timeZone ?? 'UTC');
  const text =
    `${counted(one.records, 'record', 'records')} of ${reader.account} can be downloaded until ${until}. ` +
    (one.records < maxExportRecords
      ? ''
      : 'That is the most that an export can have: choose fewer days for the rest. ') +
    'Sign in as an admin to get the files.';
  const link = { url: `${originOf(env)}/portal/settings/exports`, label: 'Download', button: true };
  const footer = {
    text: `You get this email because you asked for an export of ${reader.account}.`,
  };
  const mail = await renderMail('Your export is ready', [{ text, link }], footer);
  await sendMail(env, {
    to: reader.email,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
  });
}
