import { globSync } from 'node:fs';
import { readGuides } from '#src/docs/pages/guides.ts';
import { readText, root } from '#test/support/node/index.ts';

const read = (path: string) => readText(root, path);

/** Phrases that do not come back in what people read, and what to write instead. */
const instead = read('test/structure/words.txt')
  .trim()
  .split('\n')
  .map((line) => line.split(' → '));

const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm;

/** Guides, documents, and the code of all that people see, without its comments: each in one line. */
const published = [
  ...readGuides().map(({ path, markdown }) => ({ name: `/docs/${path}`, text: markdown })),
  ...globSync(
    [
      'README.md',
      'src/cli/bench/RESULTS.md',
      'src/docs/contributing/*.md',
      'src/docs/openapi/published/*.json',
      'src/{portal,ui,texts,cli,extras,core/accounts,operator}/**/*.{ts,tsx}',
    ],
    { cwd: root },
  ).map((name) => ({ name, text: read(name).replace(/tsx?$/.test(name) ? comments : '', '') })),
].map(({ name, text }) => ({ name, text: text.replaceAll(/\s+/g, ' ') }));

it.each(instead)('nobody reads "%s", but "%s"', (phrase) => {
  const found = published.flatMap(({ name, text }) =>
    [...text.matchAll(new RegExp(`\\b(?:${phrase})\\b`, 'gi'))].map(
      ({ 0: { length }, index }) =>
        `${name}: ${text.slice(Math.max(0, index - 40), index + length + 20)}`,
    ),
  );
  expect(found).toEqual([]);
});
