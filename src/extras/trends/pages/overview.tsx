import { by, type Context } from '../../../core/platform/http/context.ts';
import { capital } from '../../../core/platform/text.ts';
import { percent } from '../../../texts/words.ts';
import type { OnOverview } from '../../../ui/added.ts';
import { RiskChart } from '../../../ui/chart.tsx';
import { timeZoneOf } from '../../../ui/layout.tsx';
import { type LatestEvent, LatestEvents } from '../../../ui/lists/latest.tsx';
import { Panel, Segment } from '../../../ui/parts.tsx';
import { TablePanel } from '../../../ui/table.tsx';
import { addDays, dayIn, shortDate } from '../../../ui/time.tsx';
import { readTrends } from '../for-overview.ts';
import type { Affected as AffectedItem, DayCount, Span, TypeCount } from '../read.ts';
import { currentSpan, spanName } from './spans.ts';

/** Spans to compare with the same time before, in days up to today; one is yesterday. */
const spans = [1, 7, 30, 90];

/** What it adds to the overview. */
export async function onOverview(c: Context): Promise<OnOverview> {
  const days = Number(c.req.query('days'));
  const zone = timeZoneOf(c);
  const span = currentSpan(zone, spans.includes(days) ? days : 30);
  const found = await readTrends(...by(c), span);
  return {
    beside: <RiskToday today={found.today} zone={zone} />,
    middle: <Trend span={span} spans={spans} days={found.days} />,
    among: (
      <>
        <IncidentTypes span={span} types={found.types} />
        <Affected which="vehicle" span={span} affected={found.vehicles} />
        <Affected which="driver" span={span} affected={found.drivers} />
      </>
    ),
  };
}

/** Today's events of risk 4 and 5, how many a typical day has by now, and the latest of them. */
type Today = { risk4: number; risk5: number; typical: number; latest: LatestEvent[] };

const RiskToday = ({ today, zone }: { today: Today; zone: string }) => {
  const total = today.risk4 + today.risk5;
  const day = dayIn(zone, Date.now());
  const weekday = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long' }).format(
    Date.now(),
  );
  return (
    <Panel
      live
      title="Risk 4 and 5 today"
      side={
        <a href={eventsPath({ from: day, to: day, risk: '4' })}>
          See all{total > 1 && ` ${number(total)}`}
        </a>
      }
    >
      <div class="panel-body pb-2">
        <p class="big">{number(total)}</p>
        <p class="sub">
          {number(today.risk5)} critical, {number(today.risk4)} high.{' '}
          {today.typical > 0 && `A typical ${weekday} has ${number(today.typical)} by now.`}
        </p>
      </div>
      {today.latest.length > 0 && <LatestEvents events={today.latest} />}
    </Panel>
  );
};

/** Safety events per day by risk, against as many days before. */
const Trend = (props: { span: Span; spans: number[]; days: DayCount[] }) => {
  const { span, spans } = props;
  const both = daysOf(span, props.days);
  const days = both.slice(span.days);
  const now = totals(days);
  const before = totals(both.slice(0, span.days));
  const [total, totalBefore] = [sum(now), sum(before)];
  const first = days[0]?.date ?? span.today;
  return (
    <Panel
      live
      title="Safety events per day"
      lead={
        <>
          <a href={eventsIn(span)}>
            {total.toLocaleString('en')} {spanInWords(span.days)}
          </a>
          {comparison(total, totalBefore, spanBefore(span.days))}
        </>
      }
      side={
        <Segment
          label="Period"
          choices={spans.map((count) => [count, spanName(count)] as const)}
          current={span.days}
          to={(count) => (count === 30 ? '/portal' : `/portal?days=${count}`)}
        />
      }
      body
    >
      <RiskChart
        summary={`Safety events per day from ${dateOf(first)} to ${dateOf(span.today)}, stacked by risk, with the total ${spanBefore(span.days)} as pale columns.`}
        columns={days.map(({ date, risks, before }) => ({
          name: date === span.today && span.days > 1 ? 'Today' : dateOf(date),
          values: [...risks],
          before,
        }))}
        notes={now.map((count, i) => signed(count - (before[i] ?? 0)))}
        before={span.days === 1 ? 'The day before' : `${span.days} days before`}
      />
    </Panel>
  );
};

const totals = (days: Pick<DayCount, 'risks'>[]): number[] =>
  [0, 1, 2, 3, 4].map((i) => sum(days.map(({ risks }) => risks[i] ?? 0)));
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

const spanInWords = (days: number): string =>
  days === 1 ? 'yesterday' : `in the last ${days} days`;

const spanBefore = (days: number): string =>
  days === 1 ? 'on the day before' : `in the ${days} days before`;

/** ", 14% fewer than in the 30 days before"; from few to many ", 3 in the 30 days before". */
function comparison(total: number, before: number, than: string): string {
  if (before === 0) return total === 0 ? '' : `, none ${than}`;
  const change = Math.round((100 * (total - before)) / before);
  if (Math.abs(change) > 200) return `, ${before.toLocaleString('en')} ${than}`;
  if (change === 0) return `, as many as ${than}`;
  return `, ${Math.abs(change)}% ${change < 0 ? 'fewer' : 'more'} than ${than}`;
}

/** "Nov 20" */
const dateOf = (day: string): string => shortDate('UTC', Date.parse(day));

const eventsIn = ({ today, days }: Span, filters: Record<string, string> = {}): string =>
  eventsPath({ from: addDays(today, 1 - days), to: today, ...filters });

const eventsPath = (filters: Record<string, string>): string =>
  `/portal/events?${new URLSearchParams(filters)}`;

/** The most frequent incident types of a span, each with its change. */
const IncidentTypes = ({ span, types }: { span: Span; types: TypeCount[] }) => {
  const most = Math.max(1, ...types.map(({ events }) => events));
  return (
    <TablePanel
      title="Incident types"
      side={
        <p>{span.days === 1 ? 'Against the day before' : `Against the ${span.days} days before`}</p>
      }
      live
      look="mt-1"
      caption={`Incident types ${spanInWords(span.days)}`}
      empty={none(span)}
      items={types}
      columns={[
        {
          head: 'Type',
          look: 'w-full',
          href: ({ type }) => eventsIn(span, { type }),
          cell: ({ type }) => type,
          more: ({ events }) => (
            <svg class="hbar" aria-hidden="true">
              <rect class="fill-rest" width="100%" height="100%" rx="3" />
              <rect class="fill-main" width={percent(events / most, 1)} height="100%" rx="3" />
            </svg>
          ),
        },
        { head: 'Events', look: 'num', cell: ({ events }) => events.toLocaleString('en') },
        {
          head: 'Change',
          look: 'num quiet',
          cell: ({ events, before }) => signed(events - before),
        },
      ]}
    />
  );
};

const Affected = (props: { which: 'vehicle' | 'driver'; span: Span; affected: AffectedItem[] }) => {
  const { which, span, affected } = props;
  return (
    <TablePanel
      title={which === 'driver' ? 'Drivers with the most events' : 'Vehicles with the most events'}
      side={
        which === 'driver' ? (
          <a href={`/portal/drivers?order=rate&days=${Math.min(span.days, 30)}`}>Per 1,000 km</a>
        ) : (
          <p>{spanName(span.days)}, events of risk 4 and 5</p>
        )
      }
      live
      look="mt-1"
      caption={`${capital(which)}s with the most events of risk 4 and 5 ${spanInWords(span.days)}`}
      empty={none(span)}
      items={affected}
      columns={[
        {
          head: capital(which),
          look: 'w-full',
          href: ({ id }) => `/portal/${which}s/${id}`,
          cell: ({ name }) => name,
          // Two with the same name differ by this.
          more: ({ name, sourceId }) =>
            affected.filter((one) => one.name === name).length > 1 && <p class="sub">{sourceId}</p>,
        },
        { head: 'Risk 5', look: 'num', cell: ({ risk5 }) => risk5.toLocaleString('en') },
        { head: 'Risk 4', look: 'num', cell: ({ risk4 }) => risk4.toLocaleString('en') },
        {
          head: 'Both',
          look: 'num',
          cell: ({ id, name, risk4, risk5 }) => (
            <a class="over" href={eventsIn(span, { [which]: id, risk: '4' })}>
              {(risk4 + risk5).toLocaleString('en')}
              <span class="sr-only"> events of {name}</span>
            </a>
          ),
        },
      ]}
    />
  );
};

const none = ({ days }: Span) =>
  ({ icon: 'shield-check', title: 'None', text: `None ${spanInWords(days)}.` }) as const;

/** "+3", "−2" or "0". */
const signed = (value: number): string =>
  value === 0 ? '0' : `${value > 0 ? '+' : '−'}${Math.abs(value).toLocaleString('en')}`;

/** The days of a span and those before, each with its events and those of the day as long before. */
function daysOf({ today, days }: Span, counted: DayCount[]) {
  const byDay = new Map(counted.map((one) => [one.day, one.risks]));
  return Array.from({ length: 2 * days }, (_, i) => ({
    date: addDays(today, i + 1 - 2 * days),
    risks: byDay.get(i) ?? [0, 0, 0, 0, 0],
    before: sum(byDay.get(i - days) ?? []),
  }));
}

/** Averages of small numbers have a decimal. */
const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
