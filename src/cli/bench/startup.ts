import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWrangler } from '../project/wrangler.ts';
import { spread } from './report.ts';

/** Measures the Worker's size (KiB gzipped, without assets) and its CPU time at start-up (ms, median of `runs`). */
export async function measureStartUp(runs: number): Promise<{ gzipKiB: number; activeMs: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-startup-'));
  try {
    const dry = await run('deploy', '--dry-run', '--outdir', join(directory, 'bundle'));
    const gzipKiB = Number(/gzip: ([\d.]+) KiB/.exec(dry)?.[1]);
    const active: number[] = [];
    for (let i = 0; i < runs; i++) {
      const profile = join(directory, `${i}.cpuprofile`);
      await run('check', 'startup', '--outfile', profile);
      active.push(activeMsOf(JSON.parse(readFileSync(profile, 'utf8'))));
    }
    return { gzipKiB, activeMs: spread(active).median };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function run(...args: string[]): Promise<string> {
  const { ok, out, text } = await runWrangler(args);
  if (!ok) throw new Error(`wrangler ${args[0]} failed:\n${text}`);
  return out;
}

type Profile = {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
};

/** Returns the time of a CPU profile in which code ran. */
function activeMsOf({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(
    nodes
      .filter(({ callFrame }) => ['(idle)', '(root)', '(program)'].includes(callFrame.functionName))
      .map(({ id }) => id),
  );
  return samples.reduce((us, id, i) => us + (idle.has(id) ? 0 : (timeDeltas[i] ?? 0)), 0) / 1000;
}
