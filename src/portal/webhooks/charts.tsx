import { hourMs } from '../../platform/durations.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { addTallies, type HourTally, shownHours, type Tally } from '../../webhooks/deliveries/counts.ts';
import { percentile } from '../../webhooks/latency.ts';
import { Columns, Legend, type Line, Lines, type Series } from '../ui/chart.tsx';
import { Panel, Segment } from '../ui/parts.tsx';
import { clockTime, dayIn, shortDate } from '../ui/time.tsx';

export const shownDays = 30;

const series: Series[] = [
  { name: 'Failed attempts', look: 'fill-bad' },
  { name: 'Delivered', look: 'fill-main' },
];
const lines: Pick<Line, 'name' | 'look'>[] = [
  { name: 'Median', look: 'trace-main' },
  { name: 'Slowest 5%', look: 'trace-soft' },
];

/** Deliveries, failures and response times: by hour for a day, or by day for 30. */
export const Charts = (props: {
  path: string;
  search: URLSearchParams;
  hours: HourTally[];
  byDay: boolean;
  zone: string;
}) => {
  const { path, search, hours, byDay, zone } = props;
  const columns = byDay ? inDays(hours, zone) : inClockHours(hours.slice(-shownHours), zone);
  const all = addTallies(columns.map(({ tally }) => tally));
  const time = byDay ? 'the last 30 days' : 'the last 24 hours';
  const name = byDay ? 'day' : 'hour';
  const failed = all.failed + all.retried;
  return (
    <>
      <Segment
        label="Charts"
        choices={[
          [false, 'Last 24 hours'],
          [true, 'Last 30 days'],
        ]}
        current={byDay}
        to={(days) => withRange(path, search, days)}
      />
      <div class="cols cols-2">
        <Panel
          id="rate"
          title={`Deliveries per ${name}`}
          side={<Legend entries={series.toReversed()} />}
          body
        >
          <Columns
            id="rate-chart"
            summary={`Deliveries per ${name} over ${time}: ${all.delivered.toLocaleString('en')} delivered, ${counted(failed, 'failed attempt', 'failed attempts')}`}
            series={series}
            columns={columns.map(({ name, tally }) => ({
              name,
              values: [tally.failed + tally.retried, tally.delivered],
            }))}
          />
        </Panel>
        <Panel id="speed" title="Response time, ms" side={<Legend entries={lines} />} body>
          <Lines
            id="speed-chart"
            summary={speedIn(all, time)}
            unit="ms"
            points={columns.map(({ name }) => name)}
            lines={lines.map((line, i) => ({
              ...line,
              values: columns.map(({ tally }) => percentile(tally.responseTimes, i === 0 ? 0.5 : 0.95)),
            }))}
          />
        </Panel>
      </div>
    </>
  );
};

type NamedTally = { name: string; tally: Tally };

const inClockHours = (hours: HourTally[], zone: string): NamedTally[] =>
  hours.map((tally, i) => ({
    name: i === hours.length - 1 ? 'Now' : clockTime(zone, tally.hour * hourMs),
    tally,
  }));

/** The last 30 days in the reader's zone. */
function inDays(hours: HourTally[], timeZone: string): NamedTally[] {
  const days = Map.groupBy(hours, ({ hour }) => dayIn(timeZone, hour * hourMs));
  return [...days.values()]
    .slice(-shownDays)
    .map((day) => ({ name: shortDate(timeZone, (day[0]?.hour ?? 0) * hourMs), tally: addTallies(day) }));
}

function speedIn({ responseTimes }: Tally, time: string): string {
  const [median, slow] = [percentile(responseTimes, 0.5), percentile(responseTimes, 0.95)];
  if (median === null || slow === null) return `Response time over ${time}: the receiver has not responded`;
  const ms = (value: number) => value.toLocaleString('en');
  return `Response time over ${time}: half of the responses within ${ms(median)} ms, 95% within ${ms(slow)} ms`;
}

function withRange(path: string, search: URLSearchParams, byDay: boolean): string {
  const query = new URLSearchParams(search);
  query.delete('by');
  if (byDay) query.set('by', 'day');
  return query.size > 0 ? `${path}?${query}` : path;
}
