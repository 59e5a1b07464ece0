import { describe, expect, it } from 'vitest';
import type { AccountContents } from '../../../src/cli/deploy/account.ts';
import type { Api, Query } from '../../../src/cli/deploy/api.ts';
import { homesToDeploy } from '../../../src/cli/deploy/homes.ts';
import { planOf } from '../../../src/cli/deploy/plan.ts';

const inAccount = (name: string, jurisdiction: string | null | undefined) => ({
  id: name,
  name,
  jurisdiction,
});
const main = inAccount('fleet', null);
const found: AccountContents = {
  databases: [main, inAccount('fleet-eu', 'eu'), inAccount('fleet-us2', null)],
  database: main,
  namespace: 'n',
  secrets: [],
  vars: {},
  homes: [
    { name: 'eu', database: 'fleet-eu' },
    { name: 'us2', database: 'fleet-us2' },
  ],
};

/** The homes that a deploy with these settings would have; queues are not there yet. */
async function homesWith(settings: object, account = found, answers: string[][] = []) {
  const api: Api = async () => ({ ok: true, result: [], reason: '', codes: [] });
  const query: Query = async () => answers.shift() ?? [];
  return homesToDeploy(api, query, planOf(settings), account);
}
/** A database that no Worker is bound to. */
const unbound = { ...found, databases: [main, inAccount('fleet-eu', null)], homes: [] };

describe('the homes of a deploy', () => {
  it('are those that the Worker is bound to, and the one that is asked for', async () => {
    const homes = await homesWith({ home: 'ap', location: 'apac' });
    expect(homes.map(({ name, database, place }) => [name, database, place])).toEqual([
      ['main', 'fleet', {}],
      ['eu', 'fleet-eu', { jurisdiction: 'eu' }],
      ['us2', 'fleet-us2', {}],
      ['ap', 'fleet-ap', { location: 'apac', jurisdiction: undefined }],
    ]);
    expect(homes.map(({ found }) => Boolean(found))).toEqual([true, true, true, false]);
    expect(homes[1]?.missingQueues).toEqual(['fleet-deliveries-eu']);
  });

  it('keep the jurisdiction of their bucket where Cloudflare does not say that of the database', async () => {
    const homes = await homesWith(
      {},
      {
        ...found,
        databases: [main, inAccount('fleet-eu', undefined)],
        homes: [{ name: 'eu', database: 'fleet-eu', jurisdiction: 'eu' }],
      },
    );
    expect(homes[1]?.place).toEqual({ jurisdiction: 'eu' });
  });

  it('can be asked for again', async () => {
    const homes = await homesWith({ home: 'eu', jurisdiction: 'eu' });
    expect(homes.map(({ name }) => name)).toEqual(['main', 'eu', 'us2']);
  });

  it.each([
    ['eu', 'fleet-eu already exists in the jurisdiction eu, and cannot move to us. Choose another --name'],
    ['us2', 'fleet-us2 already exists without a jurisdiction'],
  ])('cannot be moved: %s', async (home, reason) => {
    await expect(homesWith({ home, jurisdiction: 'us' })).rejects.toThrow(reason);
  });

  it('begin with main', async () => {
    const nothing = { ...found, databases: [], database: undefined, homes: [] };
    await expect(homesWith({ home: 'eu' }, nothing)).rejects.toThrow('Deploy without --home first');
  });

  it('are all needed: a database that is gone stops the deploy', async () => {
    const gone = { ...found, databases: [main, inAccount('fleet-eu', 'eu')] };
    await expect(homesWith({}, gone)).rejects.toThrow('The database of the home us2 is gone');
  });

  it('stay within what names can have', () => {
    const settings = { name: 'a'.repeat(30), home: 'b'.repeat(16) };
    expect(() => planOf(settings)).toThrow('--home needs a shorter name');
    expect(planOf({ ...settings, home: 'b'.repeat(15) }).home?.name).toHaveLength(15);
  });
});

it('a database that has the name of a new home is taken, unless it holds something else', async () => {
  const homes = await homesWith({ home: 'eu' }, unbound, [['accounts']]);
  expect(homes[1]?.found?.name).toBe('fleet-eu');
  await expect(homesWith({ home: 'eu' }, unbound, [['accounts', 'orders']])).rejects.toThrow(
    'The database fleet-eu already exists for something else: it has tables such as orders',
  );
});
