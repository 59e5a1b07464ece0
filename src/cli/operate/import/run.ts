import { appendFileSync } from 'node:fs';
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
const atOnce = 4;
const bytesPerCall = 900_000;

/**
 * Sends lines in calls of up to 500 records, four calls at a time, in constant memory. After a call with vehicles
 * it waits for the response, because later records may refer to them. Rejected records are added to `rejectedFile`
 * with their reasons, as one JSON line each.
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  send: (records: unknown[]) => Promise<CallResult>,
  options: {
    rejectedFile: string;
    onProgress: (summary: Summary, bytesRead: number) => void;
  },
): Promise<Summary> {
  const summary: Summary = { accepted: 0, unchanged: 0, rejected: 0, firstRejected: [] };
  const reject = ({ line, record }: Line, message: string) => {
    summary.rejected++;
    if (summary.firstRejected.length < maxFirstRejected) summary.firstRejected.push({ line, message });
    appendFileSync(options.rejectedFile, `${JSON.stringify({ line, message, record })}\n`);
  };
  const sendCall = async (call: Line[]) => {
    const result = await send(call.map(({ record }) => record));
    summary.accepted += result.accepted;
    summary.unchanged += result.unchanged;
    for (const { index, message } of result.rejected) {
      const line = call[index];
      if (line) reject(line, message);
    }
    options.onProgress(summary, call.at(-1)?.bytesRead ?? 0);
  };
  const underWay = new Set<Promise<void>>();
  for await (const call of callsOf(lines, reject)) {
    const hasVehicles = call.some(({ record }) => (record as { kind?: unknown } | null)?.kind === 'vehicle');
    while (underWay.size >= (hasVehicles ? 1 : atOnce)) await Promise.race(underWay);
    // One that fails stays, and ends this.
    const sending: Promise<void> = sendCall(call).then(() => void underWay.delete(sending));
    sending.catch(() => {});
    underWay.add(sending);
    if (hasVehicles) await sending;
  }
  await Promise.all(underWay);
  return summary;
}

/** The lines of each call; those without a record are rejected. */
async function* callsOf(
  lines: AsyncIterable<Line>,
  reject: (line: Line, message: string) => void,
): AsyncGenerator<Line[]> {
  let call: Line[] = [];
  let callBytes = 0;
  for await (const line of lines) {
    if (line.problem) {
      reject(line, line.problem);
      continue;
    }
    const bytes = Buffer.byteLength(JSON.stringify(line.record));
    if (call.length === perCall || callBytes + bytes > bytesPerCall) {
      if (call.length > 0) yield call;
      call = [];
      callBytes = 0;
    }
    call.push(line);
    callBytes += bytes;
  }
  if (call.length > 0) yield call;
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
