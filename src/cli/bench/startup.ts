import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
const env = {
  ...process.env,
  NO_COLOR: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

/** What the Worker weighs (KiB gzipped, without assets), and how long it is busy as it starts (ms, medians). */
export function measureStartUp(runs: number): { gzipKiB: number; activeMs: number } {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-startup-'));
  try {
    const dry = run('deploy', '--dry-run', '--outdir', join(directory, 'bundle'));
    const gzipKiB = Number(/gzip: ([\d.]+) KiB/.exec(dry)?.[1]);
    const active = Array.from({ length: runs }, (_, i) => {
      const profile = join(directory, `${i}.cpuprofile`);
      run('check', 'startup', '--outfile', profile);
      return activeMsOf(JSON.parse(readFileSync(profile, 'utf8')));
    }).sort((a, b) => a - b);
    return { gzipKiB, activeMs: active[Math.floor(runs / 2)] ?? Number.NaN };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function run(...args: string[]): string {
  const done = spawnSync(process.execPath, [wrangler, ...args], { cwd: root, env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`wrangler ${args[0]} failed:\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

type Profile = {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
};

/** The time of a CPU profile in which something ran. */
function activeMsOf({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(
    nodes
      .filter(({ callFrame }) => ['(idle)', '(root)', '(program)'].includes(callFrame.functionName))
      .map(({ id }) => id),
  );
  return samples.reduce((us, id, i) => us + (idle.has(id) ? 0 : (timeDeltas[i] ?? 0)), 0) / 1000;
}
