import { env } from 'cloudflare:workers';
import { getTableName } from 'drizzle-orm';
import { getTableConfig, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { pruneAudit } from '#src/core/accounts/audit/prune.ts';
import { deadTokenDays, pruneCredentials } from '#src/core/accounts/prune.ts';
import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { maxRecordsPerRow } from '#src/core/fleet/record-changes.ts';
import type { Statement } from '#src/core/platform/db/database.ts';
import { webhooks } from '#src/core/platform/db/schema/webhooks.ts';
import { maxNotificationBytes } from '#src/core/webhooks/deliveries/fan-out.ts';
import { maxKeptBytes } from '#src/core/webhooks/deliveries/send/call-once.ts';
import { maxKeptAttempts } from '#src/core/webhooks/deliveries/send/record.ts';
import {
  leftOverNotifications,
  pruneNotifications,
  pruneSlices,
} from '#src/core/webhooks/notifications/remove.ts';
import architecture from '#src/docs/contributing/architecture.md?raw';
import { filesPerRow } from '#src/extras/archive/catalog.ts';
import {
  maxMessage,
  problemDaysKept,
  problemsKept,
} from '#src/extras/connector-problems/problems.ts';
import { maxTokenBytes } from '#src/extras/oauth/token-endpoint.ts';
import { maxCredential } from '#src/extras/providers/connector/credential.ts';
import { maxFeedsBytes } from '#src/extras/providers/pull.ts';
import { owners } from '#src/operator/deletion/owners.ts';
import { pruneSessions } from '#src/people/prune.ts';
import {
  accident,
  as,
  dayMs,
  hourMs,
  issueToken,
  openDatabase,
  operator,
  ownRows,
  rows,
  settled,
  signIn,
  story,
  tableNames,
  times,
  transaction,
  value,
  type World,
} from '#test/support.ts';
import { boundOf, longTexts } from './support/row-bounds.ts';

const tale = story();

/** D1 restores no dump with a longer statement: a row of a table is one. */
const maxStatementBytes = 100_000;

const db = openDatabase(env);

/** Tables whose rows are pruned, by which statements. */
const pruned: Record<string, Statement[]> = {
  sign_in_links: pruneSessions.statements(db, 0).slice(0, 1),
  sessions: pruneSessions.statements(db, 0).slice(1, 2),
  sent_forms: pruneSessions.statements(db, 0).slice(2, 3),
  invitations: pruneSessions.statements(db, 0).slice(3, 4),
  tokens: pruneCredentials.statements(db, 0),
  notifications: [leftOverNotifications(db, 0, 0)],
  audit_log: pruneAudit.statements(db, 0).slice(0, 1),
  deliveries: [], // seeks from webhook to webhook: test/core/webhooks/deliveries/send/trust.clock.test.ts
  changes: [], // seeks from account to account: test/extras/changes/feed.test.ts
};
/** Tables whose rows go with those of webhooks. */
const cascading = owners.flatMap(({ table }) =>
  getTableConfig(table).foreignKeys.some(
    ({ reference, onDelete }) => onDelete === 'cascade' && reference().foreignTable === webhooks,
  )
    ? [getTableName(table)]
    : [],
);
/** The customer's own records: as many as their connectors send, each once. They are what the service is for. */
const records = recordKinds.map(({ table }) => getTableName(table));

it('every table is pruned, or has a limit that the document names', async () => {
  const [, limits = ''] = architecture.split('| Table | Limit |');
  const limited = [...limits.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  const bounded = [...Object.keys(pruned), ...cascading, ...records, ...limited];
  expect(bounded.toSorted()).toEqual(await tableNames());
});

const statements = Object.entries(pruned).flatMap(([table, all]) =>
  all.map((statement, i): [string, number, Statement] => [table, i + 1, statement]),
);
it.each(statements)(
  'a table that is pruned, is pruned by index: %s %d',
  async (_table, _place, statement) => {
    const { sql: text, params } = new SQLiteSyncDialect().sqlToQuery(statement.getSQL());
    const plan = await rows(`explain query plan ${text}`, ...params);
    const steps = plan
      .map(({ detail }) => String(detail))
      .filter((step) => /^(SCAN|SEARCH)/.test(step));
    expect(steps.length).toBeGreaterThan(1);
    for (const step of steps) expect(step).toMatch(/^SEARCH .* USING /);
  },
);

type Column = { name: string; type: string };

it('every row is small enough to be restored from a dump, whatever its texts are', async () => {
  for (const table of await tableNames()) {
    const columns = await rows<Column>('select name, type from pragma_table_info(?1)', table);
    const bounds = columns.map(
      ({ name, type }) => [name, type === 'TEXT' ? boundOf(table, name) : 30] as const,
    );
    expect([table, bounds.filter(([, bytes]) => bytes === undefined)]).toEqual([table, []]);
    const names = columns.reduce((sum, { name }) => sum + name.length + 8, 100);
    const sum = bounds.reduce((all, [, bytes = 0]) => all + bytes, names);
    expect([table, sum > maxStatementBytes && sum]).toEqual([table, false]);
  }
});

it('every row has texts that are bounded by what the service keeps to', () => {
  const sealed = (bytes: number) => Math.ceil(bytes / 3) * 4 + 300;
  const is = Object.entries({
    incident_type_map: maxMapBytes,
    records: maxRecordsPerRow * 39,
    report_url: 2_000 * 3,
    headers: sealed(8_192),
    options: sealed(maxTokenBytes) + 38_000, // with a client, filters and secrets
    notifications: maxNotificationBytes + 10_000,
    log: maxKeptAttempts * (2 * maxKeptBytes + 700),
    secrets: sealed(3 * maxCredential),
    feeds: maxFeedsBytes,
    rejected: problemsKept * (3 * maxMessage + 180),
    warned: problemsKept * (3 * maxMessage + 180 + 3 * 101),
    days: problemDaysKept * 70,
    parts: filesPerRow * 300,
  });
  for (const [column, bytes] of is)
    expect([column, bytes <= Number(longTexts[column])]).toEqual([column, true]);
});

const count = (table: string) => value(`select count(*) from ${table}`);

it('once an hour expired sign-in links and sessions are deleted, and no others', async () => {
  const { email, get } = await signIn(tale.us);
  await operator.post('/operator/sign-in-links', { email });
  const [links, sessions] = [await count('sign_in_links'), await count('sessions')];
  expect(await pruneSessions(env)).toBe(0);
  expect(await pruneSessions(env, Date.now() + 15 * 60_000 + 1)).toBe(links);
  expect((await get('/portal/webhooks')).status).toBe(200);
  expect(await pruneSessions(env, Date.now() + 14 * dayMs + 1)).toBe(sessions);
  expect([await count('sign_in_links'), await count('sessions')]).toEqual([0, 0]);
});

it('once an hour tokens that ended 90 days ago are deleted, and refused as before', async () => {
  const expiresAt = new Date(Date.now() + hourMs).toISOString();
  const revoked = await issueToken(tale.us.accountId);
  const expiring = await issueToken(tale.us.accountId, { expiresAt });
  await operator.delete(`/operator/tokens/${revoked.id}`);
  const later = Date.now() + deadTokenDays * dayMs;
  expect(await pruneCredentials(env, later - hourMs)).toBe(0);
  expect(await pruneCredentials(env, later + 2 * hourMs)).toBe(2);
  for (const { value } of [revoked, expiring])
    expect((await as(value).get('/connections')).status).toBe(401);
  expect((await tale.us.api.get('/connections')).status).toBe(200);
});

/** Deletes what a whole month of hours would, which go through the whole table once. */
const pruneForAMonth = async (before: number) => {
  const [first, ...others] = times(pruneSlices, (slice) =>
    leftOverNotifications(db, slice, before),
  );
  if (first) await transaction(db, [first, ...others]);
};
const left = async (us: World) => (await ownRows(us, 'notifications')).length;

it('notifications of accidents go as others do, and no level notifies again', async () => {
  const hook = await tale.register();
  const { post } = await signIn(tale.us);
  await post(`/portal/webhooks/${hook.id}/test-accident`);
  await tale.us.send(accident());
  expect(await left(tale.us)).toBe(4);
  await pruneForAMonth(Date.now() - hourMs);
  expect(await left(tale.us)).toBe(4);
  await pruneForAMonth(Date.now() + hourMs);
  expect(await left(tale.us)).toBe(0);
  expect((await tale.us.send(accident())).data).toMatchObject({ unchanged: 1 });
  expect(await left(tale.us)).toBe(0);
});

it('notifications without deliveries go', async () => {
  const hook = await tale.register();
  const crashes = times(5, (i) => accident({ sourceId: `without ${i}` }));
  await tale.us.send(...crashes);
  await settled(hook.id, 5);
  await rows('delete from deliveries where account_id = ?1', tale.us.accountId);
  // Each at the hour in which its part of the table has its turn.
  const ids = await rows(
    'select event_id as id from notifications where account_id = ?1',
    tale.us.accountId,
  );
  const turns = ids.map(({ id }) =>
    Math.floor((Number.parseInt(String(id).slice(0, 8), 16) / 2 ** 32) * pruneSlices),
  );
  const monthsAhead = Math.ceil((Date.now() + 40 * dayMs) / (pruneSlices * hourMs)) * pruneSlices;
  const pruned = async (month: number) => {
    let deleted = 0;
    for (const turn of turns) deleted += await pruneNotifications(env, (month + turn) * hourMs);
    return deleted;
  };
  expect(await pruned(monthsAhead - 3 * pruneSlices)).toBe(0);
  expect(await pruned(monthsAhead)).toBe(5);
  expect(await left(tale.us)).toBe(0);
});
