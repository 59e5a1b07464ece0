import type { Child } from 'hono/jsx';
import { dayMs } from '../../core/platform/durations.ts';
import { by, type Context, inPath } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { addTallies, shownHours, type Tally } from '../../core/webhooks/deliveries/counts.ts';
import * as policy from '../../core/webhooks/deliveries/policy.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../../core/webhooks/notifications/types.ts';
import { findWebhook, type StoredWebhook } from '../../core/webhooks/stored.ts';
import {
  maxCounted,
  type WebhookActivity,
  webhookActivity,
} from '../../extras/delivery-log/activity.ts';
import { Charts } from '../../extras/delivery-log/pages/charts.tsx';
import { Browser, type ShownDeliveries } from '../../extras/delivery-log/pages/deliveries.tsx';
import type { Receiver } from '../../extras/delivery-log/receivers.ts';
import { maxTimed, percentile } from '../../extras/delivery-log/times.ts';
import type { Filters } from '../../extras/filters/filters.ts';
import { failureDescription } from '../../texts/outcome.ts';
import { cappedCount, listed, percent } from '../../texts/words.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { Allowed, LinkButton, MoreActions, PostButton, WebhookUrl } from '../../ui/buttons.tsx';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { Facts, Figures, Note, Panel, State } from '../../ui/parts.tsx';
import { Time } from '../../ui/time.tsx';
import { aboveOf, deliveries, pathOf, titleOf, typesOf } from '../../ui/webhooks.ts';
import { healthOf } from './webhooks.tsx';

/** The page of a webhook. */
export async function detail(c: Context) {
  const selection = selectionIn(c);
  const id = c.req.param('id') ?? '';
  const [webhook, activity] = await Promise.all([
    inPath(c, findWebhook),
    webhookActivity(...by(c), id, { ...selection, limit: 20 }),
  ]);
  const { receiver, hours, responses, connections, counts } = activity;
  const day = addTallies(hours.slice(-shownHours));
  const path = pathOf(webhook);
  const from = webhook.allConnections ? 'all connections' : listed(connections) || 'no connection';
  return page(
    c,
    {
      title: titleOf(webhook),
      above: aboveOf(),
      state: receiver && <State {...healthOf(receiver, day, webhook.connectionIds.length)} />,
      lead: (
        <>
          <code>
            {webhook.httpVerb} <WebhookUrl url={webhook.url} />
          </code>
          <br />
          {webhook.description ?? `${capital(typesOf(webhook))} from ${from}`}
        </>
      ),
      actions: <Actions webhook={webhook} />,
    },
    <div class="stack" data-live>
      {receiver && <Trouble receiver={receiver} waiting={counts.waiting} tries={`${path}/try`} />}
      <Numbers activity={activity} day={day} />
      <Charts
        {...{ path, hours, responses }}
        byDay={c.req.query('by') === 'day'}
        zone={timeZoneOf(c)}
      />
      <Browser path={path} selection={selection} activity={activity} />
      <Configuration webhook={webhook} activity={activity} day={day} />
    </div>,
  );
}

function selectionIn(c: Context): ShownDeliveries {
  const { state, type, before, q } = c.req.query();
  return {
    state: ([...policy.statuses, 'retrying'] as const).find((known) => known === state),
    type: notificationTypes.find((known) => String(known) === type),
    before: before || undefined,
    search: q?.trim().slice(0, 100) || undefined,
  };
}

const Actions = ({ webhook }: { webhook: StoredWebhook }) => {
  const { notificationTypes, pausedAt } = webhook;
  const path = pathOf(webhook);
  const simulate = { name: 'Simulate an accident', icon: 'car-front', weight: 'ghost' } as const;
  return (
    <>
      {notificationTypes.includes(EVENT) && (
        <PostButton to={`${path}/test-event`} name="Send a test event" icon="send" />
      )}
      {pausedAt && <PostButton to={`${path}/resume`} name="Resume" icon="play" weight="primary" />}
      <LinkButton href={`${path}/edit`} name="Edit" icon="pencil" />
      <Allowed to={`${path}/delete`}>
        <MoreActions>
          {notificationTypes.includes(ACCIDENT) && (
            <PostButton to={`${path}/test-accident`} {...simulate} />
          )}
          {!pausedAt && (
            <PostButton to={`${path}/pause`} name="Pause" icon="pause" weight="ghost" />
          )}
          <LinkButton
            href={`${path}/replay`}
            name="Replay deliveries"
            icon="rotate-ccw"
            weight="ghost"
          />
          <LinkButton
            href={`${path}/signing`}
            name="Signatures"
            icon="shield-check"
            weight="ghost"
          />
          <LinkButton href={`${path}/delete`} name="Delete" icon="trash" weight="ghost danger" />
        </MoreActions>
      </Allowed>
    </>
  );
};

const Trouble = (props: { receiver: Receiver; waiting: number; tries: string }) => {
  const { receiver, waiting, tries } = props;
  const { failures, openUntil, lastFailure, pausedAt } = receiver;
  if (pausedAt === null && failures < policy.circuitAfter && openUntil === null) return null;
  const waits = `${deliveries(waiting, maxCounted)} ${waiting === 1 ? 'is' : 'are'} waiting`;
  const [what, then] =
    pausedAt !== null
      ? [
          ['Paused since ', <Time at={pausedAt} />, '.'],
          `Nothing is sent. ${waits}. Deliveries that have waited for ${policy.giveUpAfterMs / dayMs} days fail, and can then be replayed.`,
        ]
      : [
          `Paused after ${failures} failures in a row.`,
          [
            lastFailure && `Its receiver ${failureDescription(lastFailure)}. `,
            `${waits}, and no attempt is spent on them. Next attempt `,
            openUntil === null ? 'now' : ['at ', <Time at={openUntil} />],
            '. One success resumes deliveries.',
          ],
        ];
  return (
    <Note
      mood={pausedAt !== null ? 'warn' : 'bad'}
      side={
        pausedAt === null && waiting > 0 && <PostButton to={tries} name="Try now" icon="send" />
      }
    >
      <strong>{what}</strong> {then}
    </Note>
  );
};

const Numbers = ({ activity, day }: { activity: WebhookActivity; day: Tally }) => {
  const { counts, receiver, responses } = activity;
  const ended = day.delivered + day.failed;
  const share = `${percent(day.delivered / ended, 1)} of ${ended.toLocaleString('en')}`;
  const nextAt = counts.nextAt === null ? null : Math.max(counts.nextAt, receiver?.openUntil ?? 0);
  const next = (at: number): Child =>
    at <= Date.now() ? 'being sent' : ['next at ', <Time at={at} />];
  const waitsFor =
    nextAt === null ? 'nothing to send' : receiver?.pausedAt ? 'until you resume it' : next(nextAt);
  const times = responses.map(({ ms }) => ms);
  const response = (part: number) => {
    const ms = percentile(times, part);
    return ms === null ? '–' : [ms.toLocaleString('en'), <span class="unit"> ms</span>];
  };
  return (
    <Figures
      figures={[
        [
          'Delivered, 24 h',
          day.delivered.toLocaleString('en'),
          ended === 0 ? 'nothing has ended' : share,
        ],
        [
          'Failed attempts, 24 h',
          (day.failed + day.retried).toLocaleString('en'),
          `${deliveries(day.failed)} given up`,
        ],
        ['Waiting', cappedCount(counts.waiting, maxCounted), waitsFor],
        ['Median response', response(0.5), `last ${maxTimed.toLocaleString('en')} deliveries`],
        ['Slowest 5%', response(0.95), `timeout is ${policy.retries.timeoutSeconds} s`],
      ]}
    />
  );
};

const Configuration = (props: {
  webhook: StoredWebhook;
  activity: WebhookActivity;
  day: Tally;
}) => {
  const { webhook, activity, day } = props;
  const { allConnections, headers, filters, oauth, signing } = webhook;
  const connections = listed(activity.connections) || 'None, so nothing is sent';
  const secrets = Object.keys(headers).map((name) => (
    <div>
      <code>{name}</code> <span class="sub">value hidden</span>
    </div>
  ));
  return (
    <Panel
      title="Configuration"
      body
      foot={<a href="/docs/reliability#what-counts-as-delivered">How deliveries are retried</a>}
      side={
        <Allowed to={`${pathOf(webhook)}/edit`} method="GET">
          <a href={`${pathOf(webhook)}/edit`}>Edit</a>
        </Allowed>
      }
    >
      <Facts
        facts={[
          ['Types', capital(typesOf(webhook))],
          ['Connections', [allConnections && 'All, including new ones: ', connections]],
          [
            'Headers',
            secrets.length > 0 ? secrets : 'None: your receiver cannot verify who is calling',
          ],
          [
            'Filters',
            filters
              ? [
                  filtersInWords(filters).map((words) => <div>{capital(words)}</div>),
                  <div class="sub">
                    {deliveries(day.delivered + day.failed)} sent within 24 hours
                  </div>,
                ]
              : 'None',
          ],
          ['Signature', signing ? 'Signed' : 'None'],
          ['OAuth 2', oauth ? tokensFrom(oauth) : 'None'],
          ['Calls', activity.receiver && callLimits(activity.receiver)],
          ['Added', <Time at={webhook.createdAt} />],
          ['ID', <code class="text-xs">{webhook.id}</code>],
        ]}
      />
    </Panel>
  );
};

/** A webhook's filters in words. */
const filtersInWords = ({
  minEventRisk,
  incidentTypes,
  vehicleGroups,
  accidentLevels,
}: Filters) => [
  ...(minEventRisk
    ? [`safety events of risk ${minEventRisk}${minEventRisk < 5 ? ' and above' : ''}`]
    : []),
  ...(incidentTypes ? [`incident types ${incidentTypes.join(', ')}`] : []),
  ...(accidentLevels ? [`accident levels ${accidentLevels.join(', ')}`] : []),
  ...(vehicleGroups ? [`vehicles in ${vehicleGroups.join(', ')}`] : []),
];

/** Where access tokens come from. The values of parameters may be secrets. */
const tokensFrom = ({ tokenUrl, params = {} }: NonNullable<StoredWebhook['oauth']>): Child => [
  <Breakable text={new URL(tokenUrl).host} />,
  Object.keys(params).length > 0 && <div class="sub">with {Object.keys(params).join(', ')}</div>,
];

/** The limits of a receiver in words, and its current number of calls. */
function callLimits({ maxInFlight, maxPerSecond, window }: Receiver): string {
  const most = maxInFlight ?? policy.widestWindow;
  const limits = [
    `Up to ${most} at a time`,
    maxPerSecond && `${maxPerSecond} a second`,
    window > 0 && window < most && `${window} for now`,
  ];
  const isSet = maxInFlight !== null || maxPerSecond !== null;
  return `${limits.filter(Boolean).join(', ')}${isSet ? '. Set by the operator.' : ''}`;
}
