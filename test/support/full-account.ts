import { vi } from 'vitest';
import { folderOf } from '../../src/fleet/archive/bucket.ts';
import { home, rowsIn } from './homes.ts';
import { receiver } from './receiver.ts';
import { accident, driver, exampleRecords, safetyEvent, trip, vehicle } from './records.ts';
import { type AccountRows, rowsOf } from './rows.ts';
import { as, operator, type WebhookOut, type World, webhookBody, world } from './world.ts';

/** An account with something in every table, and a file in the archive. */
export async function fullAccount(name = 'main'): Promise<World> {
  const hooks = receiver();
  const us = await world({ providers: ['motive', 'samsara'], home: name });
  const { data: webhook } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
  for (const { ingestKey } of us.connections)
    await as(ingestKey).send(
      vehicle({ odometerKm: 0.1 + 0.2 }),
      driver({ email: 'ann@example.com' }),
      trip({ driver: 'driver-1', distanceKm: 1 / 3 }),
      safetyEvent({ driver: 'driver-1' }),
      accident(),
      // Tests count the others.
      ...exampleRecords.filter(({ kind }) => !['vehicle', 'driver', 'trip'].includes(kind)),
    );
  await vi.waitFor(
    () => {
      if (hooks.got.length < 4) throw new Error('not told yet');
    },
    { timeout: 20_000 },
  );
  await operator.post(`/operator/accounts/${us.accountId}/users`, { email: `p-${us.accountId}@example.com` });
  const [connection] = us.connections;
  const put = (query: string, ...values: unknown[]) => rowsIn(name, query, ...values);
  const [person] = await put('select id from portal_users where account_id = ?1', us.accountId);
  const later = Date.now() + 1e9;
  await put(`insert into sessions values (?1, ?2, ?3)`, `session-${us.accountId}`, person?.id, later);
  await put(`insert into sign_in_links values (?1, ?2, ?3)`, `link-${us.accountId}`, person?.id, later);
  await put(`insert into invitations values (?1, 'i-' || ?1, 'x@example.com', 1, 1)`, us.accountId);
  await put(
    `insert into webhook_health (webhook_id, failures, openings, open_until) values (?1, 0, 0, 0) on conflict do nothing`,
    webhook.id,
  );
  await put(`insert into mail_rules values (?1, ?2, 7, 4, null, 1)`, person?.id, us.accountId);
  await put(`insert into mail_feeds values (?1, 1)`, us.accountId);
  await put(`insert into record_mails values (?2, ?1, 'e', 1, null, 0, ?3)`, person?.id, us.accountId, later);
  await put(
    `insert into alert_channels values ('h-' || ?1, ?1, 'https', 'Ops', '{}', 'x.example.com', 'last', 1, 1, null, null)`,
    us.accountId,
  );
  await put(
    `insert into channel_messages values (?1, 'h-' || ?1, 'm-' || ?1, '{}', ?2, 0)`,
    us.accountId,
    later,
  );
  await put(`insert into alert_emails (account_id, day, sent) values (?1, 20000, 1)`, us.accountId);
  await put(
    `insert into alerts (webhook_id, account_id) values (?1, ?2) on conflict do nothing`,
    webhook.id,
    us.accountId,
  );
  await put(
    `insert into pulls (connection_id, account_id, secrets, credential_hash, base_url, organisation, organisation_id, history_days, connected_at)
     values (?1, ?2, '{}', ?1, 'https://x.example.com', 'Acme', 'Acme', 1, 1)`,
    connection?.id,
    us.accountId,
  );
  await put(`insert into pull_refusals values (?1, 'trip', 's', 'no', 1)`, connection?.id);
  await put(
    `insert into fan_outs values (?1, ?2, ?3, 2, '[]', '~', ?4)`,
    `ffffffff-${us.accountId}`,
    us.accountId,
    connection?.id,
    Date.now(),
  );
  await put(
    `insert into erased_drivers values (?1, ?2, ?3, 1)`,
    `e-${us.accountId}`,
    us.accountId,
    connection?.id,
  );
  await put(
    `insert into archived_days values ('trips', ?1, ?2, 20000, 'done', '[]')`,
    us.accountId,
    connection?.id,
  );
  await put(
    `insert into archived_lately values ('trips', ?1, ?2, ?3, 20000, ?4)`,
    `l-${us.accountId}`,
    us.accountId,
    connection?.id,
    Date.now(),
  );
  await put(`insert into event_counts values (?1, 1, 480000, 1, 0, 0, 0, 0, '{}', '{}', '{}')`, us.accountId);
  await put(`insert into service_levels values (?1, 24, 480000, '{}')`, us.accountId);
  await put(`insert into event_counts_due values (?1, 100, 1) on conflict do nothing`, us.accountId);
  // Deliveries of webhooks that are gone are the account's as well, and so is one that failed.
  await put(
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
     values (?1, 'd-' || ?2, ?2, 'e', 0, 'failed', 1)`,
    `gone-${us.accountId}`,
    us.accountId,
  );
  const folder = folderOf({
    kind: 'trips',
    accountId: us.accountId,
    connectionId: `${connection?.id}`,
    day: 20_000,
  });
  for (let file = 0; file < 3; file++)
    await home(name).ARCHIVE.put(`${folder}part-${file}.parquet`, `file ${file}`, {
      customMetadata: { label: `${file}` },
    });
  await vi.waitFor(
    async () => {
      const [claimed] = await put(
        'select 1 from deliveries where account_id = ?1 and claimed_until > 0 and status = ?2',
        us.accountId,
        'pending',
      );
      if (claimed) throw new Error('still being told');
    },
    { timeout: 20_000 },
  );
  return us;
}

/** All rows of an account in a home, but for those that a move itself adds or changes. */
export async function allRows(name: string, accountId: string): Promise<AccountRows> {
  const { accounts: _, audit_log: log = [], ...others } = await rowsOf(accountId, home(name).DB);
  return { ...others, audit_log: log.filter(({ fields }) => fields !== '["home"]') };
}
