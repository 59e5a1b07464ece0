import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { dependencies, devDependencies } = json('package.json');
const versions: Record<string, string> = { ...dependencies, ...devDependencies };

it('names one version of each package, and no registry', () => {
  expect(Object.entries(versions).filter(([, version]) => !/^\d[\w.-]*$/.test(version))).toEqual(
    [],
  );
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"/);
});

it('deploys with the wrangler whose runtime the tests have', () => {
  const plugin = json('node_modules/@cloudflare/vitest-plugin/package.json');
  expect(versions.wrangler).toBe(plugin.dependencies.wrangler);
});

it('has the types of the Node that it runs on', () => {
  expect(versions['@types/node']?.split('.')[0]).toBe(versions.node?.split('.')[0]);
});

async function published(name: string): Promise<{ latest: string; time: Record<string, string> }> {
  const { stdout } = await promisify(execFile)('npm', [
    'view',
    name,
    'time',
    'dist-tags',
    '--json',
  ]);
  const { time, 'dist-tags': tags } = JSON.parse(stdout);
  return { latest: tags.latest, time };
}

/** As part of `npm run proof -- --full`, since it asks the registry. */
it.runIf(process.env.FULL_PROOF)('is a year behind no package', async ({ skip }) => {
  const yearMs = 365 * 86_400_000;
  const behind: string[] = [];
  for (const [name, version] of Object.entries(versions)) {
    const { latest, time } = await published(name).catch(() => skip('without a network'));
    const at = (one: string) => Date.parse(time[one] ?? '');
    if (!(at(latest) - at(version) <= yearMs)) behind.push(`${name} ${version}: ${latest}`);
  }
  expect(behind).toEqual([]);
});
