import type { Context } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import {
  letThrough,
  maxCounted,
  type Passed,
  type WebhookActivity,
  webhookActivity,
} from '../../webhooks/deliveries/activity.ts';
import { addTallies, shownHours } from '../../webhooks/deliveries/counts.ts';
import { circuitAfter, circuitLongestMs, retries, statuses } from '../../webhooks/deliveries/policy.ts';
import { percentile } from '../../webhooks/latency.ts';
import { ACCIDENT, EVENT, EVENT_LEVEL, notificationTypes } from '../../webhooks/notifications/types.ts';
import { findWebhook, type StoredWebhook } from '../../webhooks/stored.ts';
import { Allowed, WebhookUrl } from '../ui/allowed.tsx';
import { LinkButton, MoreActions, PostButton } from '../ui/buttons.tsx';
import { capital, cappedCount, listed, percent } from '../ui/format.ts';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Facts, Figures, Panel } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { Time } from '../ui/time.tsx';
import { Charts } from './charts.tsx';
import { Browser, type Shown } from './deliveries.tsx';
import { callLimits, Health, healthOf, Trouble } from './health.tsx';
import { aboveOf, deliveries, filtersInWords, pathOf, titleOf, typesOf } from './words.ts';

const pageSize = 20;

export async function detail(c: Context) {
  const selection = selectionOf(c);
  const [webhook, activity] = await Promise.all([
    requireWebhook(c),
    webhookActivity(c.env, c.get('caller'), c.req.param('id') ?? '', { ...selection, limit: pageSize }),
  ]);
  const passed = webhook.filters && (await letThrough(c.env, c.get('caller'), webhook.id));
  const { receiver, hours, counts } = activity;
  const path = pathOf(webhook);
  return page(
    c,
    {
      title: titleOf(webhook),
      above: aboveOf(),
      state: receiver && (
        <Health {...healthOf(receiver, addTallies(hours.slice(-shownHours)), webhook.connectionIds.length)} />
      ),
      lead: (
        <>
          <code>
            {webhook.httpVerb} <WebhookUrl url={webhook.url} />
          </code>
          <br />
          {webhook.description ??
            `${capital(typesOf(webhook))} from ${listed(activity.connections) || 'no connection'}`}
        </>
      ),
      actions: <Actions webhook={webhook} />,
    },
    <div class="stack" data-live>
      {receiver && <Trouble receiver={receiver} waiting={deliveries(counts.waiting, maxCounted)} />}
      <Numbers activity={activity} />
      <Charts path={path} hours={hours} byDay={c.req.query('by') === 'day'} zone={timeZoneOf(c)} />
      <Browser path={path} selection={selection} activity={activity} />
      <div class="cols cols-2 cols-stretch">
        <Configuration webhook={webhook} activity={activity} passed={passed} />
        <Retries />
      </div>
    </div>,
  );
}

/** The filters in the address. */
function selectionOf(c: Context): Shown {
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

const Actions = ({ webhook: { id, notificationTypes, pausedAt } }: { webhook: StoredWebhook }) => {
  const path = pathOf({ id });
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
          <LinkButton href={`${path}/delete`} name="Delete" icon="trash" weight="ghost danger" />
        </MoreActions>
      </Allowed>
    </>
  );
};

const Numbers = ({ activity: { hours, counts, receiver } }: { activity: WebhookActivity }) => {
  const day = addTallies(hours.slice(-shownHours));
  const [median, slow] = [percentile(day.responseTimes, 0.5), percentile(day.responseTimes, 0.95)];
  const ended = day.delivered + day.failed;
  const nextAt = counts.nextAt === null ? null : Math.max(counts.nextAt, receiver?.openUntil ?? 0);
  const waits =
    counts.retrying > 0 ? `${cappedCount(counts.retrying, maxCounted)} to retry, next at ` : 'next at ';
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
              : nextAt <= Date.now()
                ? 'being sent'
                : [waits, <Time at={nextAt} />],
        },
        { name: 'Median response', ...milliseconds(median), scale: '24 h' },
        { name: 'Slowest 5%', ...milliseconds(slow), scale: `timeout is ${retries.timeoutSeconds} s` },
      ]}
    />
  );
};

const milliseconds = (ms: number | null) =>
  ms === null ? { value: '–' } : { value: ms.toLocaleString('en'), unit: 'ms' };

const Configuration = (props: {
  webhook: StoredWebhook;
  activity: WebhookActivity;
  passed: Passed[] | undefined;
}) => {
  const { webhook, activity, passed } = props;
  const headers = Object.keys(webhook.headers);
  return (
    <Panel
      id="configuration"
      title="Configuration"
      side={<Change webhook={webhook} page="edit" name="Edit" />}
      body
    >
      <Facts
        facts={[
          ['Types', capital(typesOf(webhook))],
          ['Connections', listed(activity.connections) || 'None, so nothing is sent'],
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
              {passed && <div class="sub">{passedInWords(passed)}</div>}
            </>,
          ],
          [
            'Signature',
            <>
              {webhook.signing ? 'Signed' : 'None'} <Change webhook={webhook} page="signing" />
            </>,
          ],
          ['OAuth 2', webhook.oauth ? new URL(webhook.oauth.tokenUrl).host : 'None'],
          ['Calls', activity.receiver && callLimits(activity.receiver)],
          ['Added', <Time at={webhook.createdAt} />],
          ['ID', <code class="text-xs">{webhook.id}</code>],
        ]}
      />
    </Panel>
  );
};

/** A link to where a setting is changed. */
const Change = ({
  webhook,
  page,
  name = 'Change',
}: {
  webhook: StoredWebhook;
  page: string;
  name?: string;
}) => (
  <Allowed to={`${pathOf(webhook)}/${page}`} method="GET">
    <a href={`${pathOf(webhook)}/${page}`}>{name}</a>
  </Allowed>
);

/** How many recent notifications the filters let through. */
const passedInWords = (passed: Passed[]): string =>
  passed.length === 0
    ? 'Nothing has arrived yet.'
    : `Of the latest, ${listed(
        passed.map(({ level, letThrough, all }) => `${letThrough} of ${counted(all, ...unitOf(level))}`),
      )} pass.`;

const unitOf = (level: number): [one: string, many: string] =>
  level === EVENT_LEVEL ? ['safety event', 'safety events'] : ['accident level', 'accident levels'];

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
