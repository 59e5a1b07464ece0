import { hourMs } from '../../../core/platform/durations.ts';
import { addTallies, hourOf, shownHours } from '../../../core/webhooks/deliveries/counts.ts';
import { counted } from '../../../texts/words.ts';
import { Chart, Legend, type Series } from '../../../ui/chart.tsx';
import { Panel, Segment } from '../../../ui/parts.tsx';
import { clockTime, dayIn, shortDate } from '../../../ui/time.tsx';
import type { HourTally } from '../hours.ts';
import { maxTimed, percentile, type ReceiverResponse } from '../times.ts';

const shownDays = 30;

const rates: Series[] = [
  { name: 'Failed attempts', look: 'fill-bad' },
  { name: 'Delivered', look: 'fill-main' },
];
const times: Series[] = [
  { name: 'Median', look: 'trace-main' },
  { name: 'Slowest 5%', look: 'trace-soft' },
];

/** Deliveries, failures and response times: by hour for a day, or by day for 30. */
export const Charts = (props: {
  path: string;
  hours: HourTally[];
  responses: ReceiverResponse[];
  byDay: boolean;
  zone: string;
}) => {
  const { path, hours, responses, byDay, zone } = props;
  const columns = byDay ? inDays(hours, zone) : inHours(hours.slice(-shownHours), zone);
  const byHour = Map.groupBy(responses, ({ at }) => hourOf(at));
  const { delivered, failed, retried } = addTallies(columns.map(({ tally }) => tally));
  const [per, time] = byDay ? ['day', 'the last 30 days'] : ['hour', 'the last 24 hours'];
  return (
    <>
      <Segment
        label="Charts"
        choices={[
          [false, 'Last 24 hours'],
          [true, 'Last 30 days'],
        ]}
        current={byDay}
        to={(days) => (days ? `${path}?by=day` : path)}
      />
      <div class="cols cols-2">
        <Panel title={`Deliveries per ${per}`} side={<Legend entries={rates.toReversed()} />} body>
          <Chart
            summary={`Deliveries per ${per} over ${time}: ${delivered.toLocaleString('en')} delivered, ${counted(failed + retried, 'failed attempt', 'failed attempts')}`}
            series={rates}
            columns={columns.map(({ name, tally }) => ({
              name,
              values: [tally.failed + tally.retried, tally.delivered],
            }))}
          />
        </Panel>
        <Panel title="Response time, ms" side={<Legend entries={times} />} body>
          <Chart
            summary={`Response time per ${per} over ${time}, in ms, of the last ${maxTimed.toLocaleString('en')} deliveries`}
            series={times}
            columns={columns.map(({ name, hours }) => {
              const times = hours.flatMap((hour) => byHour.get(hour) ?? []).map(({ ms }) => ms);
              return { name, values: [percentile(times, 0.5), percentile(times, 0.95)] };
            })}
          />
        </Panel>
      </div>
    </>
  );
};

const inHours = (hours: HourTally[], zone: string) =>
  hours.map((tally, i) => ({
    name: i === hours.length - 1 ? 'Now' : clockTime(zone, tally.hour * hourMs),
    tally,
    hours: [tally.hour],
  }));

const inDays = (hours: HourTally[], zone: string) =>
  [...Map.groupBy(hours, ({ hour }) => dayIn(zone, hour * hourMs)).values()]
    .slice(-shownDays)
    .map((day) => ({
      name: shortDate(zone, (day[0]?.hour ?? 0) * hourMs),
      tally: addTallies(day),
      hours: day.map(({ hour }) => hour),
    }));
