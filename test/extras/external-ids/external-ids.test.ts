import { env } from 'cloudflare:workers';
import { changes } from '#test/extras/changes/support.ts';
import {
  as,
  auditOf,
  type Item,
  invalid,
  operator,
  recordId,
  signIn,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara');
beforeEach(async () => {
  for (const { send } of us.connections) await send(vehicle(), vehicle({ sourceId: 'truck-2' }));
});

const own = (place = 0) => `/connections/${us.connections[place]?.id}`;
const truck = (n: number, place = 0) =>
  `/vehicles/${recordId(us.connections[place]?.id ?? '', 'vehicle', `truck-${n}`)}`;
const put = (path: string, externalId: unknown, token = us.apiToken) =>
  as(token).put<Item>(path, { externalId });
const found = async (query: string, place = 0) =>
  (await as(us.apiToken, { 'connection-id': us.connections[place]?.id ?? '' }).get<Item[]>(query))
    .data;

describe('an externalId', () => {
  it.each([
    ['vehicle', () => truck(1)],
    ['connection', () => own()],
  ])('of a %s is shown, found and followed, until it is taken away', async (kind, pathNow) => {
    const path = pathNow();
    const { resume } = await changes(us.apiToken, 'cursor=now');
    const changed = await put(path, ' FL-0042 ');
    expect(changed).toMatchObject({ status: 200, data: { externalId: 'FL-0042' } });
    expect(await found(`/${kind}s?externalId=FL-0042`)).toEqual([changed.data]);
    const { data } = await changes(us.apiToken, `cursor=${resume}`);
    expect(data.map((change) => change.data?.externalId)).toEqual(['FL-0042']);
    expect((await put(path, 'FL-0042')).data).toEqual(changed.data); // nothing changes
    expect((await put(path, null)).data).toMatchObject({ externalId: null });
    expect(await found(`/${kind}s?externalId=FL-0042`)).toEqual([]);
  });

  it('of a vehicle stays, whatever its provider sends, and is found with other filters', async () => {
    await put(truck(1), 'FL-1');
    await us.send(vehicle({ name: 'Renamed' }));
    const query = '/vehicles?externalId=FL-1';
    expect(await found(`${query}&status=active`)).toMatchObject([{ name: 'Renamed' }]);
    expect(await found(`${query}&status=inactive`)).toEqual([]);
    expect(await found(query, 1)).toEqual([]);
  });

  it('is set by sending the whole vehicle back, of which the rest is ignored', async () => {
    const [first] = await found('/vehicles?limit=1');
    const other = { ...first, name: 'x', externalId: 'FL-1' };
    const changed = { name: first?.name, externalId: 'FL-1' };
    expect((await us.api.put(`/vehicles/${first?.id}`, other)).data).toMatchObject(changed);
    expect(await us.api.put(truck(1, 1), other)).toMatchObject({
      status: 400,
      errors: [{ field: 'id' }],
    });
  });

  it('is unique in an account, among vehicles and among connections', async () => {
    const used = 'externalId is already used by another';
    await put(truck(1), 'A');
    for (const other of [truck(2), truck(1, 1)])
      expect(await put(other, 'A')).toMatchObject(invalid(`${used} vehicle`, 'externalId'));
    for (const path of [truck(1), own()]) expect((await put(path, 'A')).status).toBe(200);
    expect((await put(own(1), 'A')).message).toBe(`${used} connection`);
    const them = await world();
    expect((await put(`/connections/${them.connection.id}`, 'A', them.apiToken)).status).toBe(200);
  });

  it('of a deleted connection, or of its vehicles, is free again at once', async () => {
    await put(truck(1), 'V');
    for (const { connection, apiToken } of [us, await world()]) {
      await put(`/connections/${connection.id}`, 'A', apiToken);
      await operator.post(`/operator/connections/${connection.id}/deletion`, { name: 'Motive' });
    }
    expect((await put(own(1), 'A')).status).toBe(200);
    expect((await put(truck(1, 1), 'V')).data).toMatchObject({ externalId: 'V' });
  });

  it('of a connection is none of what KV knows, which can be written once a second', async () => {
    const written = vi.spyOn(env.TOKENS, 'put');
    expect((await put(own(), 'A')).status).toBe(200);
    expect(written).not.toHaveBeenCalled();
  });

  it('is refused with a control character', async () => {
    const refused = invalid('externalId must not contain control characters', 'externalId');
    expect(await put(own(), 'a\tb')).toMatchObject(refused);
  });

  it('is set in the portal, and by operators, and noted in the audit log', async () => {
    const ann = await signIn(us);
    const save = async (path: string, value: string) =>
      (await ann.page(`/portal${path}`)).press('Save', { 'External ID': value });
    expect((await save(truck(1), 'FL-1')).text).toMatch(
      /The external ID of “.*” was saved\..*FL-1/,
    );
    expect((await save(truck(2), 'FL-1')).text).toContain('is already used by another vehicle');
    expect((await save(own(), 'POL-1')).text).toMatch(/was saved\..*POL-1/);
    expect((await save(own(), '')).text).toContain('was saved.');
    const body = { externalId: 'B' };
    for (const path of [truck(2), own()])
      expect((await operator.patch(`/operator${path}`, body)).data).toMatchObject(body);
    const noted = (await auditOf(us)).filter(({ fields }) => fields.join().includes('externalId'));
    const actors = noted.map(({ actor }) => actor).join(' ');
    expect(actors).toBe('operator operator person person person');
  });
});
