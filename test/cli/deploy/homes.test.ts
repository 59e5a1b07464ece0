import { describe, expect, it } from 'vitest';
import { type AccountContents, homesToDeploy } from '../../../src/cli/deploy/account.ts';
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

/** The homes that a deploy with these settings would have. */
const homesWith = (settings: object, account = found) => homesToDeploy(planOf(settings), account);

describe('the homes of a deploy', () => {
  it('are those that the Worker is bound to, and the one that is asked for', () => {
    const homes = homesWith({ home: 'ap', location: 'apac' });
    expect(homes.map(({ name, database, place }) => [name, database, place])).toEqual([
      ['main', 'fleet', {}],
      ['eu', 'fleet-eu', { jurisdiction: 'eu' }],
      ['us2', 'fleet-us2', {}],
      ['ap', 'fleet-ap', { location: 'apac', jurisdiction: undefined }],
    ]);
    expect(homes.map(({ found }) => Boolean(found))).toEqual([true, true, true, false]);
    expect(homes[1]?.queues).toEqual(['fleet-deliveries-eu']);
  });

  it('keep the jurisdiction of their bucket where Cloudflare does not say that of the database', () => {
    const homes = homesWith(
      {},
      {
        ...found,
        databases: [main, inAccount('fleet-eu', undefined)],
        homes: [{ name: 'eu', database: 'fleet-eu', jurisdiction: 'eu' }],
      },
    );
    expect(homes[1]?.place).toEqual({ jurisdiction: 'eu' });
  });

  it('can be asked for again', () => {
    const homes = homesWith({ home: 'eu', jurisdiction: 'eu' });
    expect(homes.map(({ name }) => name)).toEqual(['main', 'eu', 'us2']);
  });

  it.each([
    ['eu', 'fleet-eu already exists in the jurisdiction eu, and cannot move to us. Choose another --name'],
    ['us2', 'fleet-us2 already exists without a jurisdiction'],
  ])('cannot be moved: %s', (home, reason) => {
    expect(() => homesWith({ home, jurisdiction: 'us' })).toThrow(reason);
  });

  it('begin with main', () => {
    const nothing = { ...found, databases: [], database: undefined, homes: [] };
    expect(() => homesWith({ home: 'eu' }, nothing)).toThrow('Deploy without --home first');
  });

  it('are all needed: a database that is gone stops the deploy', () => {
    const gone = { ...found, databases: [main, inAccount('fleet-eu', 'eu')] };
    expect(() => homesWith({}, gone)).toThrow('The database of the home us2 is gone');
  });
});
