import type { SourceFile } from './source.ts';

/** What breaks the rules of structure that no linter can check, with what to do about it. */
export function structureProblems(files: SourceFile[]): string[] {
  return [
    ...importCycles(files),
    ...files.flatMap(wrongImports),
    ...unnamedExtras(files),
    ...sharedTables(files),
  ];
}

/** The rooms of `src`, each of which imports only from those before, as in `architecture.md`. */
export const roomOrder = [
  'core/platform',
  'core/accounts',
  'core/fleet',
  'core/webhooks',
  'core/ingest',
  'texts',
  'people',
  'ui',
  'extras',
  'extras.ts',
  'operator',
  'docs',
  'portal',
  'app.ts',
  'index.ts',
  'router',
  'dev',
  'cli',
];

/** What an extra adds to a room above, which is as if it were in that room: to the tool, the API's documents, or operators. */
const above: { [name: string]: string } = {
  commands: 'src/cli/extras',
  documented: 'src/docs/openapi/extras',
  operator: 'src/operator/extras',
};

const inItsRoom = (path: string): string =>
  path.replace(/^src\/extras\/([^/]+)\/([^./]+)/, (same, extra, name) =>
    above[name] ? `${above[name]}/${extra}/${name}` : same,
  );

/** The room that a file of `src` is in. */
const roomOf = (path: string): string =>
  /^src\/(core\/[^/]+|[^/]+)/.exec(inItsRoom(path))?.[1] ?? '';

/** Lines that the picture of the rooms in `architecture.md` lacks: each room with those below that it imports from. */
export function roomsMisdrawn(files: SourceFile[], architecture: string): string[] {
  const topDown = roomOrder.toReversed();
  return topDown.flatMap((room) => {
    const own = files.filter(({ path }) => path.startsWith('src/') && roomOf(path) === room);
    const imported = new Set(own.flatMap(({ imports }) => imports.map(roomOf)));
    const below = topDown.filter((other) => other !== room && imported.has(other));
    const line = below.length > 0 ? `${room.padEnd(13)} → ${below.join(', ')}` : room;
    return architecture.includes(`\n${line}\n`)
      ? []
      : [`The picture of the rooms in architecture.md should have: ${line}`];
  });
}

const isIn =
  (...folders: string[]) =>
  (path: string) =>
    folders.some((folder) => path.startsWith(folder));
const extraOf = (path: string) => /^src\/extras\/([^/]+)\//.exec(path)?.[1];
const heightOf = (path: string) => roomOrder.indexOf(roomOf(path));

/** Files, what they may not import, and why. */
const forbidden: [
  isOne: (path: string) => boolean,
  isForbidden: (target: string, path: string) => unknown,
  advice: string,
][] = [
  [
    isIn('src/'),
    (target, path) => heightOf(target) > heightOf(path),
    ', from a room above its own. Move what both need down, or pass it in.',
  ],
  // Neither the core nor its tests import an extra: what stands above both passes it in, as `architecture.md` says.
  [
    isIn('src/core/', 'test/core/'),
    isIn('src/extras/'),
    ', which is an extra. Pass in what the core needs of it from above.',
  ],
  // What all tests share imports none either: `test/extras/NAME/added.ts` is how an extra adds to it.
  [isIn('test/support/'), extraOf, ', which is an extra. Pass in what tests need of it.'],
  // Only what an extra adds to pages is made of the kit; `added.ts` is how it declares that.
  [
    (path) => isIn('src/extras/')(path) && !/^src\/extras\/[^/]+\/pages(?:\.tsx|\/)/.test(path),
    (target) => isIn('src/ui/')(target) && target !== 'src/ui/added.ts',
    '. Only the pages of an extra do.',
  ],
  // The portal's own pages ask for what the extras add to them.
  [
    isIn('src/portal/'),
    extraOf,
    ', which is an extra. Let the extra declare its part in its pages, of the type Pages (src/ui/added.ts).',
  ],
];

const wrongImports = ({ path, imports }: SourceFile): string[] =>
  isIn('src/')(path) && heightOf(path) < 0
    ? [`${path} is in no room of roomOrder (test/structure/structure.ts).`]
    : forbidden
        .filter(([isOne]) => isOne(path))
        .flatMap(([, isForbidden, advice]) =>
          imports
            .filter((target) => isForbidden(target, path))
            .map((target) => `${path} imports ${target}${advice}`),
        );

/** An extra imports another only if the first line of its `extra.ts` names it: `// Needs: archive, search`. */
function unnamedExtras(files: SourceFile[]): string[] {
  const needed = new Map(
    files.flatMap(({ path, text }) => {
      const [, names = ''] = /^\/\/ Needs: (.*)/.exec(text) ?? [];
      return path.endsWith('/extra.ts') ? [[extraOf(path), names.split(', ')] as const] : [];
    }),
  );
  return files.flatMap(({ path, imports }) => {
    const own = extraOf(path);
    if (!own) return [];
    return imports
      .filter((target) => {
        const other = extraOf(target);
        return other && other !== own && !needed.get(own)?.includes(other);
      })
      .map(
        (target) =>
          `${path} imports ${target}, of another extra. Name it in the first line of src/extras/${own}/extra.ts, as in "// Needs: archive", or do without.`,
      );
  });
}

/** The files and subfolders of a folder, each as a whole, import one another without a cycle. */
function importCycles(files: SourceFile[]): string[] {
  const folders = new Map<string, Graph>();
  for (const file of files)
    for (const target of file.imports) {
      const { folder, from, to } = meet(inItsRoom(file.path), inItsRoom(target));
      const graph = folders.get(folder) ?? new Map();
      folders.set(folder, graph);
      const edges = graph.get(from) ?? new Map();
      graph.set(from, edges.set(to, edges.get(to) ?? `${file.path} imports ${target}`));
    }
  return [...folders].flatMap(([folder, graph]) => {
    const cycle = findCycle(graph);
    if (!cycle) return [];
    const steps = cycle.slice(1).map((node, at) => `\n  ${graph.get(cycle[at] ?? '')?.get(node)}`);
    return `Imports in ${folder || 'the project'} form a cycle: ${cycle.join(' → ')}. Move what both sides need to where it depends on neither.${steps.join('')}`;
  });
}

/** Nodes with what they import, and an example of each import. */
type Graph = Map<string, Map<string, string>>;

/** The innermost folder that holds both files, and which of its entries each of them lies in. */
function meet(importer: string, imported: string): { folder: string; from: string; to: string } {
  const [a, b] = [importer.split('/'), imported.split('/')];
  const at = a.findIndex((part, index) => part !== b[index]);
  return { folder: a.slice(0, at).join('/'), from: a[at] ?? '', to: b[at] ?? '' };
}

/** The nodes of a cycle, with the first repeated at the end. */
function findCycle(graph: Graph): string[] | undefined {
  const left = new Map(graph);
  const nextOf = (node: string) =>
    [...(left.get(node)?.keys() ?? [])].find((target) => left.has(target));
  // What leads to nothing that is left is in no cycle; of the rest each node leads to another one.
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    for (const node of left.keys()) if (nextOf(node) === undefined) left.delete(node);
  }
  const path: string[] = [];
  let [node] = left.keys();
  for (; node !== undefined && !path.includes(node); node = nextOf(node)) path.push(node);
  return node === undefined ? undefined : [...path.slice(path.indexOf(node)), node];
}

/** A table is written by one feature, a folder of a room; the others ask that feature. */
function sharedTables(files: SourceFile[]): string[] {
  const writers = new Map<string, Map<string, string>>();
  for (const { path, text } of files) {
    // Who signs in by a provider is a person with a session like others.
    const owner = path.replace('extras/single-sign-on', 'people');
    const feature = /^src\/(?:core\/)?([^/]+(?:\/[^/]+)?)\//.exec(owner)?.[1];
    if (!feature || /^(?:cli|dev|docs)\b/.test(feature)) continue;
    for (const table of tablesWritten(text))
      writers.set(table, new Map(writers.get(table)).set(feature, path));
  }
  return [...writers]
    .filter(([, features]) => features.size > 1)
    .map(
      ([table, features]) =>
        `${[...features.values()].join(' and ')} both write the table ${table}. Let one feature write it, and offer a function for the other.`,
    );
}

function tablesWritten(text: string): string[] {
  const written = text.matchAll(
    /\b(?:insert into|delete from) (\w+)|\bupdate (\w+) set\b|\bdb\s*\.(?:insert|update|delete)\((\w+)\)/g,
  );
  return [...written].map(
    ([, inserted, updated, built = '']) => inserted ?? updated ?? snakeCase(built),
  );
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Markdown is wrapped, but for tables and code. */
export const longLines = (files: { path: string; text: string }[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .replaceAll(/^```[\s\S]*?^```$/gm, (code) => code.replaceAll(/.+/g, ''))
      .split('\n')
      .flatMap((line, index) =>
        line.length > 120 && !line.startsWith('|')
          ? [`${path}:${index + 1} is longer than 120 characters.`]
          : [],
      ),
  );
