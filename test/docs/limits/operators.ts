import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { pruneAudit } from '../../../src/accounts/audit/prune.ts';
import { pruneTokens } from '../../../src/accounts/tokens/prune.ts';
import { continueDeletions } from '../../../src/operator/deletion/run.ts';
import { listHomes } from '../../../src/operator/homes/overview.ts';
import { status } from '../../../src/operator/homes/status.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { rows } from '../../support/rows.ts';
import { as, call, operator, type WebhookOut, webhookBody, world } from '../../support/world.ts';
import {
  addDeliveries,
  create,
  dayMs,
  type Hits,
  letters,
  minuteMs,
  refusedAfter,
  refusesMore,
  us,
} from './setting.ts';

export const operatorHits: Hits = {
  'calls with a wrong key from one address': (limit) =>
    refusedAfter(limit, () => {
      const headers = { authorization: 'Bearer wrong', 'cf-connecting-ip': '203.0.113.11' };
      return call('GET', '/operator/status', { headers });
    }),
  'name of an account or a connection': async (limit) => {
    await refusesMore(limit, 400, (size) => operator.post('/operator/accounts', { name: letters(size) }));
    await refusesMore(limit, 400, (size) =>
      operator.post(`/operator/accounts/${us.accountId}/connections`, {
        provider: 'motive',
        name: letters(size),
      }),
    );
    expect((await operator.post('/operator/accounts', { name: 'a\u001b[2Jb' })).status).toBe(400);
  },
  'name of a provider': (limit) =>
    refusesMore(limit, 400, (size) =>
      operator.post(`/operator/accounts/${us.accountId}/connections`, { provider: letters(size) }),
    ),
  'items of a list': async (limit) => {
    const { accountId } = await world();
    const list = () => operator.get<unknown[]>(`/operator/accounts/${accountId}/users?limit=${limit + 1}`);
    await addPeople(accountId, limit);
    expect((await list()).next).toBeUndefined();
    await addPeople(accountId, 1);
    const { data, next } = await list();
    expect(data).toHaveLength(limit);
    const path = `/operator/accounts/${accountId}/users?cursor=${next}`;
    expect((await operator.get(path)).data).toHaveLength(1);
  },
  'deliveries listed at a time': async (limit) => {
    const { id } = (await create({})).data;
    await addDeliveries(id, limit + 1, 'delivered');
    const { data } = await operator.get<unknown[]>(`/operator/deliveries?webhookId=${id}&limit=${limit + 1}`);
    expect(data).toHaveLength(limit);
  },
  'pending deliveries that the status counts': async (limit) => {
    await rows('delete from deliveries');
    await addDeliveries(newId(), limit + 1, 'pending');
    expect((await status(env)).pending).toBe(limit);
    await rows('delete from deliveries');
  },
  'accounts of a home that the list of homes counts': async (limit) => {
    await rows(
      `insert into accounts (id, name, created_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1)
       select 'counted-' || i, 'Acme', 0 from n`,
      limit,
    );
    expect(await listHomes(env)).toMatchObject([{ name: 'main', accounts: limit }]);
    await rows("delete from accounts where id like 'counted-%'");
  },
  'failing webhooks that the status names': async (limit) => {
    const them = await world();
    for (let i = 0; i <= limit; i++) await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    await rows(
      'insert into webhook_health (webhook_id, failures, openings, open_until) select id, 1, 0, 0 from webhooks where account_id = ?1',
      them.accountId,
    );
    expect((await status(env)).failing).toHaveLength(limit);
  },
  'paused webhooks that the status names': async (limit) => {
    const them = await world();
    for (let i = 0; i <= limit; i++) await as(them.apiToken).post<WebhookOut>('/webhook', webhookBody(them));
    await rows(
      `insert into webhook_health (webhook_id, failures, openings, open_until, paused_since)
       select id, 5, 1, 0, 0 from webhooks where account_id = ?1`,
      them.accountId,
    );
    expect((await status(env)).paused).toHaveLength(limit);
    await rows('delete from webhook_health');
  },
  'failed deliveries that the status counts of a webhook': async (limit) => {
    const { id } = (await create({})).data;
    await rows(
      'insert into webhook_health (webhook_id, failures, openings, open_until) values (?1, 1, 0, 0)',
      id,
    );
    await addDeliveries(id, limit + 1, 'failed');
    await rows('update deliveries set finished_at = ?2 where webhook_id = ?1', id, Date.now());
    const { failing } = await status(env);
    expect(failing.find(({ webhookId }) => webhookId === id)).toMatchObject({ failed: limit });
    await rows('delete from deliveries where webhook_id = ?1', id);
  },
  'calls at a time that a receiver can be limited to': (lowest, highest = 0) =>
    limitsWithin('maxInFlight', lowest, highest),
  'calls a second that a receiver can be limited to': (lowest, highest = 0) =>
    limitsWithin('maxPerSecond', lowest, highest),
  'time that entries of the audit log are kept': async (days) => {
    await rows('delete from audit_log');
    await world();
    const later = Date.now() + days * dayMs;
    expect(await pruneAudit(env, later - minuteMs)).toBe(0);
    expect(await pruneAudit(env, later + minuteMs)).toBeGreaterThan(0);
  },
  'entries of the audit log that an account keeps': async (limit) => {
    const { accountId } = await world();
    await rows(
      `with recursive n (i) as (select 100 union all select i + 1 from n where i < 100 + ?2)
       insert into audit_log (account_id, seq, at, actor, action, subject, subject_id)
       select ?1, i, ?3, 'operator', 'changed', 'webhook', '' from n`,
      accountId,
      limit,
      Date.now(),
    );
    await pruneAudit(env);
    const [kept] = await rows(
      'select count(*) as n, min(seq) as first from audit_log where account_id = ?1',
      accountId,
    );
    expect(kept).toEqual({ n: limit, first: 101 });
  },
  'time that a deleted account can be brought back': async (days) => {
    const { accountId } = await world();
    await operator.post(`/operator/accounts/${accountId}/deletion`, { name: 'Acme Insurance' });
    const [{ due_at: dueAt } = {}] = await rows('select due_at from deletions where id = ?1', accountId);
    await continueDeletions(env, Date.now() + days * dayMs - minuteMs);
    expect((await rows('select step from deletions where id = ?1', accountId))[0]?.step).toBeNull();
    expect(Math.round((Number(dueAt) - Date.now()) / dayMs)).toBe(days);
    await continueDeletions(env, Date.now() + days * dayMs);
    expect((await rows('select step from deletions where id = ?1', accountId))[0]?.step).not.toBeNull();
    await rows('delete from deletions where id = ?1', accountId);
  },
  'deletions listed': async (limit) => {
    await rows(
      `with recursive n (i) as (select 0 union all select i + 1 from n where i < ?1)
       insert into deletions (id, kind, account_id, requested_at, due_at)
       select 'd' || i, 'account', 'd' || i, 0, 9000000000000 from n`,
      limit,
    );
    expect((await operator.get<unknown[]>('/operator/deletions')).data).toHaveLength(limit);
    await rows('delete from deletions');
  },
  'time that revoked and expired tokens are kept': async (days) => {
    await rows('delete from tokens where revoked_at is not null');
    const them = await world();
    await operator.delete(`/operator/tokens/${them.tokenId}`);
    expect(await pruneTokens(env, Date.now() + days * dayMs - minuteMs)).toBe(0);
    expect(await pruneTokens(env, Date.now() + days * dayMs + minuteMs)).toBe(1);
  },
};

/** A limit of a receiver takes both ends of a range, and nothing beyond them. */
async function limitsWithin(name: string, lowest: number, highest: number) {
  const { id } = (await create({})).data;
  const status = async (calls: number) =>
    (await operator.patch(`/operator/webhooks/${id}/limits`, { [name]: calls })).status;
  expect(await Promise.all([lowest, highest].map(status))).toEqual([200, 200]);
  expect(await Promise.all([lowest - 1, highest + 1].map(status))).toEqual([400, 400]);
}

const addPeople = (accountId: string, count: number) =>
  rows(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?3)
     insert into portal_users (id, account_id, email, created_at)
     select substr(?1, 1, 24) || printf('%012x', i), ?2, ?1 || i || '@example.com', 0 from n`,
    newId(),
    accountId,
    count,
  );
