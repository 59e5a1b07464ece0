// @module-tag proof
// More than 15 s: a deploy for each address, with wrangler.
import { addressesOf, attach, giveUp, originOf } from '#src/cli/deploy/addresses.ts';
import { planOf } from '#src/cli/deploy/plan.ts';
import { apiAt } from '#src/cli/project/cloudflare.ts';
import {
  askInstead,
  type Cloudflare,
  newAccount,
  newWorker,
} from '#test/support/node/cloudflare.ts';
import { cloud, keepNothing } from '#test/support/node/deploy.ts';

const host = 'api.example.com';

describe('a host', () => {
  let account: Cloudflare;
  const api = () => apiAt(`/accounts/${account.id}`, {});
  const domainsOf = (worker: string) => account.workers.get(worker)?.domains;
  beforeEach(() => {
    account = newAccount();
    askInstead(account);
    account.workers.set('fleet', { ...newWorker(), domains: ['old.example.com'] });
    account.workers.set('shop', { ...newWorker(), domains: ['shop.example.com'] });
  });

  it.each([
    ['another Worker', 'shop.example.com', 'is a domain of the Worker shop'],
    ['something else', host, 'has DNS records of something else'],
  ])('that leads to %s stays there without --take-over', async (_, taken, words) => {
    account.records.push(host);
    const attaching = attach(api(), 'fleet', taken);
    await expect(attaching).rejects.toThrow(new RegExp(`${words}.* add --take-over`));
    expect(domainsOf('fleet')).toEqual(['old.example.com']);
    await attach(api(), 'fleet', taken, 'anything');
    expect([domainsOf('fleet'), domainsOf('shop')]).toEqual([
      ['old.example.com', taken],
      ['shop.example.com'].filter((one) => one !== taken),
    ]);
  });

  it('is given up, unless it is the address or leads elsewhere', async () => {
    account.workers.set('fleet', { ...newWorker(), domains: [host], isAtWorkersDev: true });
    const give = (one: string) => giveUp(api(), 'fleet', one, `https://${host}`);
    await expect(give(host)).rejects.toThrow('is the address of fleet. Deploy it with another');
    await expect(give('shop.example.com')).rejects.toThrow('does not lead to the Worker fleet:');
    await give('fleet.acme.workers.dev');
    expect(await addressesOf(api(), 'fleet')).toMatchObject([{ host }]);
    await giveUp(api(), 'fleet', host, 'https://new.example.com');
    expect(await addressesOf(api(), 'fleet')).toEqual([]);
  });

  it('is below workers.dev, unless there is a domain', async () => {
    expect(await originOf(api(), planOf({}))).toBe('https://fleet-data-service.acme.workers.dev');
    expect(await originOf(api(), planOf({ domain: host }))).toBe(`https://${host}`);
    const ofCell = originOf(api(), planOf({ cell: 'eu' }));
    await expect(ofCell).rejects.toThrow("pass the router's host as --domain");
    const errors = [{ code: 10007, message: 'Not found' }];
    vi.stubGlobal('fetch', async () => Response.json({ result: null, errors }, { status: 404 }));
    await expect(originOf(api(), planOf({}))).rejects.toThrow('Open Workers & Pages');
  });
});

keepNothing();

it('--domain serves at both addresses, links lead to the new one once it responds', async () => {
  const name = 'fleet-data-service';
  const former = `${name}.acme.workers.dev`;
  const { account, deploy, asked } = await cloud(former, host);
  expect((await deploy('--location weur')).code).toBe(0);
  // It runs beside its database.
  expect(JSON.stringify(account.workers.get(name)?.placement)).toContain(
    '"region":"aws:eu-west-3"',
  );
  const moved = await deploy(`--domain ${host}`);
  expect(moved.code).toBe(0);
  const seen = asked.map(({ host, origin }) => `${host} leads to ${origin}`);
  expect([...new Set(seen)]).toEqual([
    `${former} leads to https://${former}`,
    `${host} leads to https://${former}`,
    `${host} leads to https://${host}`,
  ]);
  expect(moved.out).toMatch(/! Also served at (\S+)\. .*: npm run deploy -- --give-up \1\n/);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: true, domains: [host] });
  expect((await deploy(`--give-up ${former}`)).code).toBe(0);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: false, domains: [host] });
  // Nor is it served there again, until the domain is given up in turn.
  await deploy();
  expect(account.workers.get(name)?.isAtWorkersDev).toBe(false);
  const back = await deploy('--domain none');
  expect(back.out).toContain(`! Also served at ${host}.`);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: true, domains: [host] });
});
