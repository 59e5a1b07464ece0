import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { siteDirectory } from '../../../src/cli/project/paths.ts';
import { readGuides } from '../../../src/docs/pages/guides.ts';

const file = (path: string) => readFileSync(join(siteDirectory, path), 'utf8');

it('/llms.txt leads programs to each guide and the reference as Markdown, and to the OpenAPI document', () => {
  const links = [...file('llms.txt').matchAll(/\]\((\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(links.slice(-2)).toEqual(['/docs/reference.md', '/openapi.json']);
  expect(links.slice(0, -2).map(file)).toEqual(readGuides().map(({ markdown }) => markdown));
});
