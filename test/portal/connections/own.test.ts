import { beforeEach, describe, expect, it } from 'vitest';
import { maxIngestKeys } from '../../../src/accounts/tokens/service.ts';
import { maxConnectionsListed } from '../../../src/fleet/connections.ts';
import { type Page, type Person, signIn } from '../../support/portal.ts';
import { addRows, rows } from '../../support/rows.ts';
import { as, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeEach);
let ann: Person;
beforeEach(async () => {
  ann = await signIn(us);
});

const own = '/portal/connections/own';
const add = async (typed: Parameters<Page['press']>[1] = {}) =>
  (await ann.page(own)).press('Add connection', { Provider: 'Acmé Telematics, Inc.', ...typed });

const made = () =>
  rows(
    `select id, provider, tsp, name from connections where account_id = ?1 and id <> ?2`,
    us.accountId,
    us.connection.id,
  );
const noted = () =>
  rows(
    `select action || ' ' || subject || ' ' || subject_name as said from audit_log
     where account_id = ?1 and actor = 'person' order by seq`,
    us.accountId,
  );

describe('a connection of the account’s own connector', () => {
  it('is made by an admin, with a key that is shown once and works in the call beside it', async () => {
    expect((await ann.page('/portal/connections/new')).links('Connect it with your own connector')).toEqual([
      own,
    ]);
    const member = await signIn(us, 'member');
    expect((await member.page('/portal/connections/new')).links()).not.toContain(own);
    const shown = await add({ Name: 'Depot' });
    expect(shown.text).toContain('“Depot” was added.');
    expect(shown.links('How to write a connector')).toEqual(['/docs/connectors']);
    const [key = ''] = shown.textAt('#token');
    const [, body = ''] = /-d '(.*)' https:\/\/[^/]+\/ingest$/.exec(shown.textAt('#curl')[0] ?? '') ?? [];
    expect(shown.textAt('#curl')[0]).toContain(
      `curl -H 'x-api-key: ${key}' -H 'content-type: application/json'`,
    );
    const { data } = await as(key).post('/ingest', JSON.parse(body));
    expect(data).toMatchObject({ accepted: 1, rejected: [] });
    expect(await rows('select id from vehicles where account_id = ?1', us.accountId)).toEqual([]);
    expect(await made()).toMatchObject([
      { provider: 'acme-telematics-inc', tsp: 'Acmé Telematics, Inc.', name: 'Depot' },
    ]);
    expect(shown.path).toBe(`/portal/connections/${(await made())[0]?.id}`);
    const later = await ann.page(shown.path);
    expect(later.html).not.toContain(key);
    expect(later.text).toContain(`Connector …${key.slice(-4)}`);
    expect(await noted()).toEqual([
      { said: 'created connection Depot' },
      { said: 'created ingest key Connector' },
    ]);
  });

  it('is made once, however often its form is sent', async () => {
    const form = (await ann.page(own)).form('Add connection').fill({ Provider: 'Acme' });
    const replies = await Promise.all([1, 2].map(() => ann.post(own, form.fields())));
    const [{ id } = {}] = await made();
    for (const reply of replies) expect(reply.headers.get('location')).toBe(`/portal/connections/${id}`);
    expect(await made()).toHaveLength(1);
    expect(await rows('select id from tokens where connection_id = ?1', id)).toHaveLength(1);
  });

  it.each([
    ['', 'must not be empty'],
    ['北斗', 'must have a letter from a to z, or a digit'],
  ])('needs a provider with a name: %j', async (Provider, said) => {
    expect((await add({ Provider })).errors).toEqual({ provider: said });
    expect(await made()).toEqual([]);
  });

  it('is refused in words if the account has as many as it may', async () => {
    const other = () => ({ account_id: us.accountId, provider: 'motive' });
    await addRows('connections', maxConnectionsListed - 1, other);
    expect((await add()).errors).toEqual({ provider: 'An account can have at most 1000 connections' });
  });
});

describe('the ingest keys of a connection', () => {
  it('are generated until it has as many as it may, and revoked', async () => {
    const page = await ann.page(`/portal/connections/${us.connection.id}`);
    const typed = { 'Key name': 'Depot server', Expires: 'In 90 days' };
    const shown = await page.press('Generate key', typed);
    const [key = ''] = shown.textAt('#token');
    expect(shown.text).toContain('Generated “Depot server”.');
    const ingest = async () =>
      (await as(key).post('/ingest', { records: [{ kind: 'vehicle', sourceId: 'v', name: 'V' }] })).status;
    expect(await ingest()).toBe(200);
    const [revoke = ''] = shown.links('Revoke Depot server');
    const revoked = await (await ann.page(revoke)).press('Revoke “Depot server”');
    expect([revoked.path, revoked.text]).toEqual([
      page.path,
      expect.stringContaining('Revoked “Depot server”'),
    ]);
    expect(await ingest()).toBe(401);
    expect(await noted()).toEqual([
      { said: 'created ingest key Depot server' },
      { said: 'revoked ingest key Depot server' },
    ]);
    const connection_id = us.connection.id;
    const scope = 'ingest';
    const other = (i: number) => ({
      account_id: us.accountId,
      connection_id,
      scope,
      name: 'x',
      hash: `${i}`,
    });
    await addRows('tokens', maxIngestKeys - 1, other);
    expect((await (await ann.page(page.path)).press('Generate key', typed)).errors).toEqual({
      name: expect.stringContaining('A connection can have at most 20 active ingest keys. Revoke one'),
    });
  });

  it('are listed for all, and generated by admins alone', async () => {
    const path = `/portal/connections/${us.connection.id}`;
    for (const role of ['member', 'viewer'] as const) {
      const page = await (await signIn(us, role)).page(path);
      expect(page.textAt('#keys')).toEqual(['Ingest keys']);
      expect(page.html).not.toMatch(/Generate key|\/revoke/);
    }
  });
});
