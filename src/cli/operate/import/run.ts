import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { Line } from './read.ts';
import type { CallResult } from './send.ts';

/** Counts of an import so far. */
export type Summary = { accepted: number; unchanged: number; refused: number };

const perCall = 500;
const bytesPerCall = 900_000;

/**
 * Sends lines in calls of up to 500 records, a few at a time, in constant memory. A call that holds vehicles
 * is waited for before a later one goes, for later records may refer to them. What is refused goes to
 * `refusedFile` with its reason, one JSON line each; the file exists only if something was.
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  send: (records: unknown[]) => Promise<CallResult>,
  options: { refusedFile: string; atOnce: number; onProgress: (summary: Summary, bytesRead: number) => void },
): Promise<Summary> {
  const summary: Summary = { accepted: 0, unchanged: 0, refused: 0 };
  const underWay = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  let refused: WriteStream | undefined;
  let call: Line[] = [];
  let callBytes = 0;

  const refuse = async ({ line, record }: Line, message: string) => {
    summary.refused++;
    refused ??= createWriteStream(options.refusedFile);
    if (!refused.write(`${JSON.stringify({ line, message, record })}\n`)) await once(refused, 'drain');
  };
  const sendCall = async (lines: Line[]) => {
    const result = await send(lines.map(({ record }) => record));
    summary.accepted += result.accepted;
    summary.unchanged += result.unchanged;
    for (const { index, message } of result.rejected) {
      const line = lines[index];
      if (line) await refuse(line, message);
    }
    options.onProgress(summary, lines.at(-1)?.bytesRead ?? 0);
  };
  const flush = async () => {
    if (call.length === 0) return;
    const lines = call;
    call = [];
    callBytes = 0;
    const hasVehicles = lines.some(({ record }) => (record as { kind?: unknown } | null)?.kind === 'vehicle');
    if (hasVehicles || underWay.size >= options.atOnce)
      await (hasVehicles ? Promise.all(underWay) : Promise.race(underWay));
    const sending = sendCall(lines)
      .catch((error) => {
        failed ??= { error };
      })
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
    if (hasVehicles) await sending;
    if (failed) throw failed.error;
  };

  try {
    for await (const line of lines) {
      if (line.problem) {
        await refuse(line, line.problem);
        continue;
      }
      const bytes = Buffer.byteLength(JSON.stringify(line.record));
      if (call.length === perCall || callBytes + bytes > bytesPerCall) await flush();
      call.push(line);
      callBytes += bytes;
    }
    await flush();
  } finally {
    await Promise.all(underWay);
    if (refused) await once(refused.end(), 'finish');
  }
  if (failed) throw failed.error;
  return summary;
}
