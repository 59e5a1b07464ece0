import { dayMs } from '../../platform/durations.ts';
import type { Context } from '../../platform/http/context.ts';
import { capital, cappedCount, listed, percent } from '../../platform/text.ts';
import { failureDescription } from '../../webhooks/alerts/words.ts';
import {
  circuitAfter,
  circuitLongestMs,
  giveUpAfterMs,
  retries,
  statuses,
  widestWindow,
} from '../../webhooks/deliveries/policy.ts';
import {
  maxCounted,
  type WebhookActivity,
  webhookActivity,
} from '../../webhooks/deliveries/read/activity.ts';
import { addTallies, shownHours, type Tally } from '../../webhooks/deliveries/read/counts.ts';
import type { Receiver } from '../../webhooks/deliveries/receiver/health.ts';
import { percentile } from '../../webhooks/latency.ts';
import { ACCIDENT, EVENT, notificationTypes } from '../../webhooks/notifications/types.ts';
import type { OAuth } from '../../webhooks/oauth.ts';
import { findWebhook, type StoredWebhook } from '../../webhooks/stored.ts';
import { Allowed, WebhookUrl } from '../ui/allowed.tsx';
import { LinkButton, MoreActions, PostButton } from '../ui/buttons.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Facts, Figures, Note, Panel } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Charts } from './charts.tsx';
import { Browser, type ShownDeliveries } from './deliveries.tsx';
import { healthOf } from './webhooks.tsx';
import { aboveOf, deliveries, filtersInWords, pathOf, titleOf, typesOf } from './words.ts';

const pageSize = 20;

/** The page of a webhook. */
export async function detail(c: Context) {
  const selection = selectionOf(c);
  const [webhook, activity] = await Promise.all([
    requireWebhook(c),
    webhookActivity(c.env, c.get('caller'), c.req.param('id') ?? '', { ...selection, limit: pageSize }),
  ]);
  const { receiver, hours, connections } = activity;
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
      {receiver && <Trouble receiver={receiver} waiting={activity.counts.waiting} />}
      <Numbers activity={activity} />
      <Charts path={path} hours={hours} byDay={c.req.query('by') === 'day'} zone={timeZoneOf(c)} />
      <Browser path={path} selection={selection} activity={activity} />
      <div class="cols cols-2 cols-stretch">
        <Configuration webhook={webhook} activity={activity} day={day} />
        <Retries />
      </div>
    </div>,
  );
}

/** The filters in the address. */
function selectionOf(c: Context): ShownDeliveries {
  const { state, type, before, q } = c.req.query();
  return {
    state: ([...statuses, 'retrying'] as const).find((known) => known === state),
    type: notificationTypes.find((known) => String(known) === type),
    before: before || undefined,
    search: q?.trim().slice(0, 100) || undefined,
  };
}

/** The webhook in the path. @throws Refusal: not found, also for another account's */
export async function requireWebhook(c: Context): Promise<StoredWebhook> {
  return found(await findWebhook(c.env, c.get('caller'), c.req.param('id') ?? ''));
}

const Actions = ({ webhook }: { webhook: StoredWebhook }) => {
  const { notificationTypes, pausedAt } = webhook;
  const path = pathOf(webhook);
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
            <PostButton
              to={`${path}/test-accident`}
              name="Simulate an accident"
              icon="car-front"
              weight="ghost"
            />
          )}
          {!pausedAt && <PostButton to={`${path}/pause`} name="Pause" icon="pause" weight="ghost" />}
          <LinkButton href={`${path}/replay`} name="Replay deliveries" icon="rotate-ccw" weight="ghost" />
          <LinkButton href={`${path}/signing`} name="Signatures" icon="shield-check" weight="ghost" />
          <LinkButton href={`${path}/delete`} name="Delete" icon="trash" weight="ghost danger" />
        </MoreActions>
      </Allowed>
    </>
  );
};

/** Why deliveries are held back, what the receiver does, and when it is called next. */
const Trouble = (props: { receiver: Receiver; waiting: number }) => {
  const { failures, openUntil, lastFailure, pausedAt } = props.receiver;
  const waits = `${deliveries(props.waiting, maxCounted)} ${props.waiting === 1 ? 'is' : 'are'} waiting`;
  if (pausedAt !== null)
    return (
      <Note mood="warn">
        <p>
          <strong>
            Paused since <Time at={pausedAt} />.
          </strong>{' '}
          Nothing is sent. {waits}. Deliveries that have waited for {giveUpAfterMs / dayMs} days fail, and can
          then be replayed.
        </p>
      </Note>
    );
  if (failures < circuitAfter && openUntil === null) return null;
  return (
    <Note mood="bad">
      <p>
        <strong>Paused after {failures} failures in a row.</strong>{' '}
        {lastFailure && `Its receiver ${failureDescription(lastFailure)}. `}
        {waits}, and no attempt is spent on them. Next attempt{' '}
        {openUntil === null ? 'now' : ['at ', <Time at={openUntil} />]}. One success resumes deliveries.
      </p>
    </Note>
  );
};

const Numbers = ({ activity: { hours, counts, receiver } }: { activity: WebhookActivity }) => {
  const day = addTallies(hours.slice(-shownHours));
  const ended = day.delivered + day.failed;
  const nextAt = counts.nextAt === null ? null : Math.max(counts.nextAt, receiver?.openUntil ?? 0);
  return (
    <Figures
      figures={[
        {
          name: 'Delivered, 24 h',
          value: day.delivered.toLocaleString('en'),
          scale:
            ended === 0
              ? 'nothing has ended'
              : `${percent(day.delivered / ended, 1)} of ${ended.toLocaleString('en')}`,
        },
        {
          name: 'Failed attempts, 24 h',
          value: (day.failed + day.retried).toLocaleString('en'),
          scale: `${deliveries(day.failed)} given up`,
        },
        {
          name: 'Waiting',
          value: cappedCount(counts.waiting, maxCounted),
          scale:
            nextAt === null
              ? 'nothing to send'
              : receiver?.pausedAt
                ? 'until you resume it'
                : nextAt <= Date.now()
                  ? 'being sent'
                  : ['next at ', <Time at={nextAt} />],
        },
        { name: 'Median response', ...milliseconds(percentile(day.responseTimes, 0.5)), scale: '24 h' },
        {
          name: 'Slowest 5%',
          ...milliseconds(percentile(day.responseTimes, 0.95)),
          scale: `timeout is ${retries.timeoutSeconds} s`,
        },
      ]}
    />
  );
};

const milliseconds = (ms: number | null) =>
  ms === null ? { value: '–' } : { value: ms.toLocaleString('en'), unit: 'ms' };

const Configuration = (props: { webhook: StoredWebhook; activity: WebhookActivity; day: Tally }) => {
  const { webhook, activity, day } = props;
  const headers = Object.keys(webhook.headers);
  return (
    <Panel
      id="configuration"
      title="Configuration"
      body
      side={
        <Allowed to={`${pathOf(webhook)}/edit`} method="GET">
          <a href={`${pathOf(webhook)}/edit`}>Edit</a>
        </Allowed>
      }
    >
      <Facts
        facts={[
          ['Types', capital(typesOf(webhook))],
          [
            'Connections',
            <>
              {webhook.allConnections && 'All, including new ones: '}
              {listed(activity.connections) || 'None, so nothing is sent'}
            </>,
          ],
          [
            'Headers',
            headers.length === 0
              ? 'None: your receiver cannot verify who is calling'
              : headers.map((name) => (
                  <div>
                    <code>{name}</code> <span class="sub">value hidden</span>
                  </div>
                )),
          ],
          [
            'Filters',
            <>
              {webhook.filters
                ? filtersInWords(webhook.filters).map((words) => <div>{capital(words)}</div>)
                : 'None'}
              {webhook.filters && (
                <div class="sub">{deliveries(day.delivered + day.failed)} sent within 24 hours</div>
              )}
            </>,
          ],
          ['Signature', webhook.signing ? 'Signed' : 'None'],
          ['OAuth 2', webhook.oauth ? <OAuthClient {...webhook.oauth} /> : 'None'],
          ['Calls', activity.receiver && callLimits(activity.receiver)],
          ['Added', <Time at={webhook.createdAt} />],
          ['ID', <code class="text-xs">{webhook.id}</code>],
        ]}
      />
    </Panel>
  );
};

/** Where access tokens come from. The values of parameters may be secrets. */
const OAuthClient = ({ tokenUrl, params = {} }: OAuth) => (
  <>
    {new URL(tokenUrl).host}
    {Object.keys(params).length > 0 && <div class="sub">with {Object.keys(params).join(', ')}</div>}
  </>
);

const Retries = () => (
  <Panel id="retries" title="Retries" body="grid gap-2">
    <p>
      A delivery is attempted up to {retries.maxAttempts} times over {retries.hours} hours: at once, and after{' '}
      {retries.waitsAsText}. Accidents are retried sooner at first: after {retries.accidentWaits}.
    </p>
    <p>
      {circuitAfter} failures in a row pause the webhook for up to {circuitLongestMs / 60_000} minutes at a
      time. One success resumes deliveries.
    </p>
    <p>
      <a class="underline" href="/docs/reliability#what-counts-as-delivered">
        How retries work
      </a>
    </p>
  </Panel>
);

/** The limits of a receiver in words, and its current number of calls. */
function callLimits({ maxInFlight, maxPerSecond, window }: Receiver): string {
  const most = maxInFlight ?? widestWindow;
  const limits = [
    `Up to ${most} at a time`,
    maxPerSecond && `${maxPerSecond} a second`,
    window > 0 && window < most && `${window} for now`,
  ];
  const isSet = maxInFlight !== null || maxPerSecond !== null;
  return `${limits.filter(Boolean).join(', ')}${isSet ? '. Set by the operator.' : ''}`;
}
