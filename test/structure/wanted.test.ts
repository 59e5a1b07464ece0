import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const connectors = globSync('src/extras/providers/*/connector.ts', { cwd: root });

/** The names of properties that files of a provider read, by the functions of `read.ts`. */
const namesRead = (path: string): string[] =>
  globSync(`${dirname(path)}/*.ts`, { cwd: root }).flatMap((file) =>
    [
      ...readFileSync(resolve(root, file), 'utf8').matchAll(
        /\b(?:at|field|numeric|idAt|itemsAt|listAt|sameFields|joinedFields|reference|timeAt|placeIn)\(([^;{}]*?)\)/g,
      ),
    ].flatMap(([, given = '']) => [...given.matchAll(/'([\w.]+)'/g)].map(([, name = '']) => name)),
  );

describe.each(connectors)('%s', (path) => {
  it('wants each property that its provider is read for, or the property would never come', () => {
    const lists = readFileSync(resolve(root, path), 'utf8').matchAll(
      /wantedNames\(\s*[`']([^`']*)/g,
    );
    const wanted = [...lists].flatMap(([, list = '']) => list.trim().split(/\s+/));
    expect(wanted.length).toBeGreaterThan(20);
    expect(namesRead(path).filter((name) => !wanted.includes(name))).toEqual([]);
  });
});
