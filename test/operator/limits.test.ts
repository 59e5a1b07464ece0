import { env } from 'cloudflare:workers';
import { maxAuditEntries, pruneAudit } from '#src/core/accounts/audit/prune.ts';
import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { maxAccountsCounted, maxListed } from '#src/operator/api/counted.ts';
import { maxDeletionsListed } from '#src/operator/deletion/run.ts';
import { showCell, status } from '#src/operator/status.ts';
import { addRows, addWebhooks, rows } from '#test/support/rows.ts';
import { operator, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);

it('operators are refused more than 1,000 connections of an account', async () => {
  const { accountId } = await world();
  await addRows('connections', 998, () => ({ account_id: accountId, provider: 'motive' }));
  const add = () =>
    operator.post(`/operator/accounts/${accountId}/connections`, { provider: 'motive' });
  expect([(await add()).status, (await add()).status]).toEqual([200, 400]);
});

it("a connection's own map can have 32 KiB, quotes counted twice", async () => {
  const path = `/operator/connections/${us.connection.id}`;
  const set = (label: string) => operator.patch(path, { incidentTypeMap: { [label]: ['Crash'] } });
  const rest = maxMapBytes - JSON.stringify({ '': ['Crash'] }).length;
  for (const label of ['x'.repeat(rest), "'".repeat(rest / 2)])
    expect((await set(label)).status).toBe(200);
  for (const label of ['x'.repeat(rest + 1), "'".repeat(rest / 2 + 1)])
    expect((await set(label)).message).toBe('incidentTypeMap can be at most 32 KiB as JSON');
});

it('however many there are, operators see 500 deliveries at a time', async () => {
  const [webhook_id] = await addWebhooks(us.accountId, 1);
  await addRows('deliveries', 501, () => ({
    webhook_id,
    account_id: us.accountId,
    status: 'delivered',
  }));
  const path = `/operator/deliveries?webhookId=${webhook_id}&limit=501`;
  expect((await operator.get<unknown[]>(path)).data).toHaveLength(500);
});

it('however many there are, operators see 1,000 deletions', async () => {
  const due_at = Date.now() + 1e9;
  await addRows('deletions', maxDeletionsListed + 1, () => ({
    kind: 'account',
    account_id: newId(),
    due_at,
  }));
  expect((await operator.get<unknown[]>('/operator/deletions')).data).toHaveLength(
    maxDeletionsListed,
  );
});

it('however many there are, operators see 10,000 accounts of a cell', async () => {
  await addRows('accounts', maxAccountsCounted, () => ({ name: 'Acme' }));
  expect(await showCell(env)).toMatchObject({ name: 'main', accounts: maxAccountsCounted });
});

it('however many there are, operators see 20 failing webhooks', async () => {
  const ids = await addWebhooks(us.accountId, maxListed + 1);
  await addRows('webhook_health', ids.length, (i) => ({
    webhook_id: ids[i],
    failures: 5,
    openings: 1,
  }));
  expect((await status(env)).failing).toHaveLength(maxListed);
});

it('however many there are, operators see 100,000 entries of an audit log', async () => {
  const { accountId } = await world();
  await addRows('audit_log', maxAuditEntries + 1, (i) => ({
    account_id: accountId,
    seq: 100 + i,
    at: Date.now(),
    actor: 'operator',
  }));
  await pruneAudit(env);
  const kept = await rows(
    'select count(*) as n, min(seq) as first from audit_log where account_id = ?1',
    accountId,
  );
  expect(kept).toEqual([{ n: maxAuditEntries, first: 101 }]);
});
