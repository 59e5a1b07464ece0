import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { insist, request } from '../client.ts';
import type { Line } from './read.ts';

/** The result of an import so far; `firstRejected` has the first few rejected records. */
export type Summary = {
  accepted: number;
  unchanged: number;
  rejected: number;
  firstRejected: Rejection[];
};
export type Rejection = { line: number; message: string };

export type CallResult = {
  accepted: number;
  unchanged: number;
  rejected: { index: number; message: string }[];
};

const maxTries = 8;
const maxFirstRejected = 5;
const perCall = 500;
const bytesPerCall = 900_000;

/**
 * Sends lines in calls of up to 500 records, `atOnce` calls at a time, in constant memory. After a call with vehicles
 * it waits for the response, because later records may refer to them. Rejected records go to `rejectedFile` with their
 * reasons, as one JSON line each; if there are none, neither is the file.
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  send: (records: unknown[]) => Promise<CallResult>,
  options: {
    rejectedFile: string;
    atOnce: number;
    onProgress: (summary: Summary, bytesRead: number) => void;
  },
): Promise<Summary> {
  const summary: Summary = { accepted: 0, unchanged: 0, rejected: 0, firstRejected: [] };
  const underWay = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  let rejectedLines: WriteStream | undefined;
  let call: Line[] = [];
  let callBytes = 0;

  const reject = async ({ line, record }: Line, message: string) => {
    summary.rejected++;
    if (summary.firstRejected.length < maxFirstRejected) summary.firstRejected.push({ line, message });
    rejectedLines ??= createWriteStream(options.rejectedFile);
    const text = `${JSON.stringify({ line, message, record })}\n`;
    if (!rejectedLines.write(text)) await once(rejectedLines, 'drain');
  };
  const sendCall = async (lines: Line[]) => {
    const result = await send(lines.map(({ record }) => record));
    summary.accepted += result.accepted;
    summary.unchanged += result.unchanged;
    for (const { index, message } of result.rejected) {
      const line = lines[index];
      if (line) await reject(line, message);
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
        await reject(line, line.problem);
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
    if (rejectedLines) await once(rejectedLines.end(), 'finish');
  }
  if (failed) throw failed.error;
  return summary;
}

/**
 * Sends one call of records. Repeats it when the service is busy or unreachable, which is safe.
 *
 * @throws ApiError, when the whole call is refused, or still fails at the eighth try
 */
export function sendRecords(
  baseUrl: string,
  ingestKey: string,
  records: unknown[],
  notify: boolean,
): Promise<CallResult> {
  const body = JSON.stringify({ records, notify });
  const headers = { 'x-api-key': ingestKey, 'content-type': 'application/json' };
  return insist(maxTries, () => request(`${baseUrl}/ingest`, { method: 'POST', headers, body }));
}
