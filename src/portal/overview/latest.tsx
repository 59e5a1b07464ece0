import { Empty, Panel } from '../ui/parts.tsx';
import { accidentPath, eventPath } from '../ui/record-paths.ts';
import { Level, Risk } from '../ui/states.tsx';
import { dayIn, Time } from '../ui/time.tsx';
import { type LatestEvent, latestShown, type OpenAccident } from './latest.ts';
import { eventsPath } from './paths.ts';
import type { Overview } from './read.ts';

/** The newest accidents that wait for their report. */
export const OpenAccidents = ({ accidents }: { accidents: OpenAccident[] }) => (
  <Panel
    id="open"
    title={titleOf(accidents.length)}
    side={
      <a href={accidents.length > 0 ? '/portal/accidents?state=open' : '/portal/accidents'}>All accidents</a>
    }
  >
    {accidents.length === 0 ? (
      <Empty icon="car-front" title="None">
        A detected accident appears here within seconds, first as level 1.
      </Empty>
    ) : (
      <ul class="rows mt-2">
        {accidents.map(({ id, eventTime, notificationLevel, vehicleName, vin, tsp, address }) => (
          <li class="row-accident">
            <Level level={notificationLevel} />
            <div class="min-w-0">
              <a class="cover break-words" href={accidentPath({ eventId: id, eventTime: iso(eventTime) })}>
                {[vehicleName ?? `VIN ${vin}`, address].filter(Boolean).join(', ')}
              </a>
              <p class="sub break-words">
                {notificationLevel === 1
                  ? 'First detection, not verified yet.'
                  : 'Verified, report to follow.'}{' '}
                {tsp}
              </p>
            </div>
            <span class="when">
              <Time at={eventTime} />
            </span>
          </li>
        ))}
      </ul>
    )}
  </Panel>
);

/** There may be more than are shown. */
const titleOf = (shown: number): string =>
  shown === latestShown.accidents
    ? 'Latest open accidents'
    : shown === 0
      ? 'Open accidents'
      : `${shown} open accident${shown === 1 ? '' : 's'}`;

/** How many events of risk 4 and 5 there are today, against a usual day by now, and the latest of them. */
export const RiskToday = ({ today, zone }: { today: Overview['today']; zone: string }) => {
  const total = today.risk4 + today.risk5;
  const day = dayIn(zone, Date.now());
  const weekday = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long' }).format(Date.now());
  return (
    <Panel
      id="today"
      title="Risk 4 and 5 today"
      side={
        <a href={eventsPath({ from: day, to: day, risk: '4' })}>
          See {total === 1 ? 'it' : total === 0 ? 'all' : `all ${number(total)}`}
        </a>
      }
    >
      <div class="panel-body pb-2">
        <p class="big">{number(total)}</p>
        <p class="sub">
          {number(today.risk5)} critical, {number(today.risk4)} high.{' '}
          {today.typical > 0 && `On a typical ${weekday} it is ${number(rounded(today.typical))} by now.`}
        </p>
      </div>
      {today.latest.length > 0 && <Events events={today.latest} />}
    </Panel>
  );
};

/** The newest events of all connections. */
export const LatestArrivals = ({ events }: { events: LatestEvent[] }) => (
  <Panel id="latest" title="Latest arrivals" side={<a href="/portal/events">All safety events</a>}>
    {events.length === 0 ? (
      <Empty icon="shield-check" title="No safety events yet">
        They appear here as they come in.
      </Empty>
    ) : (
      <Events events={events} withProvider />
    )}
  </Panel>
);

const Events = ({ events, withProvider = false }: { events: LatestEvent[]; withProvider?: boolean }) => (
  <ul class={`rows${withProvider ? ' mt-2' : ' border-t border-line'}`}>
    {events.map(({ id, risk, types, vehicleName, tsp, startedAt, address }) => (
      <li>
        <Risk risk={risk} />
        <div class="min-w-0">
          <a class="cover break-words" href={eventPath({ id, startedAt: iso(startedAt) })}>
            {namesIn(types).join(', ')}
          </a>{' '}
          <span class="sub break-words">
            {[vehicleName, ...(withProvider ? [address, tsp] : [])].filter(Boolean).join(' · ')}
          </span>
        </div>
        <span class="when">
          <Time at={startedAt} />
        </span>
      </li>
    ))}
  </ul>
);

const namesIn = (types: string): string[] => JSON.parse(types); // as D1 keeps them

const number = (value: number): string => value.toLocaleString('en');

/** Averages of small numbers have a decimal. */
const rounded = (value: number): number => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

const iso = (at: number): string => new Date(at).toISOString();
