import { env } from 'cloudflare:workers';
import { type Page, personBefore } from '#test/support/portal.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { as, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);

const own = '/portal/connections/own';
const add = async (typed: Parameters<Page['press']>[1] = {}) =>
  (await ann.page(own)).press('Add connection', { Provider: 'Acmé Telematics, Inc.', ...typed });

const made = () =>
  rows(
    `select id, provider, tsp, name from connections where account_id = ?1 and id <> ?2`,
    us.accountId,
    us.connection.id,
  );
const noted = async () => {
  const log = await rows(
    `select * from audit_log where account_id = ?1 and actor = 'person'`,
    us.accountId,
  );
  return log.map(({ action, subject, subject_name }) => `${action} ${subject} ${subject_name}`);
};

it('an own connection is made by an admin, with a key that works as shown', async () => {
  expect(
    (await ann.page('/portal/connections/new')).links('Connect it with your own connector'),
  ).toEqual([own]);
  const shown = await add({ Name: 'Depot' });
  expect(shown.text).toContain('“Depot” was added');
  expect(shown.links('How to write a connector')).toEqual(['/docs/connectors']);
  const [key = ''] = shown.textAt('#token');
  const [, body = ''] =
    /-d '(.*)' https:\/\/[^/]+\/ingest$/.exec(shown.textAt('#curl')[0] ?? '') ?? [];
  expect(shown.textAt('#curl')[0]).toContain(`curl -H 'x-api-key: ${key}' -H 'content-type:`);
  const { data } = await as(key).post('/ingest', JSON.parse(body));
  expect(data).toMatchObject({ accepted: 1, rejected: [] });
  expect(await rows('select id from vehicles where account_id = ?1', us.accountId)).toEqual([]);
  expect(await made()).toMatchObject([
    { provider: 'acme-telematics-inc', tsp: 'Acmé Telematics, Inc.', name: 'Depot' },
  ]);
  const [next = ''] = shown.links('Continue');
  expect(next).toBe(`/portal/connections/${(await made())[0]?.id}`);
  const later = await ann.page(next);
  expect(later.html).not.toContain(key);
  expect(later.text).toContain(`Connector …${key.slice(-4)}`);
  expect(await noted()).toEqual(['created connection Depot', 'created ingest key Connector']);
});

it.each([
  ['', 'must not be empty'],
  ['北斗', 'must have a letter from a to z, or a digit'],
])(
  'a connection of the account’s own connector needs a provider with a name: %j',
  async (Provider, said) => {
    expect((await add({ Provider })).errors).toEqual({ provider: said });
    expect(await made()).toEqual([]);
  },
);

it('the ingest keys of a connection are generated and revoked', async () => {
  const page = await ann.page(`/portal/connections/${us.connection.id}`);
  const typed = { 'Key name': 'Depot server', Expires: 'In 90 days' };
  const shown = await page.press('Generate key', typed);
  const [key = ''] = shown.textAt('#token');
  expect(shown.text).toContain('Generated “Depot server”');
  const ingest = async () =>
    (await as(key).post('/ingest', { records: [{ kind: 'vehicle', sourceId: 'v', name: 'V' }] }))
      .status;
  expect(await ingest()).toBe(200);
  const [revoke = ''] = (await ann.page(page.path)).links('Revoke Depot server');
  const revoked = await (await ann.page(revoke)).press('Revoke “Depot server”');
  expect(revoked.path).toBe(page.path);
  expect(revoked.text).toContain('Revoked “Depot server”');
  expect(await ingest()).toBe(401);
  const named = 'ingest key Depot server';
  expect(await noted()).toEqual([`created ${named}`, `revoked ${named}`]);
});

it('an own connection is removed like any other', async () => {
  const shown = await add({ Name: 'Depot' });
  const [remove = ''] = (await ann.page(shown.links('Continue')[0] ?? '')).links('Remove');
  const asked = await ann.page(remove);
  expect(asked.text).toContain('“Depot” will no longer accept records from your connector');
  const removed = await asked.press('Remove this connection', {
    'Type “Depot” to confirm': 'Depot',
  });
  expect(removed.text).toContain('“Depot” was removed.');
  expect(await made()).toEqual([]);
});

it('an own connection is not made at all if its key is not', async () => {
  await rows(
    `create trigger no_key before insert on tokens begin select raise(abort, 'no key'); end`,
  );
  await add();
  await rows('drop trigger no_key');
  expect(await made()).toEqual([]);
});

it('the page of a connection has the last rejections and warnings of its connector, with counts a day', async () => {
  const page = () => ann.page(`/portal/connections/${us.connection.id}`);
  expect((await page()).text).not.toContain('Rejected records');
  await as(us.connection.ingestKey, {}, env).post('/ingest', {
    records: [vehicle({ year: 1 }), safetyEvent({ vehicle: 'gone' })],
  });
  const { text } = await page();
  expect(text).toMatch(
    /Rejected records .* Safety event 1 record vehicle is neither known nor in the same call .*, index 1/,
  );
  expect(text).toMatch(/Accepted with warnings .* Vehicle 1 record .*year must be .*, index 0/);
  const today = new Date().toISOString().slice(0, 10);
  expect(text).toMatch(new RegExp(`Rejections and warnings by day .*${today} .*1 .*1 `));
});
