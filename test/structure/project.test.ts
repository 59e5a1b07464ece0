import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { partsOf, proofs } from '#test/parts.ts';
import { readJson, readText, root } from '#test/support/node/index.ts';
import { mutants, occurrences } from './mutants.ts';

const read = (path: string) => readText(root, path);
const json = (path: string) => readJson(root, path);
const { dependencies, devDependencies } = json('package.json');
const versions: Record<string, string> = { ...dependencies, ...devDependencies };

it('names one version of each package, and no registry', () => {
  expect(Object.entries(versions).filter(([, version]) => !/^\d[\w.-]*$/.test(version))).toEqual(
    [],
  );
  expect(read('package-lock.json')).not.toMatch(/"resolved"/);
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

const files = globSync('test/**/*.test.*', { cwd: root });

/** The projects that run a file when Vitest is started by an npm script. */
const runIn = (script: string, file: string): string[] =>
  Object.entries(partsOf(script)).flatMap(([name, { include, exclude }]) => {
    const isIn = (globs: string[]) => globs.some((glob) => matchesGlob(file, glob));
    return isIn(include) && !isIn(exclude) ? name : [];
  });

it('each test file is run once: by `npm test`, or by `npm run proof`', () => {
  const isProof = (file: string) => matchesGlob(file, proofs);
  const wrong = files.filter(
    (file) =>
      runIn('proof', file).length !== 1 || runIn('test', file).length !== (isProof(file) ? 0 : 1),
  );
  expect(wrong).toEqual([]);
  expect(files.filter(isProof).length).toBeGreaterThan(10);
});

it('each file of proofs says so to Vitest as well, in its first line', () => {
  const isTagged = (file: string) => /^\/\/ @module-tag proof\n/.test(read(file));
  expect(files.filter((file) => isTagged(file) !== matchesGlob(file, proofs))).toEqual([]);
});

it('each mutant breaks a rule that is there, once', () => {
  expect(mutants.filter((mutant) => occurrences(mutant) !== 1)).toEqual([]);
});

const connectors = globSync('src/extras/providers/*/connector.ts', {
  cwd: root,
  exclude: ['**/connector/connector.ts'], // what they are made of
});

/** The names of properties that files of a provider read, by the functions of `read.ts`. */
const namesRead = (path: string): string[] =>
  globSync(`${dirname(path)}/*.ts`, { cwd: root }).flatMap((file) =>
    [
      ...read(file).matchAll(
        /\b(?:at|field|numeric|idAt|itemsAt|listAt|sameFields|joinedFields|reference|timeAt|placeIn)\(([^;{}]*?)\)/g,
      ),
    ].flatMap(([, given = '']) => [...given.matchAll(/'([\w.]+)'/g)].map(([, name = '']) => name)),
  );

describe.each(connectors)('%s', (path) => {
  it('wants each property that its provider is read for, or the property would never come', () => {
    const lists = read(path).matchAll(/wantedNames\(\s*[`']([^`']*)/g);
    const wanted = [...lists].flatMap(([, list = '']) => list.trim().split(/\s+/));
    expect(wanted).not.toEqual([]);
    expect(namesRead(path).filter((name) => !wanted.includes(name))).toEqual([]);
  });
});
