import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wranglerOutput } from '../project/wrangler.ts';
import { type Benchmark, median } from './harness.ts';

/** CPU time at start-up. */
export const startup: Benchmark = async function* ({ small }) {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-startup-'));
  const times: number[] = [];
  try {
    while (times.length < (small ? 1 : 5)) {
      const profile = join(directory, `${times.length}.cpuprofile`);
      await wranglerOutput('check', 'startup', '--outfile', profile);
      times.push(activeMsOf(JSON.parse(readFileSync(profile, 'utf8'))));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  const ms = median(times);
  const shown = ms.toFixed(1);
  yield {
    what: 'start-up, CPU time',
    reference: '–',
    service: `${shown} ms`,
    figure: shown,
    bar: '≤ 100',
  };
};

type Node = { id: number; callFrame: { functionName: string } };

function activeMsOf(profile: { nodes: Node[]; samples: number[]; timeDeltas: number[] }): number {
  const isIdle = ({ callFrame }: Node) => /^\((idle|root|program)\)$/.test(callFrame.functionName);
  const idle = new Set(profile.nodes.filter(isIdle).map(({ id }) => id));
  const us = profile.samples.map((id, i) => (idle.has(id) ? 0 : (profile.timeDeltas[i] ?? 0)));
  return us.reduce((sum, one) => sum + one, 0) / 1000;
}
