import { briefly, duration } from '../../webhooks/alerts/words.ts';
import {
  type BrowsedDelivery,
  maxCounted,
  type StateCounts,
  type WebhookActivity,
} from '../../webhooks/deliveries/activity.ts';
import { maxAttemptsOf } from '../../webhooks/deliveries/policy.ts';
import type { ListedState } from '../../webhooks/deliveries/read.ts';
import { ACCIDENT, EVENT, type NotificationType } from '../../webhooks/notifications/types.ts';
import { LinkButton, PostButton } from '../ui/buttons.tsx';
import { cappedCount } from '../ui/format.ts';
import { Find } from '../ui/forms.tsx';
import { Empty, Panel, Segment } from '../ui/parts.tsx';
import { type Pause, Risk, Status } from '../ui/states.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { deliveries as countOf } from './words.ts';

/** The filters of a webhook's deliveries. */
export type Shown = {
  state: ListedState | undefined;
  type: NotificationType | undefined;
  before: string | undefined;
  search: string | undefined;
};

/** A webhook's deliveries: filters by state and type, a search, and actions. */
export const Browser = (props: { path: string; selection: Shown; activity: WebhookActivity }) => {
  const { path, selection, activity } = props;
  const { counts, part, receiver } = activity;
  const { before, search } = selection;
  const to = (change: Partial<Shown>) => addressOf(path, { ...selection, before: undefined, ...change });
  return (
    <Panel
      id="deliveries"
      title="Deliveries"
      side={
        counts.failed > 0 && (
          <LinkButton
            href={`${path}/replay`}
            name={`Replay ${cappedCount(counts.failed, maxCounted)} failed`}
            icon="rotate-ccw"
            small
          />
        )
      }
    >
      <div class="panel-body tools">
        <Segment
          label="State"
          choices={choices(counts)}
          current={search ? null : selection.state}
          to={(state) => to({ state, search: undefined })}
        />
        <Segment
          label="Type"
          choices={types}
          current={search ? null : selection.type}
          to={(type) => to({ type, search: undefined })}
        />
        <Find path={path} q={search} hint="Delivery-Id, event ID or VIN" button="Search" look="search" />
      </div>
      {part.deliveries.length === 0 ? (
        <Nothing selection={selection} counts={counts} path={path} more={part.next !== undefined} />
      ) : (
        <div class="border-t border-line">
          <Table caption="Deliveries" columns={columnsOf(path, receiver)} items={part.deliveries} />
        </div>
      )}
      {(part.next || before) && (
        <Pager
          count={
            part.deliveries.length === 0
              ? 'None here'
              : `${countOf(part.deliveries.length)}${part.next ? ', more follow' : ''}`
          }
          first={before && to({})}
          next={part.next && to({ before: part.next })}
        />
      )}
    </Panel>
  );
};

const choices = (counts: StateCounts) =>
  [
    [undefined, 'All'],
    ['retrying', <Counted name="Retrying" count={counts.retrying} />],
    ['failed', <Counted name="Failed" count={counts.failed} />],
    ['pending', <Counted name="Waiting" count={counts.waiting} />],
    ['delivered', 'Delivered'],
    ['cancelled', 'Cancelled'],
  ] as const;

const types = [
  [undefined, 'Any type'],
  [ACCIDENT, 'Accidents'],
  [EVENT, 'Events'],
] as const;

const Counted = ({ name, count }: { name: string; count: number }) => (
  <>
    {name} <span>{cappedCount(count, maxCounted)}</span>
  </>
);

function addressOf(path: string, { state, type, before, search }: Partial<Shown>): string {
  const query = Object.entries({ state, type, before, q: search }).flatMap(([name, value]) =>
    value ? [[name, String(value)]] : [],
  );
  return query.length > 0 ? `${path}?${new URLSearchParams(query)}#deliveries` : `${path}#deliveries`;
}

/** Why nothing is shown, and where there may be something. */
const Nothing = (props: { selection: Shown; counts: StateCounts; path: string; more: boolean }) => {
  const { selection, counts, path, more } = props;
  const { state, search, type, before } = selection;
  if (more) return <Empty icon="clock" title="None among the last 1,000 deliveries" />;
  if (state === undefined && !search && !type && !before)
    return (
      <Empty icon="webhook" title="No deliveries yet">
        Accidents and safety events appear here as they are sent. A test event shows at once whether your
        receiver works.
      </Empty>
    );
  return (
    <Empty
      icon="search"
      title={search ? `Nothing was found for “${search}”` : 'Nothing matches these filters'}
      action={<LinkButton href={`${path}#deliveries`} name="Clear all" />}
    >
      {state === 'failed' && counts.retrying > 0
        ? `No delivery has been given up. ${countOf(counts.retrying, maxCounted)} failed and will be attempted again.`
        : search && 'Old deliveries are deleted. A VIN finds those of its newest events.'}
    </Empty>
  );
};

const columnsOf = (path: string, webhook: Pause | null | undefined): Column<BrowsedDelivery>[] => [
  {
    head: 'Notification',
    look: 'card-title w-1/3',
    href: ({ id }) => `${path}/deliveries/${id}`,
    cell: nameOf,
    more: (delivery) => (
      <div class="sub about">
        <Subject delivery={delivery} />
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
  { head: 'Last attempt', look: 'nowrap', cell: ({ last }) => last && <Time at={last.at} seconds /> },
  {
    head: 'Action',
    hideHead: true,
    look: 'end',
    cell: (delivery) =>
      (delivery.status === 'failed' || delivery.status === 'cancelled') && (
        <PostButton
          to={`${path}/deliveries/${delivery.id}/replay`}
          name="Replay"
          icon="rotate-ccw"
          about={nameOf(delivery)}
          small
        />
      ),
  },
];

/** A delivery's subject: "Accident, level 2", or the types of an event. */
export function nameOf({ type, level, about }: Pick<BrowsedDelivery, 'type' | 'level' | 'about'>): string {
  if (type === ACCIDENT) return `Accident, level ${level}`;
  return about && about.types.length > 0 ? about.types.join(', ') : 'Safety event';
}

/** The risk of an event, and the vehicle, otherwise its VIN. */
const Subject = ({ delivery: { about } }: { delivery: BrowsedDelivery }) =>
  about && (
    <>
      {about.risk !== null && <Risk risk={about.risk} />}
      <span>{[about.vehicle, about.vin].filter(Boolean).join(', ')}</span>
    </>
  );
