import { signIn } from '#test/support/portal.ts';
import { story } from '#test/support/story.ts';
import { invalid, operator } from '#test/support/world.ts';

const { us, register } = story();
const limit = (id: string, body: object) => operator.patch(`/operator/webhooks/${id}/limits`, body);
const listed = async () =>
  (await operator.get<object[]>(`/operator/accounts/${us.accountId}/webhooks`)).data;

describe('the limits of a receiver', () => {
  it('are set one by one, and taken away', async () => {
    const { id, url } = await register();
    const none = {
      id,
      url,
      failures: 0,
      openUntil: null,
      pausedAt: null,
      maxInFlight: null,
      maxPerSecond: null,
      window: 5,
    };
    expect(await listed()).toEqual([none]);
    expect((await limit(id, { maxInFlight: 3 })).data).toEqual({
      ...none,
      maxInFlight: 3,
      window: 3,
    });
    const both = { ...none, maxInFlight: 3, maxPerSecond: 20, window: 3 };
    expect((await limit(id, { maxPerSecond: 20 })).data).toEqual(both);
    expect((await limit(id, {})).data).toEqual(both);
    expect(await listed()).toEqual([both]);
    expect((await limit(id, { maxInFlight: null, maxPerSecond: null })).data).toEqual(none);
  });

  it('stay as they are when the customer saves the webhook', async () => {
    const { id, ...webhook } = await register();
    await limit(id, { maxInFlight: 10, maxPerSecond: 20 });
    const saved = await us.api.put<object>(`/webhook/${id}`, { ...webhook, httpVerb: 'PUT' });
    expect(saved.status).toBe(200);
    expect(Object.keys(saved.data)).not.toContain('maxInFlight');
    expect(await listed()).toMatchObject([{ maxInFlight: 10, maxPerSecond: 20 }]);
  });

  it.each([
    ['maxInFlight', [0, 51, 1.5, '10', true], 'must be a whole number from 1 to 50'],
    ['maxPerSecond', [0, 1001, -1, 'many', {}], 'must be a whole number from 1 to 1000'],
  ])(
    '%s that are invalid are refused by name, and change nothing',
    async (field, values, message) => {
      const { id } = await register();
      for (const value of values)
        expect(await limit(id, { maxInFlight: 1, maxPerSecond: 1, [field]: value })).toMatchObject(
          invalid(`${field} ${message}`, field),
        );
      expect(await listed()).toMatchObject([{ maxInFlight: null, maxPerSecond: null }]);
    },
  );
});

it('operators see which webhooks cover all connections', async () => {
  const { id } = await register({ connectionIds: undefined, allConnections: true });
  expect(await listed()).toMatchObject([{ id, allConnections: true }]);
});

it("the webhook's page says in words what its receiver gets", async () => {
  const { id } = await register();
  const { textAt } = await signIn(us);
  const shown = () => textAt(`/portal/webhooks/${id}`);
  expect(await shown()).toContain('Up to 50 at a time, 5 for now');
  await limit(id, { maxInFlight: 10, maxPerSecond: 20 });
  expect(await shown()).toContain(
    'Up to 10 at a time, 20 a second, 5 for now. Set by the operator.',
  );
});
