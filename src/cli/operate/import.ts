import { appendFileSync, rmSync, statSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { dayMs } from '../../core/platform/durations.ts';
import { counted as withNoun } from '../../texts/words.ts';
import { operatorFor } from './cells.ts';
import { ApiError, insist, request } from './client.ts';
import { serviceOf } from './context.ts';
import type { Line } from './import/csv.ts';
import { printable, show } from './print.ts';

/** What matters here of a record, which may be anything. */
type SomeRecord = { kind?: unknown; sourceId?: unknown; vehicle?: unknown };

type CallResult = {
  accepted: number;
  unchanged: number;
  rejected: { index: number; message: string }[];
  heldBack?: number;
  warnings?: {
    field: string;
    message: string;
    records: number;
    index: number;
    otherIndex?: number;
  }[];
  moreWarnings?: number;
};

/** Exits with 1 if a record was rejected, or something of one could not be used. */
export function importCommand(): Command {
  return new Command('import')
    .description('Load records from an NDJSON or CSV file; safe to run again')
    .argument(
      '<file>',
      'one JSON record per line; or .csv with field names such as location.latitude, lists separated by |, and cells ' +
        'by commas, semicolons or tabs',
    )
    .requiredOption('--connection <id>', 'connection that the records belong to')
    .option('--kind <kind>', 'kind of records without one')
    .option('--notify', 'notify webhooks of events and accidents, as if they happened now')
    .option('--dry-run', 'only check the records: nothing is stored, and nobody notified')
    .addOption(
      new Option('--encoding <name>', 'encoding of the file')
        .choices(['utf-8', 'windows-1252', 'utf-16le'])
        .default('utf-8'),
    )
    .action(
      async (file, { connection, kind, notify = false, dryRun = false, encoding }, command) => {
        // Loads the declarations of all records, which would slow down other commands.
        const { readRecords } = await import('./import/read.ts');
        const { acceptRecords } = await import('../../core/ingest/accept.ts');
        const size = sizeOf(file);
        const operator = operatorFor(command);
        const key = await operator.call('POST /connections/:id/ingest-keys', {
          id: connection,
          body: { name: 'import', expiresAt: new Date(Date.now() + dayMs).toISOString() },
        });
        const rejectedFile = `${file}.rejected.ndjson`;
        rmSync(rejectedFile, { force: true });
        const counts = { accepted: 0, unchanged: 0, rejected: 0, heldBack: 0 };
        const firstRejected: string[] = [];
        const warned = new Map<string, { lines: number[]; records: number }>();
        let others = 0;
        const reject = ({ line, record }: Line, message: string) => {
          if (counts.rejected++ < maxFirstRejected)
            firstRejected.push(`\n  line ${line}: ${printable(message)}`);
          appendFileSync(rejectedFile, `${JSON.stringify({ line, message, record })}\n`);
        };
        const warn = (what: string, lines: number[], records: number) => {
          const known = warned.get(what) ?? { lines: [...new Set(lines)], records: 0 };
          warned.set(what, { ...known, records: known.records + records });
        };
        // Vehicles and drivers, of which a file has few, by their ids: each call knows only its own.
        const seen = new Map<string, Line>();
        const see = (line: Line, call: Line[]) => {
          const { kind, sourceId } = Object(line.record) as SomeRecord;
          if (kind !== 'vehicle' && kind !== 'driver') return;
          const before = seen.get(`${kind} ${sourceId}`);
          seen.set(`${kind} ${sourceId}`, line);
          if (!before || call.includes(before)) return;
          const { warnings } = acceptRecords([before.record, line.record]);
          for (const { field, message, otherIndex } of warnings)
            if (otherIndex === 0) warn(`${field} ${message}`, [before.line, line.line], 1);
        };
        // A dry run stores no vehicles for the calls that follow.
        const isInFile = ({ record }: Line) =>
          dryRun && seen.has(`vehicle ${(record as SomeRecord).vehicle}`);
        const { json } = command.optsWithGlobals();
        const bar = json ? undefined : new SingleBar(barOptions); // which draws only at a terminal
        bar?.start(size, 0, { records: 0, rate: 0 });
        const started = Date.now();
        const soFar = () => {
          const seconds = (Date.now() - started) / 1000;
          const records = counts.accepted + counts.unchanged + counts.rejected;
          return { seconds, records, rate: Math.round(records / seconds) };
        };
        const url = `${serviceOf(command).baseUrl}/ingest`;
        const headers = { 'x-api-key': key.value, 'content-type': 'application/json' };
        const send = async (lines: Line[]) => {
          const records = lines.map(({ record }) => record);
          for (const line of lines) see(line, lines);
          const body = JSON.stringify({ records, notify, dryRun });
          const call = () => request<CallResult>(url, { method: 'POST', headers, body });
          const found = await insist(maxTries, call);
          const {
            accepted,
            unchanged,
            rejected,
            heldBack = 0,
            warnings = [],
            moreWarnings = 0,
          } = found;
          others += moreWarnings;
          counts.accepted += accepted;
          counts.unchanged += unchanged;
          counts.heldBack += heldBack;
          for (const { index, message } of rejected) {
            const line = lines[index] as Line; // of this call
            if (message.startsWith('vehicle is neither known') && isInFile(line)) counts.accepted++;
            else reject(line, message);
          }
          for (const { index, otherIndex = index, field, message, records } of warnings) {
            const inFile = [index, otherIndex].map((at) => lines[at]?.line ?? 0);
            warn(`${field} ${message}`, inFile, records);
          }
          bar?.update(lines.at(-1)?.bytesRead ?? 0, soFar());
        };
        try {
          await sendAll(callsOf(readRecords(file, kind, encoding), reject), send);
        } finally {
          bar?.stop();
          await operator
            .call('DELETE /tokens/:id', { id: key.id })
            .catch(({ message }: Error) =>
              console.error(
                printable(
                  `fleet: ${message}. The ingest key of this import still works for a day. Revoke it: fleet token revoke ${key.id}`,
                ),
              ),
            );
        }
        const { seconds, rate } = soFar();
        const { heldBack, ...counted } = counts;
        const found = {
          ...(dryRun && { dryRun: 'nothing was stored, and nobody was notified' }),
          ...counted,
          ...(notify && { heldBack }),
          ...{ seconds, recordsPerSecond: rate },
        };
        show(command, counts.rejected ? { ...found, rejectedFile } : found);
        for (const [what, { lines, records }] of warned)
          console.error(
            printable(
              `fleet: ${withNoun(records, 'record', 'records')}, the first in line ${lines.join(' and ')}: ${what}`,
            ),
          );
        if (others > 0)
          console.error(`fleet: warnings that are left out, since others are worse: ${others}`);
        if (counts.rejected > 0)
          console.error(
            `fleet: records that were rejected: ${counts.rejected}. The first:${firstRejected.join('')}\n` +
              `All of them, with their reasons: ${rejectedFile}`,
          );
        if (counts.rejected > 0 || warned.size > 0) process.exitCode = 1;
      },
    );
}

const maxTries = 8;
const maxFirstRejected = 5;
const barFormat = '{bar} {percentage} %  {records} records  {rate}/s  {eta_formatted} left';
const barOptions = { format: barFormat, barsize: 30, hideCursor: true, stream: process.stderr };

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    throw new ApiError(`Cannot read ${file}`);
  }
}

const atOnce = 4;

/**
 * Sends calls, four at a time; one with vehicles alone, since later records may refer to them, and one with an id of
 * another after that: the later line is the newer version.
 */
export async function sendAll(
  calls: AsyncIterable<Line[]>,
  send: (lines: Line[]) => Promise<void>,
): Promise<void> {
  const underWay = new Map<Promise<void>, Set<string>>();
  for await (const call of calls) {
    const records = call.map(({ record }) => Object(record) as SomeRecord);
    const hasVehicles = records.some(({ kind }) => kind === 'vehicle');
    const ids = new Set(records.map(({ kind, sourceId }) => `${kind} ${sourceId}`));
    const mustWait = () =>
      underWay.size >= (hasVehicles ? 1 : atOnce) ||
      underWay.values().some((others) => !others.isDisjointFrom(ids));
    while (mustWait()) await Promise.race(underWay.keys());
    // One that fails stays, and ends this.
    const sending: Promise<void> = send(call).then(() => void underWay.delete(sending));
    sending.catch(() => {});
    underWay.set(sending, ids);
    if (hasVehicles) await sending;
  }
  await Promise.all(underWay.keys());
}

const perCall = 500;
const bytesPerCall = 900_000;

/** The lines of each call; those without a record are rejected. */
export async function* callsOf(
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
