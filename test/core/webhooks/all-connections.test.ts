import {
  accident,
  addConnection,
  as,
  invalid,
  issueKey,
  operator,
  settled,
  story,
  vehicle,
  webhooksOf,
  world,
} from '#test/support.ts';

const { us, heard, register } = story();
const connect = () => addConnection(us.accountId, { name: 'Vans' });
const all = () => register({ connectionIds: undefined, allConnections: true });
const put = (hook: { id: string; [field: string]: unknown }) =>
  us.api.put(`/webhook/${hook.id}`, hook);

describe('a webhook that covers all connections', () => {
  it('lists those of now, and is joined by a new one, whose records it is notified of', async () => {
    const hook = await all();
    expect(hook).toMatchObject({ allConnections: true, connectionIds: [us.connection.id] });
    const { id } = await connect();
    const [listed] = await webhooksOf(us);
    expect(listed).toEqual({ ...hook, connectionIds: [us.connection.id, id] });
    await as(await issueKey(id)).send(vehicle(), accident());
    await settled(hook.id);
    expect(heard.got.map(({ body }) => body.data)).toMatchObject([
      { connection: id, notificationLevel: 1 },
    ]);
  });

  it('loses a connection that is deleted, and is not joined by those of other accounts', async () => {
    const hook = await all();
    const other = await world();
    const { id } = await connect();
    await operator.post(`/operator/connections/${id}/deletion`, { name: 'Vans' });
    await addConnection(other.accountId);
    expect(await webhooksOf(us)).toEqual([hook]);
  });

  it('accepts what it returns, also when a connection has been added since', async () => {
    const hook = await all();
    const connectionIds = [us.connection.id, (await connect()).id];
    expect((await put(hook)).data).toEqual({ ...hook, connectionIds });
    const foreign = await put({ ...hook, connectionIds: [crypto.randomUUID()] });
    expect(foreign).toMatchObject(invalid('Invalid connection ids'));
  });

  it('covers only what a client names that does not say so', async () => {
    const hook = { ...(await all()), allConnections: undefined };
    expect((await put(hook)).data).not.toHaveProperty('allConnections');
    await connect();
    expect(await webhooksOf(us)).toMatchObject([{ connectionIds: [us.connection.id] }]);
    for (const allConnections of [undefined, false])
      expect(await put({ ...hook, connectionIds: undefined, allConnections })).toMatchObject(
        invalid('connectionIds is required'),
      );
  });
});
