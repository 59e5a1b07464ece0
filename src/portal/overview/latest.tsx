import { type SQL, sql } from 'drizzle-orm';
import type { Child } from 'hono/jsx';
import { int } from '../../fleet/trends/recount.ts';
import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { hourMs } from '../../platform/durations.ts';
import { counted } from '../../platform/text.ts';
import { maxCounted } from '../session/attention.ts';
import { Empty, Panel } from '../ui/parts.tsx';
import { accidentPath, eventPath } from '../ui/records.tsx';
import { Level, Risk } from '../ui/states.tsx';
import { dayIn, Time } from '../ui/time.tsx';
import { eventsPath } from './trends.tsx';

/** The newest accidents without a report; `count` is how many there are. */
export const OpenAccidents = ({ accidents, count }: { accidents: OpenAccident[]; count: number }) => (
  <Panel
    id="open"
    live
    title={count === 0 ? 'Open accidents' : counted(count, 'open accident', 'open accidents', maxCounted)}
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
          <Row stacked mark={<Level level={notificationLevel} />} at={eventTime}>
            <a class="cover break-words" href={accidentPath({ eventId: id })}>
              {[vehicleName ?? (vin ? `VIN ${vin}` : 'Unknown vehicle'), address].filter(Boolean).join(', ')}
            </a>
            <p class="sub break-words">
              {notificationLevel === 1 ? 'First detection, not verified yet.' : 'Verified, report to follow.'}{' '}
              {tsp}
            </p>
          </Row>
        ))}
      </ul>
    )}
  </Panel>
);

/** Today's events of risk 4 and 5, how many a typical day has by now, and the latest of them. */
type Today = { risk4: number; risk5: number; typical: number; latest: LatestEvent[] };

export const RiskToday = ({ today, zone }: { today: Today; zone: string }) => {
  const total = today.risk4 + today.risk5;
  const day = dayIn(zone, Date.now());
  const weekday = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long' }).format(Date.now());
  return (
    <Panel
      id="today"
      live
      title="Risk 4 and 5 today"
      side={
        <a href={eventsPath({ from: day, to: day, risk: '4' })}>See all{total > 1 && ` ${number(total)}`}</a>
      }
    >
      <div class="panel-body pb-2">
        <p class="big">{number(total)}</p>
        <p class="sub">
          {number(today.risk5)} critical, {number(today.risk4)} high.{' '}
          {today.typical > 0 && `A typical ${weekday} has ${number(rounded(today.typical))} by now.`}
        </p>
      </div>
      {today.latest.length > 0 && <Events events={today.latest} />}
    </Panel>
  );
};

export const LatestArrivals = ({ events }: { events: LatestEvent[] }) => (
  <Panel id="latest" live title="Latest arrivals" side={<a href="/portal/events">All safety events</a>}>
    {events.length === 0 ? (
      <Empty icon="shield-check" title="No safety events yet">
        They appear here as they arrive.
      </Empty>
    ) : (
      <Events events={events} withProvider />
    )}
  </Panel>
);

const Events = ({ events, withProvider = false }: { events: LatestEvent[]; withProvider?: boolean }) => (
  <ul class={`rows${withProvider ? ' mt-2' : ' border-t border-line'}`}>
    {events.map(({ id, risk, types, vehicleName, tsp, startedAt, address }) => (
      <Row mark={<Risk risk={risk} />} at={startedAt}>
        <a class="cover break-words" href={eventPath({ id, startedAt })}>
          {namesIn(types).join(', ')}
        </a>{' '}
        <span class="sub break-words">
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

const number = (value: number): string => value.toLocaleString('en');

/** Averages of small numbers have a decimal. */
const rounded = (value: number): number => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

/** How many of each the overview shows. */
const latestShown = { accidents: 4, high: 3, arrivals: 6 };

/** How many connections, oldest first, are read for the latest events. */
const maxConnections = 100;

/** How many hours with events of risk 4 and 5 are read for the latest ones, and events of each. */
const maxHours = 3;
const maxPerHour = 1000;

type OpenAccident = {
  id: string;
  vin: string;
  vehicleName: string | null;
  eventTime: number;
  notificationLevel: number;
  tsp: string;
  address: string | null;
};

/** The newest accidents that are neither false alarms nor have their report. */
export const selectOpenAccidents = (db: Database, { accountId }: Caller) =>
  statement<OpenAccident>(db)`
    select a.id, a.vin, v.name as vehicleName, a.event_time as eventTime, a.notification_level as notificationLevel, a.tsp,
      a.location->>'address' as address
    from accidents a indexed by accidents_open left join vehicles v on v.id = a.vehicle_id
    where a.account_id = ${accountId} and a.dismissed = 0 and a.notification_level < 3 and a.closed is null
    order by a.event_time desc, a.id desc limit ${latestShown.accidents}`;

/** A safety event on the overview; `types` are incident types as JSON. */
type LatestEvent = {
  id: string;
  risk: number;
  types: string;
  vehicleName: string;
  tsp: string;
  startedAt: number;
  address: string | null;
};

const columns = sql`e.id, e.event_risk as risk, e.translated_incident_types as types, e.vehicle_name as vehicleName,
  e.tsp, e.started_at as startedAt, e.location->>'address' as address`;

/** The newest events: six are read of each connection. */
export const selectLatestEvents = (db: Database, { accountId }: Caller) =>
  statement<LatestEvent>(db)`
    select ${columns}
    from (select id from connections where account_id = ${accountId} order by created_at, id limit ${maxConnections}) c
    cross join safety_events e on e.id in (
      select id from safety_events where connection_id = c.id
      order by started_at desc, id desc limit ${latestShown.arrivals})
    order by e.started_at desc, e.id desc limit ${latestShown.arrivals}`;

/** The newest events of risk 4 and 5 since a time in milliseconds, of the latest three hours with any. */
export const selectLatestHigh = (db: Database, { accountId }: Caller, since: number) =>
  statement<LatestEvent>(db)`
    select ${columns} from (
      select start from event_counts where account_id = ${accountId} and hours = 1 and start >= ${int(since / hourMs)}
        and risk_4 + risk_5 > 0 order by start desc limit ${maxHours}) h
    cross join connections c on c.account_id = ${accountId}
    cross join safety_events e on e.id in (
      select id from safety_events where connection_id = c.id and ${within(sql`h.start`)}
      order by started_at desc limit ${maxPerHour})
    where e.event_risk >= 4 and e.started_at >= ${since}
    order by e.started_at desc, e.id desc limit ${latestShown.high}`;

const within = (hour: SQL): SQL =>
  sql`started_at >= ${hour} * ${int(hourMs)} and started_at < (${hour} + 1) * ${int(hourMs)}`;
