import { env } from 'cloudflare:workers';
import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import {
  accident,
  ago,
  as,
  changeConnection,
  hourMs,
  ownRows,
  type Page,
  personBefore,
  rows,
  safetyEvent,
  signIn,
  value,
  vehicle,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara', 'acme');
const ann = personBefore(beforeEach, us);
const path = (i = 0) => `/portal/connections/${us.connections[i]?.id}`;
const change = (i: number, body: object) => changeConnection(us.connections[i]?.id, body);

it('connections are by name, and their numbers as people count', async () => {
  const names = ['Depot 10', 'depot 2', 'Depot 1'];
  for (const [i, name] of names.entries()) await change(i, { name });
  const ordered = ['Depot 1', 'depot 2', 'Depot 10'];
  expect((await ann.page('/portal/connections')).textAt('a.cover')).toEqual(ordered);
  expect((await ann.page('/portal/events')).textAt('select[name=connection] option')).toEqual([
    'All',
    ...ordered,
  ]);
});

it('the list has the worst connections first, and each page counts what came in', async () => {
  const { textAt } = ann;
  await change(0, { name: 'City vans' });
  await change(1, { name: 'Cold chain', healthStatus: 3 });
  const event = (hours: number) =>
    safetyEvent({
      sourceId: `${hours}`,
      startedAt: ago(hours * hourMs),
    });
  await us.send(vehicle(), ...[0.01, 2, 22, 30].map(event), accident());
  const list = await textAt('/portal/connections');
  expect(list).toMatch(
    /Cold chain Samsara Unavailable No data arrives.*None yet 0 0 M City vans Motive Healthy (just now|\d+ seconds ago) 1 3/,
  );
  expect(await textAt(path(1))).toContain(
    'No data arrives. A connector sends its data: ask whoever runs that.',
  );
  expect(list).toContain('A Acme Waiting for first data None yet');
  expect(list).toContain('3 data sources, 1 vehicle. One needs attention.');
  expect(await textAt(path(2))).toMatch(
    /Acme Waiting for first data.*Provider acme .*Name in deliveries Acme/,
  );
  expect(await textAt(path())).toMatch(
    /Vehicles 1 (just now|\d+ seconds ago).*Drivers 0 None yet.*Safety events 4 (just now|\d+ seconds ago).*Accidents 1 (just now|\d+ seconds ago) /,
  );
});

const labelled = (sourceId: string, incident: string) =>
  safetyEvent({ sourceId, startedAt: ago(0), incidentTypes: [incident] });
const label = 'swerve.d "x"';
const send = () =>
  us.send(vehicle(), labelled('a', label), labelled('b', label), labelled('c', 'Odd'));
const save = async (Label: string, type: string) =>
  (await ann.page(path())).press('Save mapping', { Label, 'Incident type': type });
const mapOf = async () =>
  JSON.parse(
    await value('select incident_type_map from connections where id = ?1', us.connection.id),
  );

it('an admin maps a label of a connection, changes and removes it', async () => {
  await send();
  expect((await ann.page(path())).textAt('#unmapped-incident-labels-now')[0]).toMatch(
    /Label Events swerve\.d "x" 2 Odd 1/,
  );
  const mapped = await save(label, 'Unsafe Lane Change');
  expect(mapped.text).toContain(`“${label}” is now mapped to Unsafe Lane Change.`);
  expect(mapped.text).toContain(
    `Mapped incident labels Label Incident type ${label} Unsafe Lane Change`,
  );
  expect(mapped.textAt('#unmapped-incident-labels-now')[0]).not.toContain(label);
  expect(await mapOf()).toEqual({ [label]: ['Unsafe Lane Change'] });
  expect(
    await value(`select translated_incident_types from safety_events where source_id = 'a'`),
  ).toBe('["Other"]');
  await save('Odd', 'Speeding');
  await save(label, 'Speeding');
  const removed = await save('Odd', 'Not mapped');
  expect(removed.text).toContain('“Odd” is not mapped any more.');
  expect(await mapOf()).toEqual({ [label]: ['Speeding'] });
  expect(await value(`select fields from audit_log where actor = 'person'`)).toBe(
    '["incidentTypeMap"]',
  );
});

it('two admins who map two labels at the same time keep both', async () => {
  await send();
  const bob = await signIn(us, 'admin');
  const both = [
    ann.post(`${path()}/labels`, { label: 'Odd', type: 'Speeding' }),
    bob.post(`${path()}/labels`, { label, type: 'Crash' }),
  ];
  for (const { status } of await Promise.all(both)) expect(status).toBe(303);
  expect(await mapOf()).toEqual({ Odd: ['Speeding'], [label]: ['Crash'] });
});

it('what is too much is refused in words', async () => {
  await send();
  const full = { ['x'.repeat(maxMapBytes - 20)]: ['Crash'] };
  await change(0, { incidentTypeMap: full });
  expect((await save('Odd', 'Crash')).errors).toEqual({
    label: 'The labels that a connection maps can be at most 32 KiB. Remove one first.',
  });
  expect(await mapOf()).toEqual(full);
});

const own = '/portal/connections/own';
const add = async (typed: Parameters<Page['press']>[1] = {}) =>
  (await ann.page(own)).press('Add connection', { Provider: 'Acmé Telematics, Inc.', ...typed });

const made = () =>
  rows(
    `select id, tsp, name, provider from connections
     where account_id = ?1 and provider like 'acme-%'`,
    us.accountId,
  );
const noted = async () => {
  const log = await rows(
    `select action || ' ' || subject || ' ' || subject_name as entry from audit_log
     where account_id = ?1 and actor = 'person'`,
    us.accountId,
  );
  return log.map(({ entry }) => entry);
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
  expect(await ownRows(us, 'vehicles')).toEqual([]);
  expect(await made()).toMatchObject([
    { provider: 'acme-telematics-inc', tsp: 'Acmé Telematics, Inc.', name: 'Depot' },
  ]);
  const [next = ''] = shown.links('Continue');
  expect(next).toBe(`/portal/connections/${(await made())[0]?.id}`);
  expect(await ann.textAt(`${next}/remove`)).toContain(
    '“Depot” will no longer accept records from your connector',
  );
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
  const page = await ann.page(path());
  const shown = await page.press('Generate key', { 'Key name': 'Depot', Expires: 'In 90 days' });
  expect(shown.text).toContain('Generated “Depot”');
  const connector = as(shown.textAt('#token')[0] ?? '');
  expect((await connector.send(vehicle())).status).toBe(200);
  const [revoke = ''] = (await ann.page(page.path)).links('Revoke Depot');
  const revoked = await (await ann.page(revoke)).press('Revoke “Depot”');
  expect(revoked.path).toBe(page.path);
  expect(revoked.text).toContain('Revoked “Depot”');
  expect((await connector.send(vehicle())).status).toBe(401);
  expect(await noted()).toEqual(['created ingest key Depot', 'revoked ingest key Depot']);
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
  const page = () => ann.page(path());
  expect((await page()).text).not.toContain('Rejected records');
  await as(us.connection.ingestKey, {}, env).send(
    vehicle({ year: 1 }),
    safetyEvent({ vehicle: 'gone' }),
  );
  const { text } = await page();
  expect(text).toMatch(
    /Rejected records .* Safety event 1 record vehicle is neither known nor in the same call .*, index 1/,
  );
  expect(text).toMatch(/Accepted with warnings .* Vehicle 1 record .*year must be .*, index 0/);
  const today = ago(0).slice(0, 10);
  expect(text).toMatch(new RegExp(`Rejections and warnings by day .*${today} .*1 .*1 `));
});
