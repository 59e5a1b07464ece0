import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wranglerOutput } from '../project/wrangler.ts';
import { type Benchmark, median } from './harness.ts';

const maxActiveMs = 60;
const maxKiB = 300;

export const startup: Benchmark = {
  about: 'CPU time at start-up, and size of the Worker without assets',
  run: async ({ small }) => {
    const directory = mkdtempSync(join(tmpdir(), 'fleet-startup-'));
    try {
      const dry = await wranglerOutput('deploy', '--dry-run', '--outdir', join(directory, 'bundle'));
      const kiB = Number(/gzip: ([\d.]+) KiB/.exec(dry)?.[1]);
      const active: number[] = [];
      while (active.length < (small ? 1 : 5)) {
        const profile = join(directory, `${active.length}.cpuprofile`);
        await wranglerOutput('check', 'startup', '--outfile', profile);
        active.push(activeMsOf(JSON.parse(readFileSync(profile, 'utf8'))));
      }
      const row = (what: string, figure: number, most: number, unit: string) => ({
        ...{ '': what, service: `${figure} ${unit}`, bar: `≤ ${most} ${unit}`, met: figure <= most },
      });
      const rows = [
        row('start-up, active', Math.round(median(active) * 10) / 10, maxActiveMs, 'ms'),
        row('bundle, gzip', kiB, maxKiB, 'KiB'),
      ];
      return [{ title: 'The Worker itself', rows }];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

type Node = { id: number; callFrame: { functionName: string } };

function activeMsOf(profile: { nodes: Node[]; samples: number[]; timeDeltas: number[] }): number {
  const isIdle = ({ callFrame }: Node) => /^\((idle|root|program)\)$/.test(callFrame.functionName);
  const idle = new Set(profile.nodes.filter(isIdle).map(({ id }) => id));
  const us = profile.samples.map((id, i) => (idle.has(id) ? 0 : (profile.timeDeltas[i] ?? 0)));
  return us.reduce((sum, one) => sum + one, 0) / 1000;
}
