import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sourceFiles } from './source.ts';
import { roomOrder, roomsDrawn } from './structure.ts';

const root = resolve(import.meta.dirname, '../..');
const files = sourceFiles(root).filter(({ path }) => path.startsWith('src/'));
const text = readFileSync(join(root, 'src/docs/contributing/architecture.md'), 'utf8');
const topDown = roomOrder.toReversed();

/** The first diagram below a heading or sentence. */
const diagramBelow = (words: string): string[] =>
  (text.split(words)[1]?.split('```text\n')[1]?.split('\n```')[0] ?? '').split('\n');

it('the picture of the rooms has each of them, with the rooms that it imports from', () => {
  expect(diagramBelow('## Rooms')).toEqual(roomsDrawn(files));
});

it('each room has what it is for, where to begin to read, and what may not be in it', () => {
  const rows = text
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
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const above: string[] = [];
  let arrows = 0;
  for (const line of diagramBelow('Each arrow is an import')) {
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
