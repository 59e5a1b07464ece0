import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { readText } from './folder.ts';

/** Whether this system tells how much memory a process had at most: Linux does. */
export const canMeasureMemory = existsSync('/proc/self/clear_refs');

/**
 * Measures how many MiB the stack in `directory` needs at most for some work, beyond what it had:
 * all of workerd. What earlier work has left free is not counted, so warm up with other work.
 */
export function memoryOf(directory: string) {
  const group = readText(directory, 'wrangler.pid').trim();
  const processes = execFileSync('ps', ['-eo', 'pid=,pgid=,comm='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([pid = '', pgid, name]) => (pgid === group && name === 'workerd' ? [pid] : []));
  const mebibytes = (field: 'VmRSS' | 'VmHWM') =>
    processes
      .map((pid) => readText(`/proc/${pid}/status`))
      .map((status) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024)
      .reduce((sum, size) => sum + size, 0);
  return async (work: () => Promise<unknown>): Promise<number> => {
    await wait(1000); // whatever was under way ends
    for (const pid of processes) writeFileSync(`/proc/${pid}/clear_refs`, '5'); // the peak begins anew
    const before = mebibytes('VmRSS');
    await work();
    return mebibytes('VmHWM') - before;
  };
}
