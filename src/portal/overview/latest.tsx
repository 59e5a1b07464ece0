import type { Child } from 'hono/jsx';
import { cappedCount, counted } from '../../core/platform/text.ts';
import { Empty, EventState, Level, Panel } from '../../ui/parts.tsx';
import { maxCounted } from '../../ui/read/attention.ts';
import { accidentPath, eventPath } from '../../ui/records.tsx';
import { dayIn, Time } from '../../ui/time.tsx';
import type { LatestEvent, UnattendedAccident } from '../read/overview.ts';
import { eventsPath } from './trends.tsx';

/** The newest accidents that need attention; `count` is how many there are. */
export const UnattendedAccidents = ({
  accidents,
  count,
}: {
  accidents: UnattendedAccident[];
  count: number;
}) => (
  <Panel
    id="open"
    live
    title={
      count === 0
        ? 'Accidents that need attention'
        : counted(count, 'accident needs attention', 'accidents need attention', maxCounted)
    }
    side={
      <a href={accidents.length > 0 ? '/portal/accidents?state=open' : '/portal/accidents'}>
        {count > accidents.length ? `See all ${cappedCount(count, maxCounted)}` : 'All accidents'}
      </a>
    }
  >
    {accidents.length === 0 ? (
      <Empty
        icon="car-front"
        title="None"
        text="A detected accident appears here within seconds, until somebody acknowledges or closes it."
      />
    ) : (
      <ul class="rows mt-2">
        {accidents.map(({ id, eventTime, notificationLevel, vehicleName, vin, tsp, address }) => (
          <Row stacked mark={<Level level={notificationLevel} />} at={eventTime}>
            <a class="cover" href={accidentPath({ eventId: id })}>
              {[vehicleName ?? (vin ? `VIN ${vin}` : 'Unknown vehicle'), address]
                .filter(Boolean)
                .join(', ')}
            </a>
            <p class="sub">
              {stages[notificationLevel - 1]} {tsp}
            </p>
          </Row>
        ))}
      </ul>
    )}
  </Panel>
);

const stages = [
  'First detection, not verified yet.',
  'Verified, report to follow.',
  'Report ready.',
];

/** Today's events of risk 4 and 5, how many a typical day has by now, and the latest of them. */
type Today = { risk4: number; risk5: number; typical: number; latest: LatestEvent[] };

export const RiskToday = ({ today, zone }: { today: Today; zone: string }) => {
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
      {today.latest.length > 0 && <Events events={today.latest} />}
    </Panel>
  );
};

export const LatestArrivals = ({ events }: { events: LatestEvent[] }) => (
  <Panel live title="Latest arrivals" side={<a href="/portal/events">All safety events</a>}>
    {events.length === 0 ? (
      <Empty
        icon="shield-check"
        title="No safety events yet"
        text="They appear here as they arrive."
      />
    ) : (
      <Events events={events} withProvider />
    )}
  </Panel>
);

const Events = ({
  events,
  withProvider = false,
}: {
  events: LatestEvent[];
  withProvider?: boolean;
}) => (
  <ul class={`rows${withProvider ? ' mt-2' : ' border-t border-line'}`}>
    {events.map(({ id, risk, withdrawn, types, vehicleName, tsp, startedAt, address }) => (
      <Row
        mark={<EventState eventRisk={risk} withdrawn={withdrawn} named={false} />}
        at={startedAt}
      >
        <a class="cover" href={eventPath({ id, startedAt })}>
          {namesIn(types).join(', ')}
        </a>{' '}
        <span class="sub">
          {[vehicleName, ...(withProvider ? [address, tsp] : [])].filter(Boolean).join(' · ')}
        </span>
      </Row>
    ))}
  </ul>
);

const Row = (props: { stacked?: boolean; mark: Child; at: number; children: Child }) => (
  <li class={props.stacked ? 'row-stacked' : undefined}>
    {props.mark}
    <div class="min-w-0">{props.children}</div>
    <span class="when">
      <Time at={props.at} />
    </span>
  </li>
);

const namesIn = (types: string): string[] => JSON.parse(types); // as D1 keeps them

/** Averages of small numbers have a decimal. */
const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
