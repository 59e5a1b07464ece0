import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { homesOf } from '../../src/platform/homes/homes.ts';
import { vehicle } from '../support/records.ts';
import { rows } from '../support/rows.ts';
import { allPages, as, operator, world } from '../support/world.ts';

const home = (name: string): Env => homesOf(env).get(name) ?? env;
const count = async (name: string, table: string) =>
  Number(await home(name).DB.prepare(`select count(*) as n from ${table}`).first('n'));

it('keeps all that an account has in its home, which its credentials name', async () => {
  const us = await world({ home: 'eu' });
  expect(us.apiToken).toMatch(/^fds_eu_/);
  expect(us.connection.ingestKey).toMatch(/^fdi_eu_/);
  const before = await count('main', 'vehicles');
  const { data } = await as(us.connection.ingestKey).send(vehicle());
  expect(data).toMatchObject({ accepted: 1 });
  expect(await count('eu', 'vehicles')).toBe(1);
  expect(await count('main', 'vehicles')).toBe(before);
  const headers = { 'connection-id': us.connection.id };
  const read = await as(us.apiToken, headers).get<unknown[]>('/vehicles');
  expect(read).toMatchObject({ status: 200, data: [{ name: 'Truck 1' }] });
});

it('finds for operators what they name by its id alone, in whichever home it is', async () => {
  const us = await world({ home: 'us2' });
  const path = `/operator/connections/${us.connection.id}`;
  expect((await operator.patch(path, { name: 'Trucks' })).status).toBe(200);
  expect((await operator.get(`/operator/accounts/${us.accountId}/tokens`)).data).toHaveLength(2);
  expect((await operator.delete(`/operator/tokens/${us.tokenId}`)).status).toBe(200);
  expect((await as(us.apiToken).get('/webhooks')).status).toBe(401);
  const unknown = await operator.patch(`/operator/connections/${crypto.randomUUID()}`, { name: 'x' });
  expect(unknown).toMatchObject({ status: 400, message: 'Unknown connection' });
});

it('follows an account that moves between an operator’s look-up and what is done about it', async () => {
  const us = await world({ home: 'eu' });
  const inMain = (text: string) => rows(text, us.accountId);
  await inMain("insert into accounts (id, name, created_at) values (?1, 'Acme Insurance', 0)");
  const batch = env.DB.batch.bind(env.DB);
  const spy = vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
    await inMain("update accounts set home = 'eu' where id = ?1");
    return batch(statements);
  });
  const path = `/operator/accounts/${us.accountId}/tokens`;
  const { status, data } = await operator.post<{ value: string }>(path, { name: 'late' });
  expect(spy).toHaveBeenCalled();
  expect(status).toBe(200);
  expect(data.value).toMatch(/^fds_eu_/);
});

it('lists the accounts and the audit log of all homes for operators, page by page', async () => {
  const made: string[] = [];
  for (const name of ['main', 'eu', 'us2', 'eu']) made.push((await world({ home: name })).accountId);
  const pages = await allPages((cursor = '') =>
    operator.get<{ id: string; home: string }[]>(
      `/operator/accounts?limit=3${cursor && `&cursor=${cursor}`}`,
    ),
  );
  const seen = pages.flatMap(({ data }) => data);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  expect(seen.filter(({ id }) => made.includes(id)).map((one) => one.home)).toEqual([
    'main',
    'eu',
    'us2',
    'eu',
  ]);
  const { data } = await operator.get<{ accountId: string }[]>('/operator/audit?limit=100');
  expect(made.every((id) => data.some(({ accountId }) => accountId === id))).toBe(true);
});

it('refuses a home that there is none of, and says which there are', async () => {
  const reply = await operator.post('/operator/accounts', { name: 'x', home: 'mars' });
  expect(reply).toMatchObject({
    status: 400,
    errors: [{ field: 'home', message: 'must be one of main, eu, us2' }],
  });
});
