import { briefly, duration } from '../../webhooks/alerts/words.ts';
import { type DeliveryOfEvent, maxOfEvent } from '../../webhooks/deliveries/of-event.ts';
import { EVENT_LEVEL } from '../../webhooks/notifications/types.ts';
import { Icon } from '../ui/icons.tsx';
import { GroupedTable, Panel } from '../ui/parts.tsx';
import { Level, levelNames, Status } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

/** Which webhooks were notified of an event or accident, when, and what their receivers returned; by level. */
export const WhoWasNotified = (props: { deliveries: DeliveryOfEvent[]; complete: boolean }) => {
  const { deliveries, complete } = props;
  const levels = Map.groupBy(deliveries, ({ level }) => level);
  return (
    <Panel id="notified" title="Who was notified" side={<a href="/portal/webhooks">All webhooks</a>}>
      {deliveries.length === 0 ? (
        <p class="panel-body sub">
          No webhook was notified: none of them subscribed to it, it came in as history, or its deliveries are
          past their retention of 30 days.
        </p>
      ) : (
        <GroupedTable
          caption="Deliveries"
          look="mt-1"
          head={['Receiver', 'Sent', 'State', 'Response']}
          groups={[...levels].map(([level, those]) => ({
            name: level !== EVENT_LEVEL && (
              <span class="flex items-center gap-2">
                <Level level={level} />
                <span>{levelNames[level - 1]}</span>
              </span>
            ),
            rows: those.map((delivery) => <DeliveryRow delivery={delivery} />),
          }))}
        />
      )}
      {!complete && (
        <p class="panel-body sub">
          These are the first {maxOfEvent} deliveries at most. A webhook's own page has the others.
        </p>
      )}
    </Panel>
  );
};

const DeliveryRow = ({ delivery }: { delivery: DeliveryOfEvent }) => {
  const { id, webhookId, name, url, last, createdAt } = delivery;
  return (
    <tr>
      <td class="card-title">
        <span class="flex items-center gap-2">
          <span class="quiet">
            <Icon name="webhook" small />
          </span>
          <a class="cover break-all" href={`/portal/webhooks/${webhookId}/deliveries/${id}`}>
            {name ?? receiverName(url)}
          </a>
        </span>
      </td>
      <td class="nowrap">
        <Time at={last?.at ?? createdAt} seconds />
      </td>
      <td class="card-side nowrap">
        <Status delivery={delivery} pausedUntil={delivery.pausedUntil} />
      </td>
      <td>
        <Response delivery={delivery} />
      </td>
    </tr>
  );
};

/** The address of a receiver without what all of them have in common. */
const receiverName = (url: string): string => url.replace(/^https:\/\//, '').replace(/\/$/, '');

const Response = ({ delivery: { last, attempts } }: { delivery: DeliveryOfEvent }) => {
  if (!last) return <span class="sub">Not tried yet</span>;
  return (
    <>
      {briefly(last)}{' '}
      <span class="sub whitespace-nowrap">
        in {duration(last.durationMs)}
        {attempts > 1 && `, attempt ${attempts}`}
      </span>
    </>
  );
};
