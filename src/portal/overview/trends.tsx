import type { Child } from 'hono/jsx';
import type { Affected as AffectedItem, DayCount, Span, TypeCount } from '../../fleet/trends/read.ts';
import { Columns, Legend, riskSeries } from '../ui/chart.tsx';
import { addDays } from '../ui/days.ts';
import { capital, percent } from '../ui/format.ts';
import { Empty, Panel, Segment } from '../ui/parts.tsx';
import { shortDate } from '../ui/time.tsx';

/** Safety events per day by risk, against as many days before. `due` says how many days are still to be counted. */
export const Trend = (props: { span: Span; spans: number[]; days: DayCount[]; due: number }) => {
  const { span, spans, due } = props;
  const both = daysOf(span, props.days);
  const days = both.slice(span.days);
  const now = totals(days);
  const before = totals(both.slice(0, span.days));
  const [total, totalBefore] = [sum(now), sum(before)];
  const first = days[0]?.date ?? span.today;
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
            entries={riskSeries
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
          summary={`Safety events per day from ${dateOf(first)} to ${dateOf(span.today)}, stacked by risk, with the total of the ${span.days} days before as pale columns.`}
          series={riskSeries}
          columns={days.map(({ date, risks, before }) => ({
            name: date === span.today ? 'Today' : dateOf(date),
            values: [...risks],
            before,
          }))}
        />
        {due > 0 && (
          <p class="sub mt-2">
            {due === 1 ? 'One day is' : `${due} days are`} being counted again, because events came in late or
            were corrected.
          </p>
        )}
      </div>
    </section>
  );
};

const totals = (days: Pick<DayCount, 'risks'>[]): number[] =>
  riskSeries.map((_, i) => sum(days.map(({ risks }) => risks[i] ?? 0)));
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** ", 14% fewer than in the 30 days before"; from few to many ", 3 in the 30 days before". */
function comparison(total: number, before: number, days: number): string {
  const than = `in the ${days} days before`;
  if (before === 0) return total === 0 ? '' : `, none ${than}`;
  const change = Math.round((100 * (total - before)) / before);
  if (Math.abs(change) > 200) return `, ${before.toLocaleString('en')} ${than}`;
  if (change === 0) return `, as many as ${than}`;
  return `, ${Math.abs(change)}% ${change < 0 ? 'fewer' : 'more'} than ${than}`;
}

/** "Nov 20" */
const dateOf = (day: string): string => shortDate('UTC', Date.parse(day));

/** The list of safety events with filters set: the days of a span, and others. */
const eventsIn = ({ today, days }: Span, filters: Record<string, string> = {}): string =>
  eventsPath({
    from: addDays(today, 1 - days),
    to: today,
    ...filters,
  });

/** The list of safety events with these filters. */
export const eventsPath = (filters: Record<string, string>): string =>
  `/portal/events?${new URLSearchParams(filters)}`;

/** The most frequent incident types of a span, each with its change. */
export const IncidentTypes = ({ span, types }: { span: Span; types: TypeCount[] }) => {
  const most = Math.max(1, ...types.map(({ events }) => events));
  return (
    <Ranking
      id="types"
      title="Incident types"
      side={`${span.days} days, change to before`}
      caption={`Incident types of the last ${span.days} days`}
      head={['Type', 'Events', 'Change']}
      span={span}
    >
      {types.map(({ type, events, before }) => (
        <tr>
          <td class="w-full">
            <a class="cover" href={eventsIn(span, { type })}>
              {type}
            </a>
            <svg class="hbar" aria-hidden="true">
              <rect class="fill-rest" width="100%" height="100%" rx="3" />
              <rect class="fill-main" width={percent(events / most, 1)} height="100%" rx="3" />
            </svg>
          </td>
          <td class="num">{events.toLocaleString('en')}</td>
          <td class="num quiet">{signed(events - before)}</td>
        </tr>
      ))}
    </Ranking>
  );
};

/** The vehicles or drivers with the most events of risk 4 and 5. */
export const Affected = (props: { which: 'vehicle' | 'driver'; span: Span; affected: AffectedItem[] }) => {
  const { which, span, affected } = props;
  return (
    <Ranking
      id={`${which}s`}
      title={`Most affected ${which}s`}
      side={`${span.days} days, events of risk 4 and 5`}
      caption={`${capital(which)}s with the most events of risk 4 and 5 in the last ${span.days} days`}
      head={[capital(which), 'Risk 5', 'Risk 4', 'Both']}
      span={span}
    >
      {affected.map(({ id, name, risk4, risk5 }) => (
        <tr>
          <td class="w-full break-words">
            <a class="cover" href={`/portal/${which}s/${id}`}>
              {name}
            </a>
          </td>
          <td class="num">{risk5.toLocaleString('en')}</td>
          <td class="num">{risk4.toLocaleString('en')}</td>
          <td class="num">
            <a class="over" href={eventsIn(span, { [which]: id, risk: '4' })}>
              {(risk4 + risk5).toLocaleString('en')}
              <span class="sr-only"> events of {name}</span>
            </a>
          </td>
        </tr>
      ))}
    </Ranking>
  );
};

/** A table in which the first column says what has the numbers in the others, from the most to the least. */
const Ranking = (props: {
  id: string;
  title: string;
  side: string;
  caption: string;
  head: [what: string, ...numbers: string[]];
  span: Span;
  children: Child[];
}) => {
  const { id, title, side, caption, head, span, children } = props;
  return (
    <Panel id={id} title={title} side={<p>{side}</p>}>
      {children.length === 0 ? (
        <Empty icon="shield-check" title="None">
          None in the last {span.days} days.
        </Empty>
      ) : (
        <table class="data mt-1">
          <caption class="sr-only">{caption}</caption>
          <thead>
            <tr>
              {head.map((name, i) => (
                <th scope="col" class={i > 0 ? 'num' : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      )}
    </Panel>
  );
};

/** "+3", "−2" or "0". */
const signed = (value: number): string =>
  value === 0 ? '0' : `${value > 0 ? '+' : '−'}${Math.abs(value).toLocaleString('en')}`;

/** The days of a span and those before, one after the other, each with its events and those of the day as long before. */
function daysOf({ today, days }: Span, counted: DayCount[]) {
  const byDay = new Map(counted.map((one) => [one.day, one.risks]));
  return Array.from({ length: 2 * days }, (_, i) => ({
    date: addDays(today, i + 1 - 2 * days),
    risks: byDay.get(i) ?? [0, 0, 0, 0, 0],
    before: sum(byDay.get(i - days) ?? []),
  }));
}
