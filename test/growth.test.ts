import { env } from 'cloudflare:workers';
import { getTableName, type SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { pruneAudit } from '../src/accounts/audit/prune.ts';
import { deadTokenDays, pruneCredentials } from '../src/accounts/prune.ts';
import { filesPerRow } from '../src/fleet/archive/catalog.ts';
import { maxMapBytes } from '../src/fleet/incidents/map.ts';
import { recordKinds } from '../src/fleet/lists/registry.ts';
import { maxRecordsPerRow } from '../src/fleet/record-changes.ts';
import { transaction, writeReturning } from '../src/platform/db/database.ts';
import { openDatabase } from '../src/platform/db/system.ts';
import { dayMs, hourMs } from '../src/platform/durations.ts';
import { maxCredential } from '../src/providers/credential.ts';
import { maxFeedsBytes } from '../src/providers/pull.ts';
import { maxNotificationBytes } from '../src/webhooks/deliveries/fan-out.ts';
import { maxKeptBytes } from '../src/webhooks/deliveries/send/call-once.ts';
import { maxKeptAttempts } from '../src/webhooks/deliveries/send/record.ts';
import { maxTokenBytes } from '../src/webhooks/deliveries/send/token-endpoint.ts';
import {
  leftOverNotifications,
  pruneNotifications,
  pruneSlices,
} from '../src/webhooks/notifications/remove.ts';
import { settled } from './support/deliveries.ts';
import { ask, signIn } from './support/portal.ts';
import { accident } from './support/records.ts';
import { boundOf, longTexts } from './support/row-bounds.ts';
import { rows, tableNames } from './support/rows.ts';
import { story } from './support/story.ts';
import { as, operator, type World } from './support/world.ts';

const tale = story();

/** D1 restores no dump with a longer statement: a row of a table is one. */
const maxStatementBytes = 100_000;

/** What keeps each table from growing for ever. A new table belongs here, with a limit or a pruning that is tested. */
const bounds: Record<string, { kept: string } | { pruned: SQL[] } | { cascades: string }> = {
  accounts: { kept: 'opened by operators, one by one' },
  connections: { kept: 'at most 1,000 an account (the guide Limits)' },
  portal_users: { kept: 'people of an account: invitations are limited' },
  invitations: { kept: 'at most 20 an account: the old ones go with the next' },
  webhooks: { kept: 'at most 1,000 an account (the guide Limits)' },
  webhook_connections: { cascades: 'webhooks' },
  webhook_health: { cascades: 'webhooks' },
  webhook_hours: { cascades: 'webhooks' },
  service_levels: { kept: 'a row for each hour of two days and each day of a month of an account' },
  alerts_sent: { kept: 'at most one row an account, of the last day on which alerts were sent' },
  alert_channels: { kept: 'at most 10 an account (the guide Limits)' },
  alert_messages: { kept: 'at most one row for each person or channel and kind of news' },
  mail_rules: { kept: 'at most one row for each person and channel' },
  mail_feeds: { kept: 'at most one row an account' },
  sign_in_links: { pruned: pruneCredentials.statements(0).slice(0, 1) },
  sessions: { pruned: pruneCredentials.statements(0).slice(1, 2) },
  sent_forms: { pruned: pruneCredentials.statements(0).slice(2, 3) },
  tokens: { pruned: pruneCredentials.statements(0).slice(3) },
  notifications: { pruned: [leftOverNotifications(0, 0)] },
  fan_outs: { kept: 'deleted by the transaction that completes them' },
  dry_runs: { kept: 'none: what writes them is undone' },
  sweeps: { kept: 'one row' },
  jobs: { kept: 'one row for each job that runs or waits' },
  archived_days: {
    kept: 'one row for 300 files of a day of a connection, of which the archive has all records',
  },
  database_sizes: { kept: 'one row a day, for 60 days' },
  test_calls: { kept: 'the hosts of one hour: the first test of the next deletes them' },
  audit_log: { pruned: pruneAudit.statements(0).slice(0, 1) },
  exports: { kept: 'at most 5 a day of an account, for 7 days (the guide Limits)' },
  deletions: { kept: 'deleted by their last step' },
  moves: { kept: 'one row an account, deleted with the copy that it leaves' },
  erased_drivers: { kept: 'one small row for each driver that operators erase' },
  deliveries: { pruned: [] }, // seeks from webhook to webhook: test/webhooks/deliveries/send/trust.clock.test.ts
  changes: { pruned: [] }, // seeks from account to account: test/fleet/changes/feed.test.ts
  event_counts: { kept: 'a row for each hour and day of the last half year of an account' },
  event_counts_due: { kept: 'at most a row for each day of the last half year of an account' },
  event_counting: { kept: 'one row an account' },
  connect_links: { kept: 'at most 20 unused ones an account, and one for each connection' },
  pulls: { kept: 'at most one row a connection' },
  pull_refusals: { kept: 'at most 200 a connection (the guide Limits)' },
  names: { kept: 'one or two rows for each vehicle and driver, removed with them' },
  // The customer's own records: as many as their connectors send, each once. They are what the service is for.
  ...Object.fromEntries(recordKinds.map(({ table }) => [getTableName(table), { kept: 'records' }])),
};

describe('every table', () => {
  it('has a limit or is pruned', async () => {
    expect(Object.keys(bounds).sort()).toEqual(await tableNames());
  });

  const cascading = Object.entries(bounds).flatMap(([table, bound]) =>
    'cascades' in bound ? [[table, bound.cascades]] : [],
  );
  it.each(cascading)('rows of %s go with those of %s', async (table, parent) => {
    expect(await rows(`select "table", on_delete from pragma_foreign_key_list(?1)`, table)).toContainEqual({
      table: parent,
      on_delete: 'CASCADE',
    });
  });

  const pruned = Object.entries(bounds).flatMap(([table, bound]) =>
    'pruned' in bound
      ? bound.pruned.map((statement, i): [string, number, SQL] => [table, i + 1, statement])
      : [],
  );
  it.each(pruned)('that is pruned, is pruned by index: %s %d', async (_table, _place, statement) => {
    const { sql: text, params } = new SQLiteSyncDialect().sqlToQuery(statement);
    const plan = await rows(`explain query plan ${text}`, ...params);
    const steps = plan.map(({ detail }) => String(detail)).filter((step) => /^(SCAN|SEARCH)/.test(step));
    expect(steps.length).toBeGreaterThan(1);
    for (const step of steps) expect(step).toMatch(/^SEARCH .* USING /);
  });
});

describe('every row', () => {
  type Column = { name: string; type: string };

  it('is small enough to be restored from a dump, whatever its texts are', async () => {
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

  it('has texts that are bounded by what the service keeps to', () => {
    const sealed = (bytes: number) => Math.ceil(bytes / 3) * 4 + 300;
    const is = Object.entries({
      incident_type_map: maxMapBytes,
      records: maxRecordsPerRow * 39,
      report_url: 2_000 * 3,
      headers: sealed(8_192),
      oauth_token: sealed(maxTokenBytes),
      notifications: maxNotificationBytes + 10_000,
      log: maxKeptAttempts * (2 * maxKeptBytes + 700),
      secrets: sealed(3 * maxCredential),
      feeds: maxFeedsBytes,
      parts: filesPerRow * 300,
    });
    for (const [column, bytes] of is)
      expect([column, bytes <= Number(longTexts[column])]).toEqual([column, true]);
  });
});

describe('once an hour', () => {
  const count = async (table: string) => (await rows(`select count(*) as n from ${table}`))[0]?.n;

  it('sign-in links and sessions that have expired are deleted, and no others', async () => {
    const { cookie, email } = await signIn(tale.us);
    await operator.post('/operator/sign-in-links', { email });
    const [links, sessions] = [await count('sign_in_links'), await count('sessions')];
    expect(await pruneCredentials(env)).toBe(0);
    expect(await pruneCredentials(env, Date.now() + 15 * 60_000 + 1)).toBe(links);
    expect((await ask('GET', '/portal/webhooks', { cookie })).status).toBe(200);
    expect(await pruneCredentials(env, Date.now() + 14 * dayMs + 1)).toBe(sessions);
    expect([await count('sign_in_links'), await count('sessions')]).toEqual([0, 0]);
  });

  it('tokens that were revoked or expired 90 days ago are deleted, and refused as before', async () => {
    const issue = async (more: object = {}) =>
      (
        await operator.post<{ id: string; value: string }>(`/operator/accounts/${tale.us.accountId}/tokens`, {
          name: 'more',
          ...more,
        })
      ).data;
    const [revoked, expiring] = [
      await issue(),
      await issue({ expiresAt: new Date(Date.now() + hourMs).toISOString() }),
    ];
    await operator.delete(`/operator/tokens/${revoked.id}`);
    const later = Date.now() + deadTokenDays * dayMs;
    expect(await pruneCredentials(env, later - hourMs)).toBe(0);
    expect(await pruneCredentials(env, later + 2 * hourMs)).toBe(2);
    for (const { value } of [revoked, expiring])
      expect((await as(value).get('/connections')).status).toBe(401);
    expect((await as(tale.us.apiToken).get('/connections')).status).toBe(200);
  });
});

describe('notifications', () => {
  /** Deletes what a whole month of hours would, which go through the whole table once. */
  const pruneForAMonth = async (before: number) => {
    const db = openDatabase(env);
    const [first, ...others] = Array.from(
      { length: pruneSlices },
      (_, slice) => writeReturning(db)`${leftOverNotifications(slice, before)}`,
    );
    if (first) await transaction(db, [first, ...others]);
  };
  const left = async (us: World) =>
    (await rows('select event_id, level from notifications where account_id = ?1', us.accountId)).length;

  it('of accidents go as others do, and none of their levels notifies again', async () => {
    const hook = await tale.register();
    const { cookie } = await signIn(tale.us);
    await ask('POST', `/portal/webhooks/${hook.id}/test-accident`, { cookie });
    await as(tale.us.connection.ingestKey).send(accident());
    expect(await left(tale.us)).toBe(4);
    await pruneForAMonth(Date.now() - hourMs);
    expect(await left(tale.us)).toBe(4);
    await pruneForAMonth(Date.now() + hourMs);
    expect(await left(tale.us)).toBe(0);
    expect((await as(tale.us.connection.ingestKey).send(accident())).data).toMatchObject({ unchanged: 1 });
    expect(await left(tale.us)).toBe(0);
  });

  it('without deliveries go', async () => {
    const hook = await tale.register();
    const crashes = Array.from({ length: 5 }, (_, i) => accident({ sourceId: `without ${i}` }));
    await as(tale.us.connection.ingestKey).send(...crashes);
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
});
