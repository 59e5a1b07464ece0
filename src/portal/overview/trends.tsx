import type { DayCount, Span } from '../../fleet/trends/read.ts';
import { Columns, Legend, type Series } from '../ui/chart.tsx';
import { Segment } from '../ui/parts.tsx';
import { dayText, eventsIn } from './paths.ts';
import { daysOf } from './read.ts';
import { signed } from './tables.tsx';

const risks: Series[] = [
  { name: 'Risk 1', look: 'fill-1' },
  { name: 'Risk 2', look: 'fill-2' },
  { name: 'Risk 3', look: 'fill-3' },
  { name: 'Risk 4', look: 'fill-4' },
  { name: 'Risk 5', look: 'fill-5' },
];

/** Safety events per day by risk, against as many days before. `due` says how many days are still to be counted. */
export const Trend = (props: { span: Span; spans: number[]; days: DayCount[]; due: number }) => {
  const { span, spans, due } = props;
  const days = daysOf(span, props.days);
  const now = totals(days);
  const before = totals(daysOf({ ...span, today: span.today - span.days }, props.days));
  const [total, totalBefore] = [sum(now), sum(before)];
  const first = days[0]?.day ?? span.today;
  return (
    <section class="panel" aria-labelledby="trend">
      <header class="panel-head">
        <div>
          <h2 id="trend">Safety events per day</h2>
          <p>
            <a href={eventsIn(span)}>
              {total.toLocaleString('en')} in the last {span.days} days
            </a>
            {comparison(total, totalBefore, span.days)}
          </p>
        </div>
        <Segment
          label="Period"
          choices={spans.map((count) => ({
            href: count === 30 ? '/portal' : `/portal?days=${count}`,
            name: `${count} days`,
            current: count === span.days,
          }))}
        />
      </header>
      <div class="panel-body">
        <div class="mb-3">
          <Legend
            entries={risks
              .map(({ name, look }, i) => ({
                name,
                look,
                total: (now[i] ?? 0).toLocaleString('en'),
                note: signed((now[i] ?? 0) - (before[i] ?? 0)),
              }))
              .reverse()}
            before={`${span.days} days before`}
          />
        </div>
        <Columns
          id="trend-chart"
          summary={`Safety events per day from ${shortDay(first)} to ${shortDay(span.today)}, stacked by risk, with the total of the ${span.days} days before as pale columns.`}
          series={risks}
          columns={days.map(({ day, risks, before }) => ({
            name: day === span.today ? 'Today' : shortDay(day),
            values: [...risks],
            before,
          }))}
        />
        <p class="sub mt-2">
          Days begin at midnight UTC.
          {due > 0 &&
            ` ${due === 1 ? 'One day is' : `${due} days are`} being counted again, because events came in late or were corrected.`}
        </p>
      </div>
    </section>
  );
};

const totals = (days: DayCount[]): number[] =>
  risks.map((_, i) => sum(days.map(({ risks }) => risks[i] ?? 0)));
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** ", 14% fewer than in the 30 days before". */
function comparison(total: number, before: number, days: number): string {
  const than = `in the ${days} days before`;
  if (before === 0) return total === 0 ? '' : `, none ${than}`;
  const change = Math.round((100 * (total - before)) / before);
  if (change === 0) return `, as many as ${than}`;
  return `, ${Math.abs(change)}% ${change < 0 ? 'fewer' : 'more'} than ${than}`;
}

/** "Nov 20", of a day in UTC. */
const shortDay = (day: number): string =>
  new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' }).format(
    Date.parse(dayText(day)),
  );
