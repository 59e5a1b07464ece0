import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wranglerOutput } from '../project/wrangler.ts';
import { type Benchmark, median } from './harness.ts';

/** CPU time at start-up. */
export const startup: Benchmark = async function* ({ small }) {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-startup-'));
  const file = join(directory, 'cpuprofile');
  const times: number[] = [];
  while (times.length < (small ? 1 : 5)) {
    await wranglerOutput('check', 'startup', '--outfile', file);
    times.push(activeMsOf(JSON.parse(readFileSync(file, 'utf8'))));
  }
  rmSync(directory, { recursive: true });
  const figure = median(times).toFixed(1);
  const what = 'start-up, CPU time';
  yield { what, reference: '–', service: `${figure} ms`, figure, bar: '≤ 100' };
};

type Node = { id: number; callFrame: { functionName: string } };
type Profile = { nodes: Node[]; samples: number[]; timeDeltas: number[] };

function activeMsOf({ nodes, samples, timeDeltas }: Profile): number {
  const isIdle = ({ callFrame }: Node) => /^\((idle|root|program)\)$/.test(callFrame.functionName);
  const idle = new Set(nodes.filter(isIdle).map(({ id }) => id));
  const active = timeDeltas.filter((_, i) => !idle.has(samples[i] ?? 0));
  return active.reduce((sum, us) => sum + us, 0) / 1000;
}
