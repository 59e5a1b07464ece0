import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from './project/paths.ts';
import { wranglerOutput } from './project/wrangler.ts';

// npm run -s stack: reads lines of the log, and prints them with the places in the source that their stacks mean. Bundles
// the Worker for that, so the commit must be the one that is deployed.

const lines = await text(process.stdin);
const folder = mkdtempSync(join(tmpdir(), 'fleet-stack-'));
try {
  await wranglerOutput('deploy', '--dry-run', '--outdir', folder);
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, 'index.js.map'), 'utf8')));
  const placed = lines.replace(/[^\s(\\]*index\.js:(\d+):(\d+)/g, (frame, line, column) => {
    const origin = map.findOrigin(Number(line), Number(column));
    if (!('fileName' in origin)) return frame;
    return `${relative(root, join(folder, origin.fileName))}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  process.stdout.write(placed.replaceAll('\\n', '\n  '));
} finally {
  rmSync(folder, { recursive: true });
}
