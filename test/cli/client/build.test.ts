import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClient, clientDirectory } from '#src/cli/client/build.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { temporaryFolder, until, watched } from '#test/support/node/index.ts';
import { samples } from '#test/support/node/samples.ts';

const env = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
const npm = (cwd: string, ...args: string[]) =>
  spawnSync('npm', args, { cwd, env, encoding: 'utf8' });
const quickStart = readGuides().find(({ path }) => path === 'quick-start')?.markdown ?? '';

it('the typed client can be packed and published, as the guide says', { tags: ['proof'] }, () => {
  const cwd = temporaryFolder();
  buildClient();
  const told = /`npm run client && npm (publish) .*` publishes .*`npm (pack) /.exec(quickStart);
  expect(told?.slice(1)).toEqual(['publish', 'pack']);
  const packed = npm(cwd, 'pack', clientDirectory, '--json');
  expect(packed.status, packed.stderr).toBe(0);
  for (const path of ['index.js', 'index.d.ts', 'package.json'])
    expect(packed.stdout).toContain(`"path": "${path}"`);
  const dry = ['--dry-run', '--registry', 'http://localhost:9'];
  expect(npm(cwd, 'publish', clientDirectory, ...dry).stderr).not.toContain('--tag');
});

it('samples run in a folder made by npm init -y, once the command of the guide has run', async () => {
  const cwd = temporaryFolder();
  const { code = '' } = samples.find(({ name }) => name === 'receiver.ts') ?? {};
  writeFileSync(join(cwd, 'receiver.ts'), code);
  const [, command = ''] = /`npm (pkg set [^`]+)`/.exec(quickStart) ?? [];
  for (const args of ['init -y', command]) expect(npm(cwd, ...args.split(' ')).status).toBe(0);
  const settings = { PATH: process.env.PATH, WEBHOOK_SECRET: 's3cret', PORT: '0' };
  const receiver = watched(spawn(process.execPath, ['receiver.ts'], { cwd, env: settings }));
  await until('it listens', () => receiver.printed.includes('listening'), 30);
  receiver.child.kill('SIGKILL');
});
