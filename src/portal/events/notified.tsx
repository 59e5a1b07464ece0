import { duration } from '../../platform/text.ts';
import { briefly } from '../../webhooks/alerts/words.ts';
import { type DeliveryOfEvent, maxOfEvent } from '../../webhooks/deliveries/read/find.ts';
import { EVENT_LEVEL, levelNames } from '../../webhooks/notifications/types.ts';
import { Icon } from '../ui/icons.tsx';
import { Level, Status } from '../ui/states.tsx';
import { type Column, TablePanel } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { titleOf } from '../webhooks/words.ts';

/** Which webhooks were notified of an event or accident, when, and their receivers' responses; by level. */
export const WhoWasNotified = (props: { deliveries: DeliveryOfEvent[]; complete: boolean }) => {
  const { deliveries, complete } = props;
  const levels = Map.groupBy(deliveries, ({ level }) => level);
  return (
    <TablePanel
      id="notified"
      title="Who was notified"
      side={<a href="/portal/webhooks">All webhooks</a>}
      live
      look="data-cards data-flow mt-1"
      columns={columns}
      groups={[...levels].map(([level, items]) => ({
        name: level !== EVENT_LEVEL && (
          <span class="flex items-center gap-2">
            <Level level={level} />
            <span>{levelNames[level - 1]}</span>
          </span>
        ),
        items,
      }))}
      empty={
        <p class="panel-body sub">
          No webhook was notified: none of them subscribed to it, it came in as history, or its deliveries are
          past their retention.
        </p>
      }
    >
      {!complete && (
        <p class="panel-body sub">
          These are the first {maxOfEvent} deliveries at most. A webhook's own page has the others.
        </p>
      )}
    </TablePanel>
  );
};

const columns: Column<DeliveryOfEvent>[] = [
  {
    head: 'Receiver',
    look: 'card-title',
    cell: (delivery) => (
      <span class="flex items-center gap-2">
        <span class="quiet">
          <Icon name="webhook" small />
        </span>
        <a class="cover break-all" href={`/portal/webhooks/${delivery.webhookId}/deliveries/${delivery.id}`}>
          {titleOf(delivery)}
        </a>
      </span>
    ),
  },
  {
    head: 'Sent',
    look: 'nowrap',
    cell: ({ last, createdAt }) => <Time at={last?.at ?? createdAt} seconds />,
  },
  {
    head: 'State',
    look: 'card-side nowrap',
    cell: (delivery) => <Status delivery={delivery} webhook={delivery} />,
  },
  {
    head: 'Response',
    cell: ({ last, attempts }) =>
      last ? (
        <>
          {briefly(last)}{' '}
          <span class="sub whitespace-nowrap">
            in {duration(last.durationMs)}
            {attempts > 1 && `, attempt ${attempts}`}
          </span>
        </>
      ) : (
        <span class="sub">Not tried yet</span>
      ),
  },
];
