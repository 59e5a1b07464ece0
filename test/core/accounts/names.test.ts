import { invalid, operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const text = (...codes: number[]) => `Acme ${String.fromCharCode(...codes)} Ltd`;
const unprintable = [0x00, 0x07, 0x0a, 0x0d, 0x1b, 0x7f, 0x9b, 0x2028, 0x202e, 0x2066];

it.each(unprintable)('no name may contain the character %i', async (code) => {
  const name = text(code);
  const account = `/operator/accounts/${us.accountId}`;
  for (const reply of [
    await operator.post('/operator/accounts', { name }),
    await operator.post(`${account}/tokens`, { name }),
    await operator.post(`${account}/connections`, { provider: 'motive', name }),
    await operator.post(`/operator/connections/${us.connection.id}/ingest-keys`, { name }),
    await operator.patch(`/operator/connections/${us.connection.id}`, { name }),
  ])
    expect(reply).toMatchObject(invalid('name must not contain control characters', 'name'));
  const tSP = await operator.patch(`/operator/connections/${us.connection.id}`, { tSP: name });
  expect(tSP).toMatchObject({ status: 400, errors: [{ field: 'tSP' }] });
});

it('names in any language are fine', async () => {
  for (const name of ['Żółw & Söhne', '東京配送', 'نقل', '🚚 Trucks – “North”'])
    expect((await operator.post('/operator/accounts', { name })).status).toBe(200);
});
