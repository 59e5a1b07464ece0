import { cappedCount, counted } from '../../texts/words.ts';
import { type LatestEvent, LatestEvents, Row } from '../../ui/lists/latest.tsx';
import { accidentPath } from '../../ui/lists/records.tsx';
import { Empty, Level, Panel } from '../../ui/parts.tsx';
import { maxCounted } from '../../ui/read/attention.ts';
import type { UnattendedAccident } from '../read/read-overview.ts';

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

export const LatestArrivals = ({ events }: { events: LatestEvent[] }) => (
  <Panel live title="Latest arrivals" side={<a href="/portal/events">All safety events</a>}>
    {events.length === 0 ? (
      <Empty
        icon="shield-check"
        title="No safety events yet"
        text="They appear here as they arrive."
      />
    ) : (
      <LatestEvents events={events} withProvider />
    )}
  </Panel>
);
