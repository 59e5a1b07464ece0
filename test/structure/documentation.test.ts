import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import { guidePaths } from '#src/docs/pages/guides.ts';
import { headingsOf } from '#src/docs/pages/markdown.ts';
import { markdownFiles } from './source.ts';

const root = resolve(import.meta.dirname, '../..');
const guides = join(root, 'src/docs/guides');
const servedBesidesGuides = [
  '/docs/reference',
  '/docs/fleet-data-service.openapi.json',
  '/openapi.json',
  '/openapi.operator.json',
  '/llms.txt',
  '/portal',
];

const pages = markdownFiles(root).map(({ path: name, text }) => {
  const tokens = new MarkdownIt({ linkify: false }).parse(text, {});
  const inline = tokens.flatMap(({ children }) => children ?? []);
  return { file: join(root, name), name, inline, ids: headingsOf(tokens).map(({ id }) => id) };
});
type Page = (typeof pages)[number];

const linksOf = ({ inline }: Page): string[] =>
  inline.flatMap((token) => {
    const link = token.attrGet(token.type === 'image' ? 'src' : 'href');
    return typeof link === 'string' ? [link] : [];
  });

/** The file that a link of `page` leads to; undefined for one that leads out of the repository. */
function targetOf(page: Page, link: string): string | undefined {
  const [path = ''] = link.split('#');
  if (/^https?:/.test(path)) return undefined;
  if (path === '') return page.file;
  if (!path.startsWith('/')) return resolve(dirname(page.file), path);
  if (servedBesidesGuides.includes(path)) return undefined;
  return join(guides, `${path.replace(/^\/docs\/?/, '') || 'index'}.md`);
}

describe.each(pages)('$name', (page) => {
  it('has links and anchors that lead somewhere', () => {
    for (const link of linksOf(page)) {
      const target = targetOf(page, link);
      if (!target) continue;
      expect(existsSync(target), link).toBe(true);
      const anchor = link.split('#')[1];
      if (anchor) expect(pages.find(({ file }) => file === target)?.ids, link).toContain(anchor);
    }
  });

  it('has distinct headings', () => {
    expect(new Set(page.ids).size).toBe(page.ids.length);
  });

  it('names only files that exist', () => {
    const named = page.inline.filter(isCode).map(({ content }) => content);
    const paths = named.filter((text) => /^(?:src|test|migrations|\.github)\/[\w./-]+$/.test(text));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

const isCode = ({ type }: Token): boolean => type === 'code_inline';

it.each(['src/docs/contributing/design-notes.md', 'src/cli/bench/RESULTS.md'])(
  '%s is no diary: it has at most 200 lines',
  (path) => {
    expect(readFileSync(join(root, path), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(
      200,
    );
  },
);

it('every page of the documentation is led to from the front page, link by link', () => {
  const found = new Set([join(root, 'README.md')]);
  for (const file of found) {
    const page = pages.find((candidate) => candidate.file === file);
    for (const link of page ? linksOf(page) : []) {
      const target = page && targetOf(page, link);
      if (target?.endsWith('.md')) found.add(target);
    }
  }
  expect(pages.filter(({ file }) => !found.has(file)).map(({ name }) => name)).toEqual([]);
});

it('pages that are served link to served pages alone', () => {
  const served = pages.filter(({ file }) => file.startsWith(guides));
  expect(served).toHaveLength(guidePaths.length + 1);
  for (const page of served)
    expect(linksOf(page).filter((link) => !/^(?:\/|#|https:)/.test(link))).toEqual([]);
});
