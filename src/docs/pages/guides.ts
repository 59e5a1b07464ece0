import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTables } from './resource-tables.ts';

/** The guides in their order: each a file of `src/docs/guides`, and a page under `/docs`. Adding one is a line here. */
export const guidePaths = [
  'quick-start',
  'authentication',
  'pagination',
  'webhooks',
  'errors-and-limits',
  'limits',
  'moving-from-polling',
  'connectors',
  'versioning',
  'changelog',
] as const;

/** A guide's path below `/docs` (empty for the first page), its title and its text in Markdown. */
export type Guide = { path: string; title: string; markdown: string };

/** Reads all guides, with the page that leads to them first. @throws Error when one has no title */
export const readGuides = (): Guide[] => ['', ...guidePaths].map(readGuide);

function readGuide(path: string): Guide {
  const file = `${path || 'index'}.md`;
  const markdown = withTables(readFileSync(join(import.meta.dirname, '../guides', file), 'utf8'));
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (!title) throw new Error(`${file} has no title: its first heading, "# …"`);
  return { path, title, markdown };
}
