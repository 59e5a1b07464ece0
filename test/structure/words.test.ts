import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readGuides } from '#src/docs/pages/guides.ts';

/** Phrases that do not come back in what people read, and what to write instead. */
const instead: Record<string, string> = {
  'taken in|takes? in|took in': 'accepted, processed',
  '(is|are|be|been|was|were|nobody|we) told|told of': 'notified',
  'tells (of|what|nobody|you of)': 'returns, notifies',
  '(has become|becomes?|became) of': 'the status of',
  'looks? after': 'manage',
  'goes by|go by': 'use, decide by',
  '(comes?|came) again': 'is resent, is repeated',
  'counts? for nothing': 'is ignored',
  'in force': 'takes effect',
  'needs? somebody|needs a look': 'needs attention',
  '(looked|looking|look) into (it|the)': 'reviewed, checking',
  'called (too often|no more)': 'is rate limiting, no more deliveries',
  'answers? (\\d+|with|without|in time)|(your|its|no) answer|(does|did) not answer':
    'responds, response',
  'words without a type': 'unmapped incident labels',
  'led on|leads? on': 'forwarded',
  'lapses?|lapsed': 'expires',
  anew: 'again',
  'goes on|go on': 'continues',
  'drops? repeats': 'ignore repeats',
  'no terminal to': 'stdin is not a terminal',
  "(nobody|replica)'s word": 'confirms',
  'told|tell (them|us|people|customers)': 'notified, inform',
  'answers|answered': 'responses, responds',
  'made known': 'reported',
  'says of': 'has',
  'sends? in|sent in(?! \\d)': 'sends',
  'by turns|in turn': 'alternately, one by one',
  'so many times': 'how often',
  'what (waits|is waiting|remains)': 'pending deliveries, the rest',
  'what came of': 'the result of',
  'stand in for': 'replace',
  'whatever it waits': 'ignoring any wait',
  'more follow': 'on this page',
  'no such (accidents|events|trips)': 'no accidents yet',
  'additions? to the specification': 'nothing: clients do not care',
  'is no field': 'is not a field',
  'stored, processed|processed and logged|data must stay':
    'stored: a jurisdiction says nothing else',
};

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm;

/** Guides, documents, and the code of all that people see, without its comments. */
const published: [name: string, text: string][] = [
  ...readGuides().map(({ path, markdown }): [string, string] => [`/docs/${path}`, markdown]),
  ...[
    'README.md',
    'src/cli/bench/RESULTS.md',
    ...globSync(['src/docs/contributing/*.md', 'src/docs/openapi/published/*.json'], { cwd: root }),
  ].map((path): [string, string] => [path, read(path)]),
  ...globSync('src/{portal,ui,texts,cli,extras,core/accounts,operator}/**/*.{ts,tsx}', {
    cwd: root,
  }).map((path): [string, string] => [path, read(path).replace(comments, '')]),
];

const inOneLine = published.map(([name, text]) => ({ name, text: text.replaceAll(/\s+/g, ' ') }));

it.each(Object.entries(instead))('nobody reads "%s", but "%s"', (phrase) => {
  const found = inOneLine.flatMap(({ name, text }) =>
    [...text.matchAll(new RegExp(`\\b(?:${phrase})\\b`, 'gi'))].map(
      ({ 0: { length }, index }) =>
        `${name}: ${text.slice(Math.max(0, index - 40), index + length + 20)}`,
    ),
  );
  expect(found).toEqual([]);
});
