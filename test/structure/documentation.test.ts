import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import MarkdownIt from 'markdown-it';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { guidePaths } from '#src/docs/pages/guides.ts';
import { headingsOf } from '#src/docs/pages/markdown.ts';
import { readText, root } from '#test/support/node/index.ts';
import { strictMigrations } from '#test/support/node/migrations.ts';
import { markdownFiles, sourceFiles } from './source.ts';
import { roomOrder } from './structure.ts';

const guides = join(root, 'src/docs/guides');
const servedBesidesGuides =
  /^\/(?:docs\/reference|llms\.txt|portal|.*openapi(?:\.operator)?\.json)$/;

const pages = markdownFiles(root).map(({ path: name, text }) => {
  const tokens = new MarkdownIt({ linkify: false }).parse(text, {});
  const inline = tokens.flatMap(({ children }) => children ?? []);
  return {
    file: join(root, name),
    name,
    text,
    inline,
    ids: headingsOf(tokens).map(({ id }) => id),
  };
});
type Page = (typeof pages)[number];

const linksOf = ({ inline }: Page): string[] =>
  inline.flatMap(
    (token) => `${token.attrGet(token.type === 'image' ? 'src' : 'href') ?? ''}` || [],
  );

/** The file that a link of `page` leads to; undefined for one that leads out of the repository. */
function targetOf(page: Page, link: string): string | undefined {
  const [path = ''] = link.split('#');
  if (/^https?:/.test(path)) return undefined;
  if (path === '') return page.file;
  if (!path.startsWith('/')) return resolve(dirname(page.file), path);
  if (servedBesidesGuides.test(path)) return undefined;
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
    const code = page.inline.filter(({ type }) => type === 'code_inline');
    const paths = code
      .map(({ content }) => content)
      .filter((text) => /^(?:src|test|migrations|\.github)\/[\w./-]+$/.test(text));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

const words = new Set(sourceFiles(root).flatMap(({ text }) => text.match(/\w+/g) ?? []));
it.each(pages.filter(({ name }) => name.includes('/contributing/')))(
  '$name names only code that exists',
  ({ inline }) => {
    const names = inline
      .filter(({ type }) => type === 'code_inline')
      .flatMap(({ content }) => /^([a-z]+(?:[A-Z][a-z]+)+)\b(?!-)/.exec(content)?.[1] ?? []);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  },
);

it.each(['src/docs/contributing/design-notes.md', 'src/cli/bench/RESULTS.md'])(
  '%s is no diary: it has at most 200 lines',
  (path) => {
    const lines = readText(root, path).trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(200);
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

const architecture = pages.find(({ name }) => name.endsWith('/architecture.md'))?.text ?? '';
const topDown = roomOrder.toReversed();

it('each room has what it is for, where to begin to read, and what may not be in it', () => {
  const rows = architecture
    .split('\n')
    .map((line) => /^\| `([\w/.]+)` \| .+ \| `([\w/.-]+)` \| .+ \|$/.exec(line)?.slice(1) ?? [])
    .filter(([room]) => room && roomOrder.includes(room));
  expect(rows.map(([room]) => room)).toEqual(topDown);
  for (const [room = '', first = ''] of rows) {
    const folder = room.endsWith('.ts') ? dirname(room) : room;
    expect(existsSync(join(root, 'src', folder, first)), `${room}: ${first}`).toBe(true);
  }
});

it('the picture of a delivery’s way has arrows that are imports', () => {
  const [, diagram = ''] = /Each arrow is an import.*?```text\n(.*?)```/s.exec(architecture) ?? [];
  const importsOf = new Map(sourceFiles(root).map(({ path, imports }) => [path, imports]));
  const above: string[] = [];
  let arrows = 0;
  for (const line of diagram.split('\n')) {
    const [, indent = '', arrow, name] = /^([│ ]*)([├└]─▶ )?([\w/-]+\.ts)\b/.exec(line) ?? [];
    if (!name) continue;
    const depth = arrow ? indent.length / 4 + 1 : 0;
    above.length = depth;
    above.push(`src/${name}`);
    if (depth === 0) continue;
    arrows++;
    expect(importsOf.get(above[depth - 1] ?? ''), line).toContain(`src/${name}`);
  }
  expect(arrows).toBeGreaterThan(15);
});

it('the diagram of the tables has each of them once, except those of lists of records', () => {
  const [, diagram = ''] = /## Tables.*?```text\n(.*?)```/s.exec(architecture) ?? [];
  const drawn = diagram.replace(/ {4}.*| ──.*/g, '');
  const db = new DatabaseSync(':memory:');
  for (const { queries } of strictMigrations()) db.exec(queries.join('\n'));
  const named = db.prepare("select name from sqlite_master where type = 'table'").all();
  const tables = named.map(({ name }) => String(name));
  const ofRecords = recordKinds.map(({ list }) => list.path.slice(1).replaceAll('-', '_'));
  expect(tables).toEqual(expect.arrayContaining(ofRecords));
  for (const table of tables.filter((table) => !ofRecords.includes(table)))
    expect(drawn.match(new RegExp(`\\b${table}\\b`, 'g')) ?? [], table).toHaveLength(1);
});
