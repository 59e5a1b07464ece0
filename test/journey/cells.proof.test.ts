// More than 15 s: starts two cells, and goes through all that a service does in each.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAccount } from '#src/cli/demo/account.ts';
import { callWebhook } from '#src/cli/demo/provider.ts';
import { startDev } from '#src/cli/local/dev.ts';
import { type Received, startReceiver } from '#src/cli/local/receiver.ts';
import { operatorOf } from '#src/cli/operate/client.ts';
import { fakeSamsara, samsaraVehicle } from '#src/dev/fakes/samsara.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import {
  addWebhook,
  api,
  fleet,
  fleetJson,
  inCell,
  type JourneyAccount,
  journeyAccount,
  listed,
  ownStack,
  until,
} from '#test/support/node/journey.ts';
import { openIdBrowser } from '#test/support/node/openid.ts';
import { startProvider } from '#test/support/node/provider.ts';
import { accident, safetyEvent, vehicle } from '#test/support/records.ts';

const cells = ['main', 'eu'];
const stack = ownStack({ cells });
const accounts: Record<string, JourneyAccount> = {};
beforeAll(async () => {
  for (const cell of cells)
    accounts[cell] = await journeyAccount(inCell(stack, cell), {
      ...{ account: `Fleet of ${cell}`, connection: `Vans of ${cell}` },
    });
});
const accountIn = (cell: string) => accounts[cell] as JourneyAccount; // as made above

const browser = () => openIdBrowser(stack.baseUrl);

/** The links in the mails to an address, which the local service keeps where its log says. */
const linksTo = (address: string): string[] =>
  [...wranglerLog().matchAll(new RegExp(`^To: ${address}$[\\s\\S]*?^Text: (.+)$`, 'gm'))].flatMap(
    ([, file = '']) =>
      [...readFileSync(file, 'utf8').matchAll(/https?:\S+/g)].map(([link]) => link),
  );

const wranglerLog = () => readFileSync(join(stack.directory, 'wrangler.log'), 'utf8');

/** Does something that makes no queries in these cells; again, if other work intervenes. */
async function withoutQueriesIn(cells: string[], work: () => Promise<void>): Promise<void> {
  const queries = async (cell: string) =>
    (await fetch(`${stack.baseUrl}/strict/queries`, { headers: { 'fleet-cell': cell } })).text();
  await until(`there are no queries in ${cells}`, async () => {
    const before = await Promise.all(cells.map(queries));
    await work();
    return `${await Promise.all(cells.map(queries))}` === `${before}`;
  });
}

describe.each(cells)('in the cell %s', (cell) => {
  const other = cells.find((one) => one !== cell) ?? '';

  it('records reach lists and a receiver, and no query the other cell', async () => {
    const us = accountIn(cell);
    const prefix = cell === 'main' ? /^fd[si]_[A-Za-z0-9-]{2}/ : /^fd[si]_eu_/;
    for (const key of [us.token, us.ingestKey]) expect(key).toMatch(prefix);
    const got: Received[] = [];
    const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
    await addWebhook(stack, us, `${receiver.url}/main`, { notificationTypes: [1, 2] });
    const now = new Date().toISOString();
    const van = vehicle({ name: `Van of ${cell}` });
    const records = [van, safetyEvent({ startedAt: now }), accident({ eventTime: now })];
    const sent = await api(stack, us.ingestKey, 'POST', '/ingest', { records });
    expect(sent).toMatchObject({ data: { accepted: 3 } });
    await until('both arrive', () => got.length >= 2);
    receiver.stop();
    const range = `from=${now}&to=2100-01-01T00:00:00Z`;
    const paths = [
      '/vehicles',
      `/safety-events?${range}`,
      '/connections',
      '/webhooks',
      '/deliveries',
    ];
    await withoutQueriesIn([other], async () => {
      const lists = await Promise.all(paths.map((path) => listed(stack, us, path)));
      expect(lists.every((list) => list.length > 0)).toBe(true);
      expect(lists[0]).toMatchObject([{ name: `Van of ${cell}` }]);
    });
  });

  it('a provider’s webhook, at the address on the page, makes a pull due', async () => {
    const secret = Buffer.from('a secret of the provider');
    const van = samsaraVehicle(1, { name: 'Pulled van', model: 'eCascadia' });
    const organisation = `Depot of ${cell}`;
    const records = { vehicles: [van], drivers: [], trips: [], events: [] };
    const data = { organisation, token: 'samsara_api_test', ...records };
    const provider = await startProvider(fakeSamsara(data));
    onTestFinished(() => provider.stop());
    const operator = operatorOf(inCell(stack, cell));
    const { connections, accountId } = await openAccount(operator, `Pulled in ${cell}`, [
      { provider: 'samsara', name: 'Pulled', credential: data.token, baseUrl: provider.url },
    ]);
    const id = connections[0]?.id ?? '';
    const body = { secret: secret.toString('base64') };
    await operator.call('PUT /connections/:id/webhook-secret', { id, body });
    const page = await (await signedIn(cell, accountId)).get(`/portal/connections/${id}`);
    const [url = ''] = /http:\/\/[^"<]+\/providers\/[^"<]+\/webhook/.exec(page.html) ?? [];
    expect(url).toBe(
      `${stack.baseUrl}/providers/${cell === 'main' ? '' : `${cell}.`}${id}/webhook`,
    );
    expect((await callWebhook(url, secret)).status).toBe(200);
    expect((await callWebhook(url, Buffer.from('another'))).status).toBe(401);
  });

  it('a connect link opens the page of its account', async () => {
    const { accountId } = accountIn(cell);
    const asked = { id: accountId, body: { name: 'Ann' } };
    const { url } = await operatorOf(inCell(stack, cell)).call(
      'POST /accounts/:id/connect-links',
      asked,
    );
    expect(url).toContain(`/portal/connect?secret=${cell === 'main' ? '' : `${cell}.`}`);
    expect((await browser().get(url)).text).toContain(`Connect your fleet to Fleet of ${cell}`);
  });

  it('an export is downloaded with the tool and in the portal', async () => {
    const { accountId } = accountIn(cell);
    const files = temporaryFolder();
    const args = ['--account', accountId, '--lists', 'vehicles', '--output', files];
    expect(await fleet(inCell(stack, cell), 'export', ...args)).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(join(files, 'vehicles.csv'), 'utf8')).toContain(`Van of ${cell}`);
    const ask = await signedIn(cell, accountId);
    const page = await ask.get('/portal/settings/exports');
    const [file = ''] = /\/portal\/settings\/exports\/[0-9a-f-]{36}\/[^"]+/.exec(page.html) ?? [];
    expect((await ask.get(file)).text).toContain(`Van of ${cell}`);
  });
});

async function signedIn(cell: string, accountId: string) {
  const email = `${crypto.randomUUID()}@example.com`;
  await fleetJson(inCell(stack, cell), 'user', 'add', email, '--account', accountId);
  const { url } = await operatorOf(inCell(stack, cell)).call('POST /sign-in-links', {
    body: { email },
  });
  const ask = browser();
  expect((await ask.post(url)).to).toBe(`${stack.baseUrl}/portal`);
  return ask;
}

it('a person of both cells is mailed a link by each, and signs in to that one', async () => {
  const email = 'ann@example.com';
  for (const cell of cells)
    await fleetJson(
      inCell(stack, cell),
      'user',
      'add',
      email,
      '--account',
      accountIn(cell).accountId,
    );
  const ask = browser();
  expect((await ask.get('/portal')).to).toBe(`${stack.baseUrl}/portal/sign-in`);
  expect((await ask.post('/portal/sign-in', { email })).text).toContain('a link is on its way');
  await until('both mails are there', () => linksTo(email).length >= 2);
  for (const cell of cells) {
    const link =
      linksTo(email).find((one) => one.includes('/sign-in/link?secret=eu.') === (cell === 'eu')) ??
      '';
    expect((await ask.get(link)).status).toBe(200);
    expect((await ask.post(link)).to).toBe(`${stack.baseUrl}/portal`);
    expect(ask.jar.get('session')?.startsWith('eu.')).toBe(cell === 'eu');
    expect((await ask.get('/portal')).text).toContain(`Fleet of ${cell}`);
  }
});

it('a connector that is a Worker reaches both cells by its binding to the router', async () => {
  const directory = temporaryFolder();
  writeFileSync(
    join(directory, 'connector.js'),
    'export default { fetch: async (request, env) => Response.json(await env.INGEST.records(...await request.json())) }',
  );
  const router = JSON.parse(readFileSync(join(stack.directory, 'wrangler.json'), 'utf8')).name;
  const config = {
    ...{ name: 'connector', main: 'connector.js', compatibility_date: '2026-11-01' },
    services: [{ binding: 'INGEST', service: router, entrypoint: 'Ingest' }],
  };
  writeFileSync(join(directory, 'wrangler.json'), JSON.stringify(config));
  const env = { WRANGLER_REGISTRY_PATH: join(stack.directory, 'registry') };
  const connector = await startDev(directory, 0, env, [
    '--config',
    join(directory, 'wrangler.json'),
  ]);
  onTestFinished(() => connector.stop());
  const send = async (key: string, name: string) => {
    const body = JSON.stringify([key, { records: [{ kind: 'vehicle', sourceId: name, name }] }]);
    return (await fetch(connector.baseUrl, { method: 'POST', body })).json();
  };
  for (const cell of cells) {
    const us = accountIn(cell);
    expect(await send(us.ingestKey, `Bound in ${cell}`)).toMatchObject({
      status: 200,
      data: { accepted: 1 },
    });
    const names = (await listed<{ name: string }>(stack, us, '/vehicles')).map(({ name }) => name);
    expect(cells.filter((one) => names.includes(`Bound in ${one}`))).toEqual([cell]);
  }
  expect(await send('junk', 'x')).toMatchObject({ status: 401 });
});

it('junk reaches no cell', async () => {
  const ofUs = accountIn('eu').token.replace('fds_eu_', 'fds_us_');
  const junk = ['', 'x', 'fds_eu_', ofUs, `${accountIn('main').token}x`];
  const ids: string[] = [];
  await withoutQueriesIn(cells, async () => {
    for (const key of junk)
      for (const path of ['/webhooks', '/ingest', '/nothing']) {
        const init = { method: 'POST', headers: { 'x-api-key': key }, body: '{}' };
        const reply = await fetch(stack.baseUrl + path, init);
        expect(await reply.json()).toMatchObject({
          status: 401,
          message: 'Invalid or expired token',
        });
        ids.push(reply.headers.get('x-request-id') ?? '');
      }
  });
  const linesOf = (id: string) => wranglerLog().match(new RegExp(`^.*${id}.*$`, 'gm')) ?? [];
  await until('all are logged', () => ids.every((id) => linesOf(id).length > 0));
  expect(ids.flatMap(linesOf).filter((line) => !line.startsWith('[router'))).toEqual([]);
});
