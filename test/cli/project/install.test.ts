import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText, root, temporaryFolder } from '#test/support/node/index.ts';

const folder = temporaryFolder();

const install = () =>
  execFileSync(process.execPath, [join(root, 'src/cli/project/install.js')], {
    cwd: folder,
    encoding: 'utf8',
  });
const read = (file: string) => readText(folder, file);
const write = (file: string, content: object) =>
  writeFileSync(join(folder, file), JSON.stringify(content));

it('installing says how long it takes, and nothing when every package is there', () => {
  const project = { name: 'project', version: '1.0.0', devDependencies: { part: 'file:part' } };
  mkdirSync(join(folder, 'part'));
  write('part/package.json', { name: 'part', version: '1.0.0' });
  write('package.json', project);
  expect(install()).toMatch(/^Installing packages\. .*about a minute/);
  expect(install()).toBe('');
  // Other registries have other packages for other systems: the lock file stays.
  write('package-lock.json', JSON.parse(read('package-lock.json')));
  const locked = read('package-lock.json');
  rmSync(join(folder, 'node_modules'), { recursive: true });
  expect(install()).toMatch(/^Installing packages\./);
  expect([read('package-lock.json'), install()]).toEqual([locked, '']);
  write('package.json', { ...project, devDependencies: {} });
  expect(install()).toMatch(/^Installing packages\./);
});
