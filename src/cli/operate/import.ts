import { rmSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { dayMs } from '../../platform/durations.ts';
import { ApiError } from './client.ts';
import { operatorFor, serviceOf } from './context.ts';
import { importLines, type Summary, sendRecords } from './import/run.ts';
import { printable, show, startBar } from './print.ts';

/** Exits with 1 when a record was rejected. */
export function importCommand(): Command {
  return new Command('import')
    .description('Load records from an NDJSON or CSV file; safe to run again')
    .argument(
      '<file>',
      'one JSON record per line; or .csv with field names such as location.latitude, and lists separated by |',
    )
    .requiredOption('--connection <id>', 'connection that the records belong to')
    .option('--kind <kind>', 'kind of records without one')
    .option('--notify', 'notify webhooks of events and accidents, as if they happened now')
    .action(async (file, { connection, kind, notify = false }, command) => {
      // Loads the declarations of all records, which would slow down other commands.
      const { readRecords } = await import('./import/read.ts');
      const size = sizeOf(file);
      const operator = operatorFor(command);
      const key = await operator.call('POST /connections/:id/ingest-keys', {
        id: connection,
        body: { name: 'import', expiresAt: new Date(Date.now() + dayMs).toISOString() },
      });
      const rejectedFile = `${file}.rejected.ndjson`;
      rmSync(rejectedFile, { force: true });
      const bar = startBar(command, barFormat, size, { records: 0, rate: 0 });
      const started = Date.now();
      const { baseUrl } = serviceOf(command);
      try {
        const summary = await importLines(
          readRecords(file, kind),
          (records) => sendRecords(baseUrl, key.value, records, notify),
          {
            rejectedFile,
            onProgress: (summary, bytesRead) => {
              const records = recordsIn(summary);
              const rate = Math.round((records / (Date.now() - started)) * 1000);
              bar?.update(bytesRead, { records, rate });
            },
          },
        );
        bar?.update(size);
        bar?.stop();
        const seconds = (Date.now() - started) / 1000;
        const { firstRejected, ...counts } = summary;
        const found = { ...counts, seconds, recordsPerSecond: Math.round(recordsIn(summary) / seconds) };
        show(command, summary.rejected ? { ...found, rejectedFile } : found);
        if (summary.rejected === 0) return;
        const reasons = firstRejected.map(({ line, message }) => `\n  line ${line}: ${printable(message)}`);
        console.error(
          `fleet: records that were rejected: ${summary.rejected}. The first:${reasons.join('')}\n` +
            `All of them, with their reasons: ${rejectedFile}`,
        );
        process.exitCode = 1;
      } finally {
        bar?.stop();
        await operator.call('DELETE /tokens/:id', { id: key.id });
      }
    });
}

const recordsIn = ({ accepted, unchanged, rejected }: Summary): number => accepted + unchanged + rejected;

const barFormat = '{bar} {percentage} %  {records} records  {rate}/s  {eta_formatted} left';

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    throw new ApiError(`Cannot read ${file}`);
  }
}
