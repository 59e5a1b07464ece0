import type { Child } from 'hono/jsx';
import { maxAttemptsOf } from '../../../core/webhooks/deliveries/policy.ts';
import { ACCIDENT, EVENT } from '../../../core/webhooks/notifications/types.ts';
import { briefly } from '../../../texts/outcome.ts';
import { cappedCount, duration } from '../../../texts/words.ts';
import { LinkButton, PostButton } from '../../../ui/buttons.tsx';
import { Find } from '../../../ui/forms/forms.tsx';
import { addressOf } from '../../../ui/lists/filters.tsx';
import { type Empty, type Pause, Risk, Segment, Status } from '../../../ui/parts.tsx';
import { acting, type Column, Pager, TablePanel } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { deliveries as countOf } from '../../../ui/webhooks.ts';
import {
  type BrowsedDelivery,
  type BrowseQuery,
  maxCounted,
  type StateCounts,
  type WebhookActivity,
} from '../activity.ts';

export type ShownDeliveries = Omit<BrowseQuery, 'limit'>;

type Shown = { path: string; selection: ShownDeliveries; activity: WebhookActivity };

/** A webhook's deliveries: filters by state and type, a search, and actions. */
export const Browser = (props: Shown) => {
  const { path, selection, activity } = props;
  const { counts, part, receiver } = activity;
  const { state, type, before, search } = selection;
  const to = (change: ShownDeliveries) =>
    addressAt(path, { ...selection, before: undefined, ...change });
  const chosen = <T,>(value: T) => (search ? null : value);
  const count = part.deliveries.length;
  const replay = `Replay ${cappedCount(counts.failed, maxCounted)} failed`;
  return (
    <TablePanel
      title="Deliveries"
      side={
        counts.failed > 0 && (
          <LinkButton href={`${path}/replay`} name={replay} icon="rotate-ccw" small />
        )
      }
      above={
        <div class={`panel-body tools${count > 0 ? ' border-b border-line' : ''}`}>
          <Segment
            label="State"
            choices={statesWith(counts)}
            current={chosen(state)}
            to={(state) => to({ state, search: undefined })}
          />
          <Segment
            label="Type"
            choices={types}
            current={chosen(type)}
            to={(type) => to({ type, search: undefined })}
          />
          <Find
            path={path}
            q={search}
            hint="Delivery-Id, event ID or VIN"
            button="Search"
            look="search"
          />
        </div>
      }
      columns={columnsOf(path, receiver)}
      items={part.deliveries}
      empty={whyEmpty(props)}
    >
      {(part.next || before) && (
        <Pager
          count={`${countOf(count)}${part.next ? ' on this page' : ''}`}
          first={before && to({})}
          next={part.next && to({ before: part.next })}
        />
      )}
    </TablePanel>
  );
};

const statesWith = ({
  retrying,
  failed,
  waiting,
}: StateCounts): [ShownDeliveries['state'], Child][] => [
  [undefined, 'All'],
  ['retrying', ['Retrying ', <span>{cappedCount(retrying, maxCounted)}</span>]],
  ['failed', ['Failed ', <span>{cappedCount(failed, maxCounted)}</span>]],
  ['pending', ['Waiting ', <span>{cappedCount(waiting, maxCounted)}</span>]],
  ['delivered', 'Delivered'],
  ['cancelled', 'Cancelled'],
];

const types = [
  [undefined, 'Any type'],
  [ACCIDENT, 'Accidents'],
  [EVENT, 'Events'],
] as const;

const addressAt = (path: string, { state, type, before, search }: ShownDeliveries): string => {
  const kept = {
    state: state ?? '',
    type: String(type ?? ''),
    before: before ?? '',
    q: search ?? '',
  };
  return `${addressOf(path, kept)}#deliveries`;
};

function whyEmpty({
  path,
  selection,
  activity: { counts, part },
}: Shown): Parameters<typeof Empty>[0] {
  const { state, search, type, before } = selection;
  if (part.next) return { icon: 'clock', title: 'None among the last 1,000 deliveries' };
  if (!state && !search && !type && !before) {
    const text =
      'Accidents and safety events appear here as they are sent. A test event shows at once whether your receiver works.';
    return { icon: 'webhook', title: 'No deliveries yet', text };
  }
  return {
    icon: 'search',
    title: search ? `Nothing was found for “${search}”` : 'Nothing matches these filters',
    text:
      state === 'failed' && counts.retrying > 0
        ? `No delivery has been given up. ${countOf(counts.retrying, maxCounted)} failed and will be attempted again.`
        : search && 'Old deliveries are deleted. A VIN finds those of its newest events.',
    action: <LinkButton href={`${path}#deliveries`} name="Clear all" />,
  };
}

const columnsOf = (path: string, webhook: Pause | undefined): Column<BrowsedDelivery>[] => [
  {
    head: 'Notification',
    look: 'card-title w-1/3',
    href: ({ id }) => `${path}/deliveries/${id}`,
    cell: nameOf,
    more: ({ about }) => (
      <div class="sub about">
        {about?.risk && <Risk risk={about.risk} />}
        {about && <span>{subjectOf(about)}</span>}
      </div>
    ),
  },
  {
    head: 'State',
    look: 'card-side',
    cell: (delivery) => <Status delivery={delivery} webhook={webhook} />,
  },
  {
    head: 'Response',
    cell: ({ last }) =>
      last && (
        <span>
          <span class={last.result === 'success' ? '' : 'bad'}>{briefly(last)}</span>{' '}
          <span class="sub whitespace-nowrap">in {duration(last.durationMs)}</span>
        </span>
      ),
  },
  {
    head: 'Attempts',
    look: 'num',
    label: 'Attempts',
    cell: ({ type, status, attempts, made }) => [
      made,
      status === 'pending' && attempts > 0 && <span class="sub"> of {maxAttemptsOf(type)}</span>,
    ],
  },
  {
    head: 'Last attempt',
    look: 'nowrap',
    cell: ({ last }) => last && <Time at={last.at} seconds />,
  },
  acting(
    (delivery) =>
      (delivery.status === 'failed' || delivery.status === 'cancelled') && (
        <PostButton
          to={`${path}/deliveries/${delivery.id}/replay`}
          name="Replay"
          icon="rotate-ccw"
          about={nameOf(delivery)}
          small
        />
      ),
  ),
];

/** A delivery's notification: "Accident, level 2", or the types of an event. */
export function nameOf({
  type,
  level,
  about,
}: Pick<BrowsedDelivery, 'type' | 'level' | 'about'>): string {
  if (type === ACCIDENT) return `Accident, level ${level}`;
  return about?.types.join(', ') || 'Safety event';
}

/** Its vehicle and VIN, as far as known. */
export const subjectOf = (about: BrowsedDelivery['about']): string =>
  [about?.vehicle, about?.vin].filter(Boolean).join(', ');
