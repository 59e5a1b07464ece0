import { maxMapBytes } from '#src/core/fleet/incidents/map.ts';
import { personBefore, signIn } from '#test/support/portal.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
const ann = personBefore(beforeEach, us);
let path: string;
beforeEach(() => {
  path = `/portal/connections/${us.connection.id}`;
});

const startedAt = new Date().toISOString();
const event = (sourceId: string, ...incidentTypes: string[]) =>
  safetyEvent({ sourceId, startedAt, incidentTypes });
const send = () =>
  us.send(vehicle(), event('a', 'swerve.d "x"'), event('b', 'swerve.d "x"'), event('c', 'Odd'));
const save = async (Label: string, type: string) =>
  (await ann.page(path)).press('Save mapping', { Label, 'Incident type': type });
const typeOf = (sourceId: string) =>
  value('select translated_incident_types from safety_events where source_id = ?1', sourceId);
const mapOf = async () =>
  JSON.parse(
    await value('select incident_type_map from connections where id = ?1', us.connection.id),
  );

it('an admin maps a label of a connection, changes and removes it', async () => {
  await send();
  const label = 'swerve.d "x"';
  expect((await ann.page(path)).textAt('#unmapped-incident-labels-now')[0]).toMatch(
    /Label Events swerve\.d "x" 2 Odd 1/,
  );
  const mapped = await save(label, 'Unsafe Lane Change');
  expect(mapped.text).toContain(`“${label}” is now mapped to Unsafe Lane Change.`);
  expect(mapped.text).toContain(
    `Mapped incident labels Label Incident type ${label} Unsafe Lane Change`,
  );
  expect(mapped.textAt('#unmapped-incident-labels-now')[0]).not.toContain(label);
  expect(await mapOf()).toEqual({ [label]: ['Unsafe Lane Change'] });
  expect(await typeOf('a')).toBe('["Other"]');
  await save('Odd', 'Speeding');
  await save(label, 'Speeding');
  const removed = await save('Odd', 'Not mapped');
  expect(removed.text).toContain('“Odd” is not mapped any more.');
  expect(await mapOf()).toEqual({ [label]: ['Speeding'] });
  expect(
    await rows(`select distinct subject, fields from audit_log where actor = 'person'`),
  ).toEqual([{ subject: 'connection', fields: '["incidentTypeMap"]' }]);
});

it('two admins who map two labels at the same time keep both', async () => {
  await send();
  const bob = await signIn(us, 'admin');
  const both = [
    ann.post(`${path}/labels`, { label: 'Odd', type: 'Speeding' }),
    bob.post(`${path}/labels`, { label: 'swerve.d "x"', type: 'Crash' }),
  ];
  for (const { status } of await Promise.all(both)) expect(status).toBe(303);
  expect(await mapOf()).toEqual({ Odd: ['Speeding'], 'swerve.d "x"': ['Crash'] });
});

it('what is no incident type, no label or too much is refused in words', async () => {
  await send();
  const full = { ['x'.repeat(maxMapBytes - 20)]: ['Crash'] };
  await operator.patch(`/operator/connections/${us.connection.id}`, { incidentTypeMap: full });
  const refusal = async (label: string, type: string) =>
    (await ann.post(`${path}/labels`, { label, type })).text();
  expect(await refusal('Odd', 'Swerving')).toContain('must be one of the choices');
  expect(await refusal('', 'Crash')).toContain('is required');
  expect((await save('Odd', 'Crash')).errors).toEqual({
    label: 'The labels that a connection maps can be at most 32 KiB. Remove one first.',
  });
  expect(await mapOf()).toEqual(full);
});
