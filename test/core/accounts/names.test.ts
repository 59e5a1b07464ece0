import { changeConnection, invalid, operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
it('no name may contain control characters', async () => {
  const name = 'Acme \u001b Ltd';
  const account = `/operator/accounts/${us.accountId}`;
  const connection = `/operator/connections/${us.connection.id}`;
  for (const reply of [
    await operator.post('/operator/accounts', { name }),
    await operator.post(`${account}/tokens`, { name }),
    await operator.post(`${account}/connections`, { provider: 'motive', name }),
    await operator.post(`${connection}/ingest-keys`, { name }),
    await changeConnection(us.connection.id, { name }),
  ])
    expect(reply).toMatchObject(invalid('name must not contain control characters', 'name'));
  const refused = invalid('tSP must not contain control characters', 'tSP');
  expect(await changeConnection(us.connection.id, { tSP: name })).toMatchObject(refused);
});

it("a connection's own map leads to incident types alone", async () => {
  const path = `/operator/connections/${us.connection.id}`;
  const { message } = await operator.patch(path, { incidentTypeMap: { x: ['No Type'] } });
  expect(message).toContain('incidentTypeMap must map');
});
