// More than 15 s: a deploy for each address, with wrangler.
import { Hono } from 'hono';
import { addressesOf, attach, giveUp, originOf } from '#src/cli/deploy/addresses.ts';
import { planOf } from '#src/cli/deploy/plan.ts';
import { apiAt } from '#src/cli/project/cloudflare.ts';
import { type Cloudflare, newAccount, newWorker } from '#test/support/node/cloudflare.ts';
import { cloud, copyProject, deploy } from '#test/support/node/deploy.ts';

const host = 'api.example.com';

describe('a host', () => {
  let account: Cloudflare;
  const api = () => apiAt(`/accounts/${account.id}`, {});
  const domainsOf = (worker: string) => account.workers.get(worker)?.domains;
  beforeEach(() => {
    account = newAccount();
    vi.stubEnv('CLOUDFLARE_API_BASE_URL', 'http://localhost');
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => account.api.request(url, init));
    account.workers.set('fleet', { ...newWorker(), domains: ['old.example.com'] });
    account.workers.set('shop', { ...newWorker(), domains: ['shop.example.com'] });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
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
    await expect(give(host)).rejects.toThrow(
      'is the address of fleet. Deploy it with another --domain',
    );
    await expect(give('shop.example.com')).rejects.toThrow(
      `does not lead to the Worker fleet: ${host}, fleet.acme.workers.dev.`,
    );
    await give('fleet.acme.workers.dev');
    expect(await addressesOf(api(), 'fleet')).toMatchObject([{ host }]);
    await giveUp(api(), 'fleet', host, 'https://new.example.com');
    expect(await addressesOf(api(), 'fleet')).toEqual([]);
  });

  it('is below workers.dev, unless there is a domain', async () => {
    expect(await originOf(api(), planOf({}))).toBe('https://fleet-data-service.acme.workers.dev');
    expect(await originOf(api(), planOf({ domain: host }))).toBe(`https://${host}`);
    await expect(originOf(api(), planOf({ cell: 'eu' }))).rejects.toThrow(
      "pass the router's host as --domain",
    );
    vi.stubGlobal('fetch', async () =>
      Response.json(
        { result: null, errors: [{ code: 10007, message: 'Not found' }] },
        { status: 404 },
      ),
    );
    await expect(originOf(api(), planOf({}))).rejects.toThrow(
      'Open Workers & Pages in the dashboard once',
    );
  });
});

copyProject();

it('--domain serves at both addresses, links lead to the new one once it responds', async () => {
  const name = 'fleet-data-service';
  const former = `${name}.acme.workers.dev`;
  /** What links of the Worker lead to when a host is asked. */
  const seen: string[] = [];
  const served = new Hono();
  served.post('/operator/check', (c) => c.json({ status: 200, message: 'OK', data: [] }));
  served.get('/health', (c) => {
    const worker = account.workers.get(name);
    const origin = worker?.bindings.find((one) => one.name === 'ORIGIN')?.text;
    const led = `${c.req.header('host')}: ${origin}`;
    if (seen.at(-1) !== led) seen.push(led);
    const headers = { 'X-Request-Id': 'r', 'Worker-Version': worker?.version ?? '' };
    return c.json({ message: 'Healthy' }, 200, headers);
  });
  const { account, network, env } = await cloud([former, host], served);
  expect((await deploy(env, '--location', 'weur')).code).toBe(0);
  // It runs beside its database.
  expect(JSON.stringify(account.workers.get(name)?.placement)).toContain(
    '"region":"aws:eu-west-3"',
  );
  const moved = await deploy(env, '--domain', host);
  expect([moved.code, seen]).toEqual([
    0,
    [`${former}: https://${former}`, `${host}: https://${former}`, `${host}: https://${host}`],
  ]);
  expect(moved.out).toMatch(/! Also served at (\S+)\. .*: npm run deploy -- --give-up \1\n/);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: true, domains: [host] });
  expect((await deploy(env, '--give-up', former)).code).toBe(0);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: false, domains: [host] });
  // Nor is it served there again, until the domain is given up in turn.
  await deploy(env);
  expect(account.workers.get(name)?.isAtWorkersDev).toBe(false);
  const back = await deploy(env, '--domain', 'none');
  expect(back.out).toContain(`! Also served at ${host}.`);
  expect(account.workers.get(name)).toMatchObject({ isAtWorkersDev: true, domains: [host] });
  network.close();
});
