import { describe, expect, it } from 'vitest';
import type { AccountContents } from '../../../src/cli/deploy/account.ts';
import type { Api, Query } from '../../../src/cli/deploy/api.ts';
import { homesToDeploy } from '../../../src/cli/deploy/homes.ts';
import { planOf } from '../../../src/cli/deploy/plan.ts';
import { settingsOf } from '../../../src/cli/deploy/settings.ts';

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

/** The homes that a deploy with these settings would have, and its warnings; queues are not there yet. */
async function homesWith(settings: object, account = found, answers: string[][] = []) {
  const warnings: string[] = [];
  const api: Api = async () => ({ ok: true, result: [], reason: '', codes: [] });
  const query: Query = async () => ({ names: answers.shift() ?? [], region: 'enam' });
  const plan = planOf(settingsOf(settings));
  const homes = await homesToDeploy(api, query, plan, account, (text) => warnings.push(text));
  return { homes, warnings };
}
const missing = { ...found, databases: [main], homes: [] };
/** A database that no Worker is bound to. */
const unbound = { ...found, databases: [main, inAccount('fleet-eu', null)], homes: [] };

describe('the homes of a deploy', () => {
  it('are those that the Worker is bound to, and the one that is asked for', async () => {
    const { homes, warnings } = await homesWith({ home: 'ap', homeLocation: 'apac' });
    expect(homes.map(({ name, database, place }) => [name, database, place])).toEqual([
      ['main', 'fleet', {}],
      ['eu', 'fleet-eu', { jurisdiction: 'eu' }],
      ['us2', 'fleet-us2', {}],
      ['ap', 'fleet-ap', { location: 'apac', jurisdiction: undefined }],
    ]);
    expect(homes.map(({ found }) => Boolean(found))).toEqual([true, true, true, false]);
    expect(homes[1]?.missingQueues).toEqual(['fleet-deliveries-eu']);
    expect(warnings).toEqual([]);
  });

  it('keep the jurisdiction of their bucket where Cloudflare does not say that of the database', async () => {
    const { homes } = await homesWith(
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
    const { homes } = await homesWith({ home: 'eu', homeJurisdiction: 'eu' });
    expect(homes.map(({ name }) => name)).toEqual(['main', 'eu', 'us2']);
    expect((await homesWith({ home: 'us2', homeLocation: 'enam' })).homes).toHaveLength(3);
  });

  it.each([
    [
      'eu',
      { homeJurisdiction: 'us' },
      'fleet-eu already exists in the jurisdiction eu, and cannot move to us',
    ],
    ['us2', { homeJurisdiction: 'us' }, 'fleet-us2 already exists without a jurisdiction'],
    ['us2', { homeLocation: 'weur' }, 'fleet-us2 runs in enam, not in weur'],
  ])('cannot be moved: %s with %j', async (home, place, reason) => {
    await expect(homesWith({ home, ...place })).rejects.toThrow(reason);
    await expect(homesWith({ home, ...place })).rejects.toThrow('another name with --home');
  });

  it('are all needed: a database that is gone stops the deploy', async () => {
    const gone = { ...found, databases: [main, inAccount('fleet-eu', 'eu')] };
    await expect(homesWith({}, gone)).rejects.toThrow('The database of the home us2 is gone');
  });

  it('may be suspected where a database looks like one', async () => {
    const { warnings } = await homesWith({}, unbound);
    expect(warnings).toEqual([expect.stringContaining('deploy with --home eu')]);
  });

  it('stay within what names can have', () => {
    const settings = { name: 'a'.repeat(30), home: 'b'.repeat(16) };
    expect(() => planOf(settingsOf(settings))).toThrow('--home needs a shorter name');
    expect(planOf(settingsOf({ ...settings, home: 'b'.repeat(15) })).home?.name).toHaveLength(15);
  });
});

describe('a database that has the name of a new home', () => {
  it.each([
    ['is empty', [[]]],
    ['has been migrated', [['accounts', 'd1_migrations'], ['0001_accounts.sql']]],
    ['has no migration yet', [['d1_migrations'], []]],
  ])('is taken when it %s', async (_, answers) => {
    const { homes } = await homesWith({ home: 'eu' }, unbound, answers);
    expect(homes[1]?.found?.name).toBe('fleet-eu');
  });

  it.each([
    ['tables of others', [['orders']]],
    ['migrations of others', [['orders', 'd1_migrations'], ['0000_orders.sql']]],
  ])('is left alone when it has %s', async (_, answers) => {
    await expect(homesWith({ home: 'eu' }, unbound, answers)).rejects.toThrow(
      'The database fleet-eu already exists for something else: it has tables such as orders',
    );
  });

  it('is asked nothing when it is not there', async () => {
    const { homes } = await homesWith({ home: 'eu' }, missing, [['orders']]);
    expect(homes[1]?.found).toBeUndefined();
  });
});
