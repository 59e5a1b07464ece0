import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fence } from './blocks.ts';
import { withTables } from './resource-tables.ts';

const below = (folder: string) => (path: string) => `${folder}/${path}`;
const daily = [
  'deploying',
  'first-day',
  'watching',
  'runbook',
  'keys',
  'backups',
  'upgrades',
  'personal-data',
];

/** The guides by the headings of the menu: files of `src/docs/guides`. */
export const guideGroups = [
  { heading: 'Start', paths: ['', 'quick-start', 'authentication'] },
  {
    heading: 'Receive',
    paths: ['receiving', 'reliability', 'webhooks', 'signatures', 'events', 'testing'],
  },
  { heading: 'Read', paths: ['lists', 'changes', 'moving-from-polling'] },
  {
    heading: 'Connect',
    paths: ['providers', ...['samsara', 'geotab', 'motive', 'terminal'].map(below('providers'))],
  },
  { heading: 'Send', paths: ['connectors', 'records'] },
  { heading: 'Look up', paths: ['portal', 'errors', 'limits', 'versioning', 'changelog'] },
  {
    heading: 'Operate',
    paths: [
      'operating',
      ...[...daily, 'costs-and-limits', 'cells', 'archive'].map(below('operating')),
    ],
  },
];

export const guidePaths: string[] = guideGroups
  .flatMap(({ paths }) => paths)
  .filter((path) => path !== '');

/** A guide's path below `/docs` (empty for the first page), its title and its Markdown. */
export type Guide = { path: string; title: string; markdown: string };

export const hrefOf = ({ path }: Guide): string => (path ? `/docs/${path}` : '/docs');

/** Reads all guides, the overview first. @throws Error, when one has no title */
export const readGuides = (): Guide[] => ['', ...guidePaths].map(readGuide);

function readGuide(path: string): Guide {
  const file = `${path || 'index'}.md`;
  const markdown = withTables(withSamples(read('guides', file)));
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (!title) throw new Error(`${file} has no title: its first heading, "# …"`);
  return { path, title, markdown };
}

const read = (...path: string[]) => readFileSync(join(import.meta.dirname, '..', ...path), 'utf8');

/** Replaces `<!-- sample sync.py -->` by that file of `src/docs/samples`. */
const withSamples = (markdown: string): string =>
  markdown.replace(/<!-- sample (\S+) -->/g, (_, name) =>
    fence(`python ${name}`, read('samples', name).trimEnd()),
  );
