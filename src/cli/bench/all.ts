import { measureDeliveries, measureLatency } from './deliveries.ts';
import { measureIngest } from './ingest.ts';
import { machine, report } from './report.ts';
import { measureRequests } from './requests.ts';
import type { Measure } from './rounds.ts';
import { startSetting } from './setting.ts';
import { measureStartUp } from './startup.ts';

/** How much to measure of each. */
export type Size = {
  rounds: number;
  requests: number;
  calls: number;
  waiting: number;
  samples: number;
  starts: number;
};

/** Takes all measures, one after the other on one stack, and prints them. Returns whether every target is met. */
export async function benchAll(json: boolean, size: Size): Promise<boolean> {
  const us = await startSetting('all');
  const measures: Measure[] = [];
  try {
    measures.push(...(await measureRequests(us, size.rounds, size.requests)));
    measures.push(await measureIngest(us, size.rounds, size.calls));
    measures.push(...(await measureDeliveries(us, size.rounds, size.waiting)));
    measures.push(...(await measureLatency(us, size.samples)));
  } finally {
    us.receiver.stop();
    await us.stack.stop();
  }
  const { gzipKiB, activeMs } = await measureStartUp(size.starts);
  const digits = (unit: string) => (figure: number) =>
    unit === 'ms' ? figure.toFixed(1) : String(Math.round(figure));
  const rows = measures.map(({ what, unit, bare, service, ratio, target, met }) => {
    const text = digits(unit);
    const within = ({ low, high }: Measure['ratio'], show: (figure: number) => string) =>
      low === high ? '' : ` (${show(low)}–${show(high)})`;
    return [
      what,
      `${text(bare.median)} ${unit}`,
      `${text(service.median)}${within(service, text)} ${unit}`,
      `${ratio.median.toFixed(2)}${within(ratio, (figure) => figure.toFixed(2))}`,
      target,
      met ? 'yes' : 'no',
    ];
  });
  rows.push([
    'start-up, active',
    '–',
    `${activeMs.toFixed(1)} ms`,
    '–',
    '≤ 60 ms',
    activeMs <= 60 ? 'yes' : 'no',
  ]);
  rows.push(['bundle, gzip', '–', `${gzipKiB} KiB`, '–', '≤ 150 KiB', gzipKiB <= 150 ? 'yes' : 'no']);
  report(
    `The service against the least code that could do the same job, in turns; median (lowest–highest); ${machine()}`,
    ['', 'bare', 'service', 'ratio', 'target', 'met'],
    rows,
    json,
  );
  return rows.every((row) => row.at(-1) === 'yes');
}
