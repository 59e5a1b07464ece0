import { env } from 'cloudflare:workers';
import { maxAuditEntries, pruneAudit } from '#src/core/accounts/audit/prune.ts';
import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import { maxAccountsCounted, maxListed } from '#src/operator/api/counted.ts';
import { operations } from '#src/operator/api/operations.ts';
import { maxDeletionsListed } from '#src/operator/deletion/list.ts';
import { showCell, status } from '#src/operator/status.ts';
import {
  addRows,
  addWebhooks,
  invalid,
  newId,
  operator,
  rows,
  world,
  worldBefore,
} from '#test/support.ts';

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

describe('however many there are, operators see', () => {
  it('500 deliveries at a time', async () => {
    const [webhook_id] = await addWebhooks(us.accountId, 1);
    const account_id = us.accountId;
    await addRows('deliveries', 501, () => ({ webhook_id, account_id, status: 'delivered' }));
    const path = `/operator/deliveries?webhookId=${webhook_id}&limit=501`;
    expect((await operator.get<unknown[]>(path)).data).toHaveLength(500);
  });

  it('1,000 deletions', async () => {
    const due_at = Date.now() + 1e9;
    const deletion = { kind: 'account', due_at };
    await addRows('deletions', maxDeletionsListed + 1, () => ({
      ...deletion,
      account_id: newId(),
    }));
    const { data } = await operator.get<unknown[]>('/operator/deletions');
    expect(data).toHaveLength(maxDeletionsListed);
  });

  it('10,000 accounts of a cell', async () => {
    await addRows('accounts', maxAccountsCounted, () => ({ name: 'Acme' }));
    expect(await showCell(env)).toMatchObject({ name: 'main', accounts: maxAccountsCounted });
  });

  it('20 failing webhooks', async () => {
    const ids = await addWebhooks(us.accountId, maxListed + 1);
    await addRows('webhook_health', ids.length, (i) => ({ webhook_id: ids[i], failures: 5 }));
    expect((await status(env)).failing).toHaveLength(maxListed);
  });

  it('100,000 entries of an audit log', {
    tags: ['proof'],
  }, async () => {
    const { accountId } = await world();
    const entry = { account_id: accountId, at: Date.now(), actor: 'operator' };
    await addRows('audit_log', maxAuditEntries + 1, (i) => ({ ...entry, seq: 100 + i }));
    await pruneAudit(env);
    const kept = await rows(
      'select count(*) as n, min(seq) as first from audit_log where account_id = ?1',
      accountId,
    );
    expect(kept).toEqual([{ n: maxAuditEntries, first: 101 }]);
  });
});

const reads = Object.values(operations).flatMap(({ call }) =>
  /^GET .*:id/.test(call) ? call : [],
);

// Behind a router, the operator's tool asks the cells in turn until one knows an id: an empty list would end that.
it.each(reads)(
  '%s refuses an id that nothing has, instead of returning an empty list',
  async (call) => {
    const path = `/operator${call.slice('GET '.length)}`.replace(':id', newId());
    expect(await operator.get(path)).toMatchObject(invalid(expect.stringMatching(/^Unknown /)));
  },
);

it('a parameter that is given twice is refused', async () => {
  const path = `/operator/deliveries?webhookId=${newId()}&status=failed&status=pending`;
  expect(await operator.get(path)).toMatchObject(
    invalid('status must be given only once', 'status'),
  );
});
