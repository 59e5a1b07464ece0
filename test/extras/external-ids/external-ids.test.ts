import { env } from 'cloudflare:workers';
import { operatorIn } from '#src/core/accounts/accounts.ts';
import { capital } from '#src/core/platform/text.ts';
import { deleteConnection } from '#src/operator/deletion/accept.ts';
import { changes } from '#test/extras/changes/support.ts';
import { type Item, listPage } from '#test/support/fleet.ts';
import { follow, signIn, textOf } from '#test/support/portal.ts';
import { vehicle } from '#test/support/records.ts';
import { as, invalid, operator, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
beforeEach(async () => {
  // One after the other, so that the list has them in this order.
  for (const { ingestKey } of us.connections)
    for (const sourceId of ['truck-1', 'truck-2']) await as(ingestKey).send(vehicle({ sourceId }));
});

const vehiclesOf = async (place = 0, query = '') =>
  (await listPage(us.apiToken, `/vehicles${query}`, us.connections[place]?.id)).data;
const put = (path: string, externalId: unknown, token = us.apiToken) =>
  as(token).put<Item>(path, { externalId });

describe('an externalId', () => {
  it.each(['vehicle', 'connection'])(
    'of a %s is shown, found and followed, until it is taken away',
    async (kind) => {
      const [first] = kind === 'vehicle' ? await vehiclesOf() : [us.connection];
      const found = async (query: string) =>
        (await listPage(us.apiToken, `/${kind}s?externalId=${query}`, us.connection.id)).data;
      const path = `/${kind}s/${first?.id}`;
      const { resume } = await changes(us.apiToken, 'cursor=now');
      expect(await put(path, ' FL-0042 ')).toMatchObject({
        status: 200,
        message: `${capital(kind)} changed`,
        data: { id: first?.id, externalId: 'FL-0042' },
      });
      expect(await found('FL-0042')).toMatchObject([{ id: first?.id, externalId: 'FL-0042' }]);
      const { data } = await changes(us.apiToken, `cursor=${resume}`);
      expect(data.map((change) => change.data?.externalId)).toEqual(['FL-0042']);
      expect((await put(path, null)).data).toMatchObject({ externalId: null });
      expect(await found('FL-0042')).toEqual([]);
    },
  );

  it('of a vehicle stays, whatever its provider sends, and is found with other filters', async () => {
    const [first] = await vehiclesOf();
    await put(`/vehicles/${first?.id}`, 'FL-1');
    await us.send(vehicle({ name: 'Renamed' }));
    const renamed = [{ id: first?.id, name: 'Renamed', externalId: 'FL-1' }];
    expect(await vehiclesOf(0, '?externalId=FL-1&status=active')).toMatchObject(renamed);
    expect(await vehiclesOf(0, '?externalId=FL-1&status=inactive')).toEqual([]);
    expect(await vehiclesOf(1, '?externalId=FL-1')).toEqual([]);
  });

  it('is set by sending the whole vehicle back, of which the rest is ignored', async () => {
    const [first, second] = await vehiclesOf();
    const put = (path: string) =>
      us.api.put<Item>(path, { ...first, name: 'x', externalId: 'FL-1' });
    const changed = { name: first?.name, externalId: 'FL-1' };
    expect(await put(`/vehicles/${first?.id}`)).toMatchObject({ status: 200, data: changed });
    expect(await put(`/vehicles/${second?.id}`)).toMatchObject({
      status: 400,
      errors: [{ field: 'id' }],
    });
  });

  it('is unique in an account, among vehicles and among connections', async () => {
    const [here, there] = [await vehiclesOf(0), await vehiclesOf(1)];
    await put(`/vehicles/${here[0]?.id}`, 'A');
    for (const other of [here[1], there[0]])
      expect(await put(`/vehicles/${other?.id}`, 'A')).toMatchObject({
        status: 400,
        message: 'externalId is already used by another vehicle',
        errors: [{ field: 'externalId', message: 'is already used by another vehicle' }],
      });
    expect((await put(`/vehicles/${here[0]?.id}`, 'A')).status).toBe(200);
    const [one, two] = us.connections.map(({ id }) => `/connections/${id}`);
    expect((await put(String(one), 'A')).status).toBe(200);
    expect((await put(String(two), 'A')).message).toBe(
      'externalId is already used by another connection',
    );
    const them = await world();
    expect((await put(`/connections/${them.connection.id}`, 'A', them.apiToken)).status).toBe(200);
  });

  it('of a deleted connection, or of its vehicles, is free again at once', async () => {
    const them = await world();
    const [[gone], [other]] = [await vehiclesOf(0), await vehiclesOf(1)];
    await put(`/vehicles/${gone?.id}`, 'V');
    for (const account of [us, them]) {
      await put(`/connections/${account.connection.id}`, 'A', account.apiToken);
      await deleteConnection(env, operatorIn(account.accountId), account.connection.id, 'Motive');
    }
    expect((await put(`/connections/${us.connections[1]?.id}`, 'A')).status).toBe(200);
    expect((await put(`/vehicles/${other?.id}`, 'V')).data).toMatchObject({ externalId: 'V' });
  });

  it.each([
    [undefined, 'externalId is required'],
    ['a\tb', 'externalId must not contain control characters'],
  ])('%j is refused', async (externalId, message) => {
    const [first] = await vehiclesOf();
    for (const path of [`/vehicles/${first?.id}`, `/connections/${us.connection.id}`])
      expect(await put(path, externalId)).toMatchObject(invalid(message, 'externalId'));
  });

  it('is set in the portal, and by operators, and noted in the audit log', async () => {
    const { cookie, post } = await signIn(us);
    const [first, second] = await vehiclesOf();
    const save = async (path: string, externalId: string) => {
      const sent = await post(`/portal${path}/external-id`, { externalId });
      return sent.status === 303 ? follow(sent, cookie) : textOf(sent);
    };
    expect(await save(`/vehicles/${first?.id}`, 'FL-1')).toMatch(
      /The external ID of “.*” was saved\..*FL-1/,
    );
    expect(await save(`/vehicles/${second?.id}`, 'FL-1')).toContain(
      'is already used by another vehicle',
    );
    expect(await save(`/connections/${us.connection.id}`, 'POL-1')).toMatch(/was saved\..*POL-1/);
    expect(await save(`/connections/${us.connection.id}`, '')).toContain('was saved.');
    const vehicleChange = await operator.patch(`/operator/vehicles/${second?.id}`, {
      externalId: 'FL-2',
    });
    expect(vehicleChange.data).toMatchObject({ id: second?.id, externalId: 'FL-2' });
    const change = await operator.patch(`/operator/connections/${us.connection.id}`, {
      externalId: 'P',
    });
    expect(change.data).toMatchObject({ externalId: 'P' });
    const { data } = await operator.get<{ actor: string; fields: string[] }[]>(
      `/operator/accounts/${us.accountId}/audit`,
    );
    const noted = data.filter(({ fields }) => fields.some((field) => field.includes('externalId')));
    expect(noted.map(({ actor }) => actor).toReversed()).toEqual([
      ...['person', 'person', 'person'],
      ...['operator', 'operator'],
    ]);
  });
});
