import { env } from 'cloudflare:workers';
import { folderOf } from '#src/extras/archive/bucket.ts';
import { keyOf } from '#src/extras/evidence/evidence.ts';
import { settled } from './deliveries.ts';
import { receiver } from './receiver.ts';
import { accident, driver, exampleRecords, safetyEvent, trip, vehicle } from './records.ts';
import { addRows, rows, rowsOf } from './rows.ts';
import { as, operator, type WebhookOut, type World, webhookBody, world } from './world.ts';

/** An account with something in every table, and a file in the archive. */
export async function fullAccount(): Promise<World> {
  receiver();
  const us = await world({ providers: ['motive', 'samsara'] });
  const { data: webhook } = await us.api.post<WebhookOut>('/webhook', webhookBody(us));
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
  await settled(webhook.id, 4);
  await operator.post(`/operator/accounts/${us.accountId}/users`, {
    email: `p-${us.accountId}@example.com`,
  });
  const [person] = await rows('select id from portal_users where account_id = ?1', us.accountId);
  const usual = {
    account_id: us.accountId,
    connection_id: us.connection.id,
    webhook_id: webhook.id,
    user_id: person?.id,
    recipient_id: person?.id,
  };
  // Deliveries of webhooks that are gone are the account's as well, and so is one that failed.
  await addRows(
    'deliveries',
    1,
    () => ({ webhook_id: `gone-${us.accountId}`, status: 'failed', next_attempt_at: 1 }),
    { usual },
  );
  await addRows('pulls', 1, () => pull, { usual }); // others refer to it
  for (const [table, found] of Object.entries(await rowsOf(us.accountId)))
    if (found.length === 0 && !['deletions', 'moves'].includes(table))
      await addRows(table, 1, () => contents(us)[table] ?? {}, { usual });
  const day = {
    kind: 'trips',
    accountId: us.accountId,
    connectionId: us.connection.id,
    day: 20_000,
  };
  for (let file = 0; file < 3; file++)
    await env.ARCHIVE.put(`${folderOf(day)}part-${file}.parquet`, `file ${file}`, {
      customMetadata: { label: `${file}` },
    });
  const file = keyOf({ accountId: us.accountId, ...evidenceOf(us) });
  const upload = await env.ARCHIVE.createMultipartUpload(file);
  await upload.complete([await upload.uploadPart(1, 'video')]);
  return us;
}

const evidenceOf = ({ accountId }: Pick<World, 'accountId'>) => ({
  id: `file-${accountId}`,
  accidentId: 'crash',
});
const pull = { secrets: '{}', base_url: 'https://x.example.com', organisation: 'Acme' };

/** What rows hold where it matters, by their table: none of them is to be pruned or worked on. */
const contents = ({ accountId }: World): Record<string, Record<string, unknown>> => ({
  sessions: { hash: `session-${accountId}`, expires_at: later },
  sign_in_links: { hash: `link-${accountId}`, expires_at: later },
  alert_channels: { id: `h-${accountId}`, kind: 'https', address: '{}' },
  alert_messages: { kind: 'paused', due_at: later },
  connect_links: { hash: `connect-${accountId}`, expires_at: later },
  fan_outs: { type: 2, id: `ffffffff-${accountId}`, expanded_to: '~', created_at: later },
  archived_days: { kind: 'trips', day: 20_000 },
  exports: { wanted: '{}', expires_at: later },
  evidence: {
    id: evidenceOf({ accountId }).id,
    accident_id: 'crash',
    kind: 'video',
    state: 'stored',
    created_at: later,
  },
  event_counts: { hours: 1, start: 480_000, types: '{}', vehicles: '{}', drivers: '{}' },
});
const later = Date.now() + 1e9;
