import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../src/cli/local/dev.ts';
import type { Demo } from '../../src/cli/local/directory.ts';
import { cloneSource, npmStart } from '../support/node/clone.ts';
import { api, fleetJson, until } from '../support/node/journey.ts';

const clone = cloneSource();
afterAll(() => clone.remove());
const demoFile = join(clone.folder, '.local/demo.json');

async function start(...args: string[]) {
  const service = await npmStart(clone.folder, await freePort(), '--quiet', ...args);
  await until('it has printed where everything is', () => service.printed().includes('Ctrl-C'), 60);
  return { service, demo: JSON.parse(readFileSync(demoFile, 'utf8')) as Demo };
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
  const { service, demo } = await start('--homes', 'main,eu');
  const eu = demo.homes?.eu;
  expect(demo.apiToken).not.toMatch(/^fds_eu_/);
  expect(eu?.apiToken).toMatch(/^fds_eu_/);
  expect(service.printed()).toContain(`In the home eu        API token ${eu?.apiToken}`);
  const webhooks = await api<{ url: string }[]>(demo, eu?.apiToken ?? '', 'GET', '/webhooks');
  expect(webhooks.data).toMatchObject([{ url: demo.receiver.url }]);
  const page = await fetch(eu?.portalSignInUrl ?? '');
  expect(page.status).toBe(200);
  const accounts = await fleetJson<{ id: string; home: string }[]>(demo, 'account', 'list');
  expect(accounts.map(({ id, home }) => [id, home])).toEqual([
    [demo.accountId, 'main'],
    [eu?.accountId, 'eu'],
  ]);
  await service.stop();
  const again = await start('--homes', 'main,eu,us2');
  expect(again.demo.homes?.eu?.accountId).toBe(eu?.accountId);
  expect(await fleetJson<object[]>(again.demo, 'account', 'list')).toHaveLength(3);
  await again.service.stop();
});
