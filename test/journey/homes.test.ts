import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../src/cli/local/dev.ts';
import type { Demo, DemoHome } from '../../src/cli/local/directory.ts';
import { cloneSource, npmStart } from '../support/node/clone.ts';
import { api, fleet, fleetJson, until } from '../support/node/journey.ts';

// One service after the other in the same clone: each test goes on with what the one before has left.

const clone = cloneSource();
let service: Awaited<ReturnType<typeof npmStart>> | undefined;
let demo: Demo;
let eu: DemoHome;
afterAll(async () => {
  await service?.stop();
  clone.remove();
});

async function start(...args: string[]): Promise<void> {
  const started = await npmStart(clone.folder, await freePort(), '--quiet', ...args);
  service = started;
  await until('it has printed where everything is', () => started.printed().includes('Ctrl-C'), 60);
  demo = JSON.parse(readFileSync(join(clone.folder, '.local/demo.json'), 'utf8'));
}

it.each([
  ['main,EU', 'not "EU"'],
  ['main,eu,eu', 'The home eu is named twice'],
  ['main,', 'not ""'],
  ['eu,us2', 'main must be among them: main,eu,us2'],
])('npm start -- --homes %s is refused before anything starts', (homes, reason) => {
  const program = join(clone.folder, 'src/cli/start.ts');
  const { status, stderr } = spawnSync(process.execPath, [program, '--homes', homes], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
  expect(existsSync(join(clone.folder, '.local'))).toBe(false);
});

it('npm start -- --homes runs several homes, each with a demo account', async () => {
  await start('--homes', 'main,eu');
  if (!demo.homes?.eu) throw new Error('There is no demo account in eu');
  eu = demo.homes.eu;
  expect(demo.apiToken).not.toMatch(/^fds_eu_/);
  expect(eu.apiToken).toMatch(/^fds_eu_/);
  expect(service?.printed()).toContain(`In the home eu        API token ${eu.apiToken}`);
  const webhooks = await api<{ url: string }[]>(demo, eu.apiToken, 'GET', '/webhooks');
  expect(webhooks.data).toMatchObject([{ url: demo.receiver.url }]);
  const page = await fetch(eu.portalSignInUrl);
  expect(page.status).toBe(200);
});

it('an account in another home has its records, lists and deliveries there', async () => {
  const [connection] = eu.connections;
  const { data } = await api(demo, connection?.ingestKey ?? '', 'POST', '/ingest', {
    records: [
      { kind: 'vehicle', sourceId: 'van', name: 'Van 1' },
      {
        ...{ kind: 'safetyEvent', sourceId: 'e1', vehicle: 'van', incidentTypes: ['hard_brake'] },
        startedAt: new Date().toISOString(),
      },
    ],
  });
  expect(data).toMatchObject({ accepted: 2 });
  const headers = { 'x-api-key': eu.apiToken, 'connection-id': connection?.id ?? '' };
  const listed = await fetch(`${demo.baseUrl}/vehicles`, { headers });
  expect(await listed.json()).toMatchObject({ data: [{ name: 'Van 1' }] });
  await until('the event is delivered', () => /Harsh Braking {2}Van 1/.test(service?.printed() ?? ''));
});

it('the operator sees which accounts live where, and how full each home is', async () => {
  const empty = { accounts: 1, bytes: expect.any(Number), share: 0, eventsPerDay: 0, fullOn: null };
  expect(await fleetJson(demo, 'home', 'list')).toEqual([
    { name: 'main', ...empty },
    { name: 'eu', ...empty },
  ]);
  const table = await fleet(demo, 'home', 'list');
  expect(table.out).toMatch(/│ eu +│ 1 +│ 0\.00 of 10 GB \(0 %\) +│ 0 +│ not growing +│/);
  const accounts = await fleet(demo, 'account', 'list');
  expect(accounts.out).toMatch(/Demo Fleet in eu .* eu +│/);
  const refused = await fleet(demo, 'account', 'create', 'Acme', '--home', 'mars');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('main, eu') });
});

it('keeps the data of all homes from one start to the next, which may have more of them', async () => {
  const main = demo.accountId;
  await service?.stop();
  await start('--homes', 'main,eu,us2');
  expect(demo.homes?.eu?.accountId).toBe(eu.accountId);
  const accounts = await fleetJson<{ id: string; home: string }[]>(demo, 'account', 'list');
  expect(accounts.map(({ id, home }) => [id, home])).toEqual([
    [main, 'main'],
    [eu.accountId, 'eu'],
    [demo.homes?.us2?.accountId, 'us2'],
  ]);
});
