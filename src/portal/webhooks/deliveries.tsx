import type { Child } from 'hono/jsx';
import type { Context } from '../../platform/http/context.ts';
import { briefly, counted, duration, outcomeOf } from '../../webhooks/alerts/words.ts';
import {
  type BrowsedDelivery,
  type BrowseQuery,
  maxCounted,
  type StateCounts,
  type WebhookActivity,
} from '../../webhooks/deliveries/activity.ts';
import { maxAttemptsOf } from '../../webhooks/deliveries/policy.ts';
import { afterAttempt, type Delivery, findDelivery } from '../../webhooks/deliveries/queries.ts';
import type { DeliveryKey } from '../../webhooks/deliveries/queue.ts';
import { replayOne, sendNow } from '../../webhooks/deliveries/replay.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { madeUpVin } from '../../webhooks/simulate.ts';
import { LinkButton, PostButton } from '../ui/buttons.tsx';
import { done, submit } from '../ui/form.ts';
import { cappedCount } from '../ui/format.ts';
import { Find } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Facts, Panel, Segment } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { type Pause, Risk, State, Status } from '../ui/states.tsx';
import { acting, type Column, Pager, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { aboveOf, deliveries as countOf } from './words.ts';

/** The deliveries that a webhook's page shows. */
export type ShownDeliveries = Omit<BrowseQuery, 'limit'>;

/** A webhook's deliveries: filters by state and type, a search, and actions. */
export const Browser = (props: { path: string; selection: ShownDeliveries; activity: WebhookActivity }) => {
  const { path, selection, activity } = props;
  const { counts, part, receiver } = activity;
  const { state, type, before, search } = selection;
  const to = (change: ShownDeliveries) => addressOf(path, { ...selection, before: undefined, ...change });
  const count = part.deliveries.length;
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
          choices={statesWith(counts)}
          current={search ? null : state}
          to={(state) => to({ state, search: undefined })}
        />
        <Segment
          label="Type"
          choices={types}
          current={search ? null : type}
          to={(type) => to({ type, search: undefined })}
        />
        <Find path={path} q={search} hint="Delivery-Id, event ID or VIN" button="Search" look="search" />
      </div>
      {count === 0 ? (
        <Nothing {...{ path, selection, activity }} />
      ) : (
        <div class="border-t border-line">
          <Table caption="Deliveries" columns={columnsOf(path, receiver)} items={part.deliveries} />
        </div>
      )}
      {(part.next || before) && (
        <Pager
          count={`${countOf(count)}${part.next ? ', more follow' : ''}`}
          first={before && to({})}
          next={part.next && to({ before: part.next })}
        />
      )}
    </Panel>
  );
};

const statesWith = ({ retrying, failed, waiting }: StateCounts): [ShownDeliveries['state'], Child][] => [
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

function addressOf(path: string, { search: q, ...filters }: ShownDeliveries): string {
  const set = Object.entries({ ...filters, q }).filter(([, value]) => value);
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
  return `${path}${query.size > 0 ? '?' : ''}${query}#deliveries`;
}

/** Why nothing is shown, and where there may be something. */
const Nothing = (props: { path: string; selection: ShownDeliveries; activity: WebhookActivity }) => {
  const { state, search, type, before } = props.selection;
  const { counts, part } = props.activity;
  if (part.next) return <Empty icon="clock" title="None among the last 1,000 deliveries" />;
  if (!state && !search && !type && !before)
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
      action={<LinkButton href={`${props.path}#deliveries`} name="Clear all" />}
    >
      {state === 'failed' && counts.retrying > 0
        ? `No delivery has been given up. ${countOf(counts.retrying, maxCounted)} failed and will be attempted again.`
        : search && 'Old deliveries are deleted. A VIN finds those of its newest events.'}
    </Empty>
  );
};

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
  { head: 'Last attempt', look: 'nowrap', cell: ({ last }) => last && <Time at={last.at} seconds /> },
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
function nameOf({ type, level, about }: Pick<BrowsedDelivery, 'type' | 'level' | 'about'>): string {
  if (type === ACCIDENT) return `Accident, level ${level}`;
  return about?.types.join(', ') || 'Safety event';
}

/** Its vehicle and VIN, as far as known. */
const subjectOf = (about: BrowsedDelivery['about']): string =>
  [about?.vehicle, about?.vin].filter(Boolean).join(', ');

/** The page of a delivery. */
export async function detail(c: Context) {
  const delivery = await requireDelivery(c);
  const { webhookId, id, eventId, type, status, log, about, webhook } = delivery;
  const isAccident = type === ACCIDENT;
  const isMadeUp = about?.vin === madeUpVin;
  return page(
    c,
    {
      title: nameOf(delivery),
      above: aboveOf(webhook && { ...webhook, id: webhookId }),
      state: <Status delivery={delivery} webhook={webhook} />,
      lead: subjectOf(about),
      actions:
        webhook &&
        (status === 'pending' ? (
          <PostButton to={`${c.req.path}/send`} name="Send now" icon="send" />
        ) : (
          <PostButton to={`${c.req.path}/replay`} name="Replay" icon="rotate-ccw" />
        )),
    },
    <div class="stack" data-live>
      {status === 'delivered' && (
        <p class="sub">
          It was delivered: if you replay it, your receiver will see a repeat, with the same Delivery-Id.
        </p>
      )}
      <div class="cols cols-3-2">
        <div class="stack">
          <Attempts delivery={delivery} />
          <Panel id="payload" title="Payload" side={<p>The data that is sent</p>}>
            {delivery.payload === null ? (
              <p class="panel-body">No longer available.</p>
            ) : (
              <pre class="payload" tabindex={0}>
                <code>{JSON.stringify(delivery.payload, null, 2)}</code>
              </pre>
            )}
          </Panel>
        </div>
        <Panel
          id="about"
          title="Delivery"
          side={
            about &&
            !isMadeUp && (
              <a href={`/portal/${isAccident ? 'accidents' : 'events'}/${eventId}`}>
                {isAccident ? 'See the accident' : 'See the event'}
              </a>
            )
          }
          body
        >
          <Facts
            facts={[
              ['Risk', about?.risk && <Risk risk={about.risk} named />],
              ['Made up', isMadeUp && 'Yes, as a test'],
              ['Attempts', log.length + delivery.attemptsOmitted],
              ['Ended', delivery.finishedAt && <Time at={delivery.finishedAt} seconds />],
              ['Delivery-Id', <code class="text-xs">{id}</code>],
              ['Event ID', <code class="text-xs">{eventId}</code>],
              ['Request ID', delivery.requestId && <code class="text-xs">{delivery.requestId}</code>],
            ]}
          />
        </Panel>
      </div>
    </div>,
  );
}

/** The delivery in the path. @throws Refusal: not found, also for another account's */
async function requireDelivery(c: Context) {
  const key = { webhookId: c.req.param('id') ?? '', id: c.req.param('deliveryId') ?? '' };
  return found(await findDelivery(c.env, c.get('caller'), key));
}

const Attempts = ({ delivery }: { delivery: Delivery }) => {
  const { status, type, attempts, log, attemptsOmitted } = delivery;
  const last = log.at(-1);
  return (
    <Panel
      id="attempts"
      title="Attempts"
      side={
        attemptsOmitted > 0 && (
          <p>The first and the latest 20. {attemptsOmitted} between them are not kept.</p>
        )
      }
      foot={
        status === 'pending' &&
        attempts > 0 &&
        last &&
        `${counted(attempts, 'attempt has failed', 'attempts have failed')}. ${outcomeOf(last)} Attempt ${attempts + 1} of ${maxAttemptsOf(type)} follows.`
      }
    >
      {log.length === 0 && (
        <Empty icon="clock" title="None yet">
          An attempt appears here as soon as your receiver responds.
        </Empty>
      )}
      <ol class="rows attempts">
        {log.map((attempt) => (
          <li class="row-stacked">
            <State mood={attempt.result === 'success' ? 'ok' : 'bad'}>{briefly(attempt)}</State>
            <div>
              in {duration(attempt.durationMs)}
              {'answer' in attempt && attempt.answer !== '' && (
                <pre>
                  <code>{attempt.answer}</code>
                </pre>
              )}
            </div>
            <span class="when">
              <Time at={attempt.at} seconds />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
};

export async function replayDelivery(c: Context) {
  const delivery = await requireDelivery(c);
  const subject = [nameOf(delivery), delivery.about?.vehicle || delivery.about?.vin];
  return send(c, pathOf(delivery), `Replayed: ${subject.filter(Boolean).join(', ')}. `, async () => {
    await replayOne(c.env, c.get('caller'), delivery);
    return delivery;
  });
}

export async function sendDelivery(c: Context) {
  const delivery = await requireDelivery(c);
  return send(c, pathOf(delivery), '', async () => {
    await sendNow(c.env, c.get('caller'), delivery);
    return delivery;
  });
}

const pathOf = ({ webhookId, id }: Delivery): string => `/portal/webhooks/${webhookId}/deliveries/${id}`;

/**
 * Sends a delivery, waits a moment for its receiver's response, and says on the page `to` what was `said` and returned,
 * or why it was refused.
 */
export function send(c: Context, to: string, said: string, start: () => Promise<DeliveryKey>) {
  const since = Date.now();
  return submit(
    c,
    async () => {
      const key = await start();
      const { webhook, last } = (await afterAttempt(c.env, c.get('caller'), key, since)) ?? {};
      if (last && last.at >= since)
        return done(c, to, said + outcomeOf(last), last.result === 'success' ? 'ok' : 'warn');
      return webhook?.pausedAt || webhook?.openUntil
        ? done(c, to, `${said}It is waiting, because the webhook is paused.`, 'warn')
        : done(c, to, `${said}It is on its way.`);
    },
    ({ message }) => done(c, to, `${message}.`, 'quiet'),
  );
}
