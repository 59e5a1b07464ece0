// @module-tag proof
// More than 15 s: starts two cells, and goes through all that a service does in each.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAccount } from '#src/cli/demo/account.ts';
import { callWebhook } from '#src/cli/demo/provider.ts';
import { startDev } from '#src/cli/local/dev.ts';
import { fakeSamsara } from '#src/dev/fakes/samsara.ts';
import {
  accident,
  inCell,
  type JourneyAccount,
  journeyAccount,
  mailedLinks,
  operatorOf,
  ownStack,
  type Received,
  readJson,
  safetyEvent,
  startProvider,
  startReceiver,
  temporaryFolder,
  until,
  vehicle,
} from '#test/support/node/index.ts';
import { openIdBrowser } from '#test/support/node/openid.ts';

const cells = ['main', 'eu'];
const stack = ownStack({ cells });
const accounts: Record<string, JourneyAccount> = {};
beforeAll(async () => {
  for (const cell of cells)
    accounts[cell] = await journeyAccount(inCell(stack, cell), {
      account: `Fleet of ${cell}`,
      connection: `Vans of ${cell}`,
    });
});
const accountIn = (cell: string) => accounts[cell] as JourneyAccount; // as made above

const browser = () => openIdBrowser(stack.baseUrl);

/** The links in the mails to an address. */
const linksTo = (address: string) => mailedLinks(stack.directory, address);

describe.each(cells)('in the cell %s', (cell) => {
  it('records reach lists and a receiver, and no query the other cell', async () => {
    const us = accountIn(cell);
    const prefix = cell === 'main' ? /^fd[si]_[\w-]{49}$/ : /^fd[si]_eu_[\w-]{49}$/;
    for (const key of [us.token, us.ingestKey]) expect(key).toMatch(prefix);
    const got: Received[] = [];
    const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
    await us.register(`${receiver.url}/main`, { notificationTypes: [1, 2] });
    const now = new Date().toISOString();
    const van = vehicle({ name: `Van of ${cell}` });
    const records = [van, safetyEvent({ startedAt: now }), accident({ eventTime: now })];
    const sent = await us.send(records);
    expect(sent).toMatchObject({ data: { accepted: 3 } });
    await until('both arrive', () => got.length >= 2);
    receiver.stop();
    const range = `from=${now}&to=2100-01-01T00:00:00Z`;
    const paths = ['/vehicles', `/safety-events?${range}`, '/webhooks', '/deliveries'];
    const headers = { 'fleet-cell': cells.find((one) => one !== cell) ?? '' };
    const queries = async () =>
      (await fetch(`${stack.baseUrl}/strict/queries`, { headers })).text();
    // Again, if other work intervenes.
    await until('they make no queries in the other cell', async () => {
      const before = await queries();
      const lists = await Promise.all(paths.map((path) => us.get(path)));
      expect(lists.every((list) => list.length > 0)).toBe(true);
      expect(lists[0]).toMatchObject([{ name: van.name }]);
      return (await queries()) === before;
    });
  });

  it('a provider’s webhook, at the address on the page, makes a pull due', async () => {
    const secret = Buffer.from('a secret of the provider');
    const none = { drivers: [], trips: [], events: [], vehicles: [] };
    const data = { organisation: `Depot of ${cell}`, token: 'samsara_api_test', ...none };
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
});

async function signedIn(cell: string, accountId: string) {
  const email = `${crypto.randomUUID()}@example.com`;
  const operator = operatorOf(inCell(stack, cell));
  await operator.call('POST /accounts/:id/users', { id: accountId, body: { email } });
  const { url } = await operator.call('POST /sign-in-links', { body: { email } });
  const ask = browser();
  expect((await ask.post(url)).to).toBe(`${stack.baseUrl}/portal`);
  return ask;
}

it('a person of both cells is mailed a link by each, and signs in to that one', async () => {
  const email = 'ann@example.com';
  for (const cell of cells)
    await operatorOf(inCell(stack, cell)).call('POST /accounts/:id/users', {
      id: accountIn(cell).accountId,
      body: { email },
    });
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
  const router = readJson(stack.directory, 'wrangler.json').name;
  const config = {
    name: 'connector',
    main: 'connector.js',
    compatibility_date: '2026-11-01',
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
    const names = (await us.get<{ name: string }[]>('/vehicles')).map(({ name }) => name);
    expect(cells.filter((one) => names.includes(`Bound in ${one}`))).toEqual([cell]);
  }
  expect(await send('junk', 'x')).toMatchObject({ status: 401 });
});
