import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { beginMove } from '../../src/homes/moves/begin.ts';
import { continueMove } from '../../src/homes/moves/run.ts';
import { findMove } from '../../src/homes/moves/state.ts';
import { allExpiredMs } from '../../src/platform/db/token-cache.ts';
import { vehicle } from '../support/records.ts';
import { replicated } from '../support/runtime/replica.ts';
import { as, call, world } from '../support/world.ts';

it("reads lists from a replica of the account's own home, and its cursors name that home", async () => {
  const us = await world({ home: 'eu' });
  await as(us.connection.ingestKey).send(vehicle({ sourceId: 'v1' }), vehicle({ sourceId: 'v2' }));
  const begun: string[] = [];
  const DB_EU = new Proxy((env as unknown as { DB_EU: D1Database }).DB_EU, {
    get: (d1, name) => {
      const method = Reflect.get(d1, name).bind(d1);
      if (name !== 'withSession') return method;
      return (constraint: string) => {
        begun.push(constraint);
        return method(constraint);
      };
    },
  });
  const ours = { ...env, DB_EU, READ_REPLICAS: 'true' } as Env; // wrangler.toml leaves the last out
  const page = async (query: string) => {
    const headers = { 'x-api-key': us.apiToken, 'connection-id': us.connection.id };
    const path = `/vehicles?limit=1${query}`;
    return call<{ sourceId: string }[]>('GET', path, { headers, bindings: ours });
  };
  const first = await page('');
  expect(atob((first.next ?? '').replaceAll('-', '+').replaceAll('_', '/'))).toMatch(/^\["eu:[0-9a-f]{8}-/);
  const second = await page(`&cursor=${first.next}`);
  expect([...first.data, ...second.data].map(({ sourceId }) => sourceId).sort()).toEqual(['v1', 'v2']);
  expect(begun).toEqual(['first-unconstrained', expect.stringMatching(/^[0-9a-f]{8}-/)]);
});

it('shows whoever reads a replica the whole account while it moves, and nothing to a token revoked since', async () => {
  const us = await world();
  const here = await replicated();
  await as(us.connection.ingestKey).send(vehicle({ sourceId: 'v1', name: 'One' }));
  await here.catchUp();
  await as(us.connection.ingestKey).send(vehicle({ sourceId: 'v2', name: 'Two' }));
  const headers = { 'x-api-key': us.apiToken, 'connection-id': us.connection.id };
  const list = async () => {
    const { status, data } = await here.call('GET', '/vehicles', headers);
    return [status, ...data.map(({ name }) => name).sort()].join();
  };
  expect(await list()).toBe('200,One'); // what the replica knows

  await beginMove(here.env, us.accountId, 'eu');
  const seen: string[] = [];
  let opened = 0;
  const moving = (async () => {
    while (await findMove(here.env, us.accountId)) await continueMove(here.env, us.accountId);
  })();
  for (let over = false; !over; void moving.then(() => (over = true))) {
    const move = await findMove(here.env, us.accountId);
    if (move?.state === 'opening') opened ||= Date.now();
    if (move?.state === 'cleaning up') break;
    seen.push(await list());
    await scheduler.wait(150); // within the limit of a token
  }
  expect(opened).toBeGreaterThan(0);
  expect(Date.now() - opened).toBeGreaterThan(allExpiredMs - 500);
  await moving;
  expect(new Set([...seen, '200,One', '200,One,Two'])).toEqual(new Set(['200,One', '200,One,Two']));
  expect(await list()).toBe('200,One,Two'); // the replica of the old home knows of no move yet

  const operators = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  await here.call('DELETE', `/operator/tokens/${us.tokenId}`, operators);
  expect((await here.call('GET', '/vehicles', headers)).status).toBe(401);
});
