import type { Child } from 'hono/jsx';
import { dayMs } from '../../../core/platform/durations.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { addTallies, shownHours, type Tally } from '../../../core/webhooks/deliveries/counts.ts';
import * as policy from '../../../core/webhooks/deliveries/policy.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../../../core/webhooks/notifications/types.ts';
import type { StoredWebhook } from '../../../core/webhooks/stored.ts';
import { failureDescription } from '../../../texts/outcome.ts';
import { cappedCount, percent } from '../../../texts/words.ts';
import type { OnWebhook } from '../../../ui/added-to-webhooks.ts';
import { LinkButton, PostButton } from '../../../ui/buttons.tsx';
import { timeZoneOf } from '../../../ui/layout.tsx';
import { Figures, Note } from '../../../ui/parts.tsx';
import { Time } from '../../../ui/time.tsx';
import { deliveries, pathOf } from '../../../ui/webhooks.ts';
import { maxCounted, type WebhookActivity, webhookActivity } from '../activity.ts';
import type { Receiver } from '../receivers.ts';
import { maxTimed, percentile } from '../times.ts';
import { Charts } from './charts.tsx';
import { Browser, type ShownDeliveries } from './deliveries.tsx';
import { healthOf } from './webhooks.tsx';

/** What it adds to the page of a webhook: how its receiver is, its deliveries, and tests. */
export async function onWebhook(c: Context, reading: Promise<StoredWebhook>): Promise<OnWebhook> {
  const selection = selectionIn(c);
  const [webhook, activity] = await Promise.all([
    reading,
    webhookActivity(...by(c), c.req.param('id') ?? '', { ...selection, limit: 20 }),
  ]);
  const { receiver, hours, responses, counts } = activity;
  const day = addTallies(hours.slice(-shownHours));
  const path = pathOf(webhook);
  return {
    conditionOf: (known) => (receiver ? healthOf(receiver, day, known) : known),
    actions: webhook.notificationTypes.includes(EVENT) && (
      <PostButton to={`${path}/test-event`} name="Send a test event" icon="send" />
    ),
    firstLinks: webhook.notificationTypes.includes(ACCIDENT) && (
      <PostButton
        to={`${path}/test-accident`}
        name="Simulate an accident"
        icon="car-front"
        weight="ghost"
      />
    ),
    links: (
      <LinkButton
        href={`${path}/replay`}
        name="Replay deliveries"
        icon="rotate-ccw"
        weight="ghost"
      />
    ),
    above: (
      <>
        {receiver && <Trouble receiver={receiver} waiting={counts.waiting} tries={`${path}/try`} />}
        <Numbers activity={activity} day={day} />
        <Charts
          {...{ path, hours, responses }}
          byDay={c.req.query('by') === 'day'}
          zone={timeZoneOf(c)}
        />
        <Browser path={path} selection={selection} activity={activity} />
      </>
    ),
    facts: [
      [
        'Filters',
        webhook.filters && (
          <div class="sub">{deliveries(day.delivered + day.failed)} sent within 24 hours</div>
        ),
      ],
      ['Calls', receiver && callLimits(receiver)],
    ],
  };
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
