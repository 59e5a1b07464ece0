import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Received, startReceiver } from '../../src/cli/local/receiver.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { api, fleet, fleetJson, journeyAccount, stackFolder, until } from '../support/node/journey.ts';

const folder = stackFolder(undefined, ['eu']);
let stack: Stack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await folder.start();
  us = await journeyAccount(stack, { account: 'Versicherung', connection: 'Vans', home: 'eu' });
});
afterAll(async () => {
  await stack.stop();
  folder.remove();
});

it('an account in another home has its records, lists and deliveries there', async () => {
  expect(us.token).toMatch(/^fds_eu_/);
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received) => void got.push(received));
  await api(stack, us.token, 'POST', '/webhook', {
    connectionIds: [us.connectionId],
    url: `${receiver.url}/eu`,
    httpVerb: 'POST',
    headers: {},
    notificationTypes: [2],
  });
  const { data } = await api(stack, us.ingestKey, 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'van', name: 'Van 1' },
      {
        ...{ kind: 'safetyEvent', sourceId: 'e1', vehicle: 'van', incidentTypes: ['hard_brake'] },
        startedAt: new Date().toISOString(),
      },
    ],
  });
  expect(data).toMatchObject({ accepted: 2 });
  const headers = { 'x-api-key': us.token, 'connection-id': us.connectionId };
  const listed = await fetch(`${stack.baseUrl}/vehicles`, { headers });
  expect(await listed.json()).toMatchObject({ data: [{ name: 'Van 1' }] });
  await until('the event is delivered', () => got.length > 0);
  expect(got[0]?.body.data).toMatchObject({ vehicleName: 'Van 1' });
  receiver.stop();
});

it('the operator sees which accounts live where, and how full each home is', async () => {
  const homes = await fleetJson<object[]>(stack, 'home', 'list');
  expect(homes).toEqual([
    { name: 'main', accounts: 0, bytes: expect.any(Number), share: 0, eventsPerDay: 0, fullOn: null },
    { name: 'eu', accounts: 1, bytes: expect.any(Number), share: 0, eventsPerDay: 0, fullOn: null },
  ]);
  const table = await fleet(stack, 'home', 'list');
  expect(table.out).toMatch(/│ eu +│ 1 +│ 0\.00 of 10 GB \(0 %\) +│ 0 +│ not growing +│/);
  const accounts = await fleet(stack, 'account', 'list');
  expect(accounts.out).toMatch(/Versicherung .* eu +│/);
  const refused = await fleet(stack, 'account', 'create', 'Acme', '--home', 'mars');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('main, eu') });
});

it('keeps the data of all homes from one start to the next', async () => {
  await stack.stop();
  stack = await folder.start();
  const accounts = await fleetJson<{ id: string; home: string }[]>(stack, 'account', 'list');
  expect(accounts).toMatchObject([{ id: us.accountId, home: 'eu' }]);
});
