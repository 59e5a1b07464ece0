import { invalid, operator, signIn, story } from '#test/support.ts';

const { us, register } = story();
const limit = (id: string, body: object) => operator.patch(`/operator/webhooks/${id}/limits`, body);
const listed = async () =>
  (await operator.get<object[]>(`/operator/accounts/${us.accountId}/webhooks`)).data;

describe('the limits of a receiver', () => {
  it('are set one by one, and taken away', async () => {
    const { id } = await register({ connectionIds: undefined, allConnections: true });
    const change = async (body: object, expected: object) => {
      expect((await limit(id, body)).data).toMatchObject(expected);
      expect(await listed()).toMatchObject([{ id, allConnections: true, ...expected }]);
    };
    const none = { maxInFlight: null, maxPerSecond: null, window: 5 };
    const both = { maxInFlight: 3, maxPerSecond: 20, window: 3 };
    await change({ maxInFlight: 3 }, { ...both, maxPerSecond: null });
    await change({ maxPerSecond: 20 }, both);
    await change({}, both);
    await change({ maxInFlight: null, maxPerSecond: null }, none);
  });

  it('stay as they are when the customer saves the webhook, who does not see them', async () => {
    const { id, ...webhook } = await register();
    await limit(id, { maxInFlight: 10, maxPerSecond: 20 });
    const saved = await us.api.put<object>(`/webhook/${id}`, { ...webhook, httpVerb: 'PUT' });
    expect(Object.keys(saved.data)).not.toContain('maxInFlight');
    expect(await listed()).toMatchObject([{ maxInFlight: 10, maxPerSecond: 20 }]);
  });

  it.each([
    ['maxInFlight', [0, 51, 1.5, '10'], 'must be a whole number from 1 to 50'],
    ['maxPerSecond', [0, 1001], 'must be a whole number from 1 to 1000'],
  ])(
    '%s that are invalid are refused by name, and change nothing',
    async (field, values, message) => {
      const { id } = await register();
      const refused = invalid(`${field} ${message}`, field);
      for (const value of values)
        expect(await limit(id, { maxInFlight: 1, maxPerSecond: 1, [field]: value })).toMatchObject(
          refused,
        );
      expect(await listed()).toMatchObject([{ maxInFlight: null, maxPerSecond: null }]);
    },
  );
});

it("the webhook's page says in words what its receiver gets", async () => {
  const { id } = await register();
  const { textAt } = await signIn(us);
  await limit(id, { maxInFlight: 10, maxPerSecond: 20 });
  expect(await textAt(`/portal/webhooks/${id}`)).toContain(
    'Up to 10 at a time, 20 a second, 5 for now. Set by the operator.',
  );
});
