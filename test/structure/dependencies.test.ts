import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { dependencies, devDependencies } = json('package.json');
const versions: Record<string, string> = { ...dependencies, ...devDependencies };

it('names one version of each package, and no registry', () => {
  expect(Object.entries(versions).filter(([, version]) => !/^\d[\w.-]*$/.test(version))).toEqual([]);
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"/);
});

it('deploys with the wrangler whose runtime the tests have', () => {
  const plugin = json('node_modules/@cloudflare/vitest-plugin/package.json');
  expect(versions.wrangler).toBe(plugin.dependencies.wrangler);
});

it('has the types of the Node that it runs on', () => {
  expect(versions['@types/node']?.split('.')[0]).toBe(versions.node?.split('.')[0]);
});
