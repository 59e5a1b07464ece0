import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

type Process = { pid: number; parent: number; kilobytes: number; command: string };

/** Returns the memory, in MB, that the runtime of the service in a stack's `directory` holds. */
export async function runtimeMemory(directory: string): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=,comm=']);
  const processes = stdout.split('\n').flatMap((line): Process[] => {
    const [, pid, parent, kilobytes, command = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.+)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), parent: Number(parent), kilobytes: Number(kilobytes), command }] : [];
  });
  const family = new Set([Number(readFileSync(join(directory, 'wrangler.pid'), 'utf8'))]);
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  const runtimes = processes.filter(({ pid, command }) => family.has(pid) && command.includes('workerd'));
  return runtimes.reduce((sum, { kilobytes }) => sum + kilobytes, 0) / 1024;
}
