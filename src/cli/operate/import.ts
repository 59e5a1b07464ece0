import { rmSync, statSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { ApiError } from './client.ts';
import { operatorFor, serviceOf, show } from './context.ts';
import { readRecords } from './import/read.ts';
import { importLines } from './import/run.ts';
import { sendRecords } from './import/send.ts';

const day = 86_400_000;

/** fleet import */
export function importCommand(): Command {
  return new Command('import')
    .description('load records from an NDJSON or CSV file; safe to run again')
    .argument('<file>', 'one record a line, or .csv with field names (location.latitude, lists parted by |)')
    .requiredOption('--connection <id>', 'the data source they belong to')
    .option('--kind <kind>', 'what the records are, where they do not say')
    .option('--notify', 'tell webhooks of events and accidents, as if they happened now')
    .option('--at-once <calls>', 'how many calls are under way at a time', Number, 4)
    .action(async (file, { connection, kind, notify = false, atOnce }, command) => {
      const size = sizeOf(file);
      const operator = operatorFor(command);
      const key = await operator.post<{ id: string; value: string }>(
        `/connections/${encodeURIComponent(connection)}/ingest-keys`,
        { name: 'import', expiresAt: new Date(Date.now() + day).toISOString() },
      );
      const refusedFile = `${file}.refused.ndjson`;
      rmSync(refusedFile, { force: true });
      const { json } = command.optsWithGlobals();
      const bar = json || !process.stderr.isTTY ? undefined : startBar(size);
      const started = Date.now();
      const { baseUrl } = serviceOf(command);
      try {
        const summary = await importLines(
          readRecords(file, kind),
          (records) => sendRecords(baseUrl, key.value, records, notify),
          {
            refusedFile,
            atOnce,
            onProgress: ({ accepted, unchanged, refused }, bytesRead) => {
              const records = accepted + unchanged + refused;
              const rate = Math.round((records / (Date.now() - started)) * 1000);
              bar?.update(bytesRead, { records, rate });
            },
          },
        );
        bar?.update(size);
        bar?.stop();
        const seconds = (Date.now() - started) / 1000;
        const records = summary.accepted + summary.unchanged + summary.refused;
        const found = { ...summary, seconds, recordsPerSecond: Math.round(records / seconds) };
        show(command, summary.refused ? { ...found, refusedFile } : found, Object.keys(found));
        if (summary.refused) console.error(`Refused records, with their reasons: ${refusedFile}`);
      } finally {
        bar?.stop();
        await operator.delete(`/tokens/${key.id}`);
      }
    });
}

const startBar = (size: number): SingleBar => {
  const format = '{bar} {percentage} %  {records} records  {rate}/s  {eta_formatted} left';
  const bar = new SingleBar({ format, barsize: 30, hideCursor: true, stream: process.stderr });
  bar.start(size, 0, { records: 0, rate: 0 });
  return bar;
};

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    throw new ApiError(`Cannot read ${file}`);
  }
}
