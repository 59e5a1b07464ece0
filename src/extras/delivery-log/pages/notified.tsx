import { by, type Context } from '../../../core/platform/http/context.ts';
import { may } from '../../../core/platform/roles.ts';
import { EVENT_LEVEL, levelNames } from '../../../core/webhooks/notifications/types.ts';
import { briefly } from '../../../texts/outcome.ts';
import { duration } from '../../../texts/words.ts';
import { type Alerted, added, type OnRecord, type ShownRecord } from '../../../ui/added.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Icon } from '../../../ui/buttons.tsx';
import { Level, Status } from '../../../ui/parts.tsx';
import { type Column, TablePanel } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { pathOf, titleOf } from '../../../ui/webhooks.ts';
import { type DeliveryOfEvent, deliveriesOf, maxOfEvent, type Notified } from '../find.ts';

type Props = Pick<Notified, 'deliveries' | 'complete' | 'unnotified'> & {
  alerted: Alerted[];
  isAccident?: boolean;
};

/**
 * Which webhooks were notified of an event or accident, when, and their receivers' responses, by level; which were not,
 * and why; and of an accident, which people and channels.
 */
const WhoWasNotified = (props: Props) => {
  const { deliveries, complete, unnotified, alerted, isAccident = false } = props;
  const levels = Map.groupBy(deliveries, ({ level }) => level);
  return (
    <TablePanel
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
          No webhook was notified
          {unnotified.length === 0 && ', or its deliveries have been deleted'}.
        </p>
      }
    >
      {!complete && (
        <p class="panel-body sub">
          Only the first {maxOfEvent} deliveries are shown. Each webhook’s page has its own.
        </p>
      )}
      {alerted.length + unnotified.length > 0 && (
        <ul class="rows border-t border-line">
          {alerted.map(({ name, isChannel, at, isWaiting }) => (
            <li>
              <Icon name={isChannel ? 'send' : 'mail'} small />
              <span>
                <Breakable text={name} />{' '}
                <span class="sub">
                  {isWaiting ? 'Waiting to be sent' : isChannel ? 'Sent' : 'Emailed'}
                </span>
              </span>
              <span class="when">
                <Time at={at} seconds />
              </span>
            </li>
          ))}
          {unnotified.map((webhook) => (
            <li>
              <Icon name="circle-slash" small />
              <span>
                <a class="cover" href={pathOf(webhook)}>
                  <Breakable text={titleOf(webhook)} />
                </a>{' '}
                <span class="sub">Not notified: {webhook.why}.</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {alerted.length === 0 && (
        <p class="panel-foot">
          {isAccident
            ? 'No person was emailed, and no channel was notified.'
            : 'We do not record who was emailed about safety events, or which channels were notified.'}
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
      <span class="flex items-start gap-2">
        <span class="quiet mt-0.5">
          <Icon name="webhook" small />
        </span>
        <a class="cover" href={`/portal/webhooks/${delivery.webhookId}/deliveries/${delivery.id}`}>
          <Breakable text={titleOf(delivery)} />
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

/** Who was notified, and on the page of an event whom its provider names. */
export async function onRecord(c: Context, { id, accident }: ShownRecord): Promise<OnRecord> {
  const [{ recipients, ...notified }, ...alerted] = await Promise.all([
    deliveriesOf(...by(c), id),
    ...added(c, 'alerted').map((find) => find(...by(c), id)),
  ]);
  // Only people who may see webhooks' URLs in full see email addresses.
  const maySeeAll = may(c.get('session').user.role, 'member');
  return {
    main: <WhoWasNotified {...notified} alerted={alerted.flat()} isAccident={Boolean(accident)} />,
    ...(!accident && { facts: [['Recipients', maySeeAll && recipients.join(', ')]] }),
  };
}
