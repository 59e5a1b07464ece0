import type { Child } from 'hono/jsx';
import type { Context } from '../../core/platform/http/context.ts';
import { addTallies, type Tally } from '../../core/webhooks/deliveries/counts.ts';
import { circuitAfter } from '../../core/webhooks/deliveries/policy.ts';
import type { Receiver } from '../../extras/delivery-log/receivers.ts';
import {
  listActivity,
  maxCountedInList,
  type WebhookSummary,
} from '../../extras/delivery-log/summaries.ts';
import { percentile } from '../../extras/delivery-log/times.ts';
import { cappedCount, counted, duration, percent } from '../../texts/words.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { LinkButton, WebhookUrl } from '../../ui/buttons.tsx';
import { Spark } from '../../ui/chart.tsx';
import type { IconName } from '../../ui/icon-names.ts';
import { page } from '../../ui/layout.tsx';
import { type Mood, State } from '../../ui/parts.tsx';
import { type Column, sliceOn, TablePanel } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { pathOf, titleOf } from '../../ui/webhooks.ts';

/** The webhooks, those with problems first. */
export async function list(c: Context) {
  const { items, pages } = await sliceOn(c, 50, ['webhook', 'webhooks'], readWebhooks);
  return page(
    c,
    {
      title: 'Webhooks',
      lead: 'Your endpoints for accidents and safety events. Figures cover the last 24 hours.',
      actions: items.length > 0 && <Add />,
    },
    <TablePanel
      title="Webhooks"
      hidden
      live
      labels
      columns={columns}
      {...{ items, pages }}
      empty={{
        icon: 'webhook',
        title: 'No webhooks yet',
        text: 'Add the URL of your endpoint: accidents and safety events are sent to it as they happen.',
        action: <Add />,
      }}
    />,
  );
}

async function readWebhooks(...asked: Parameters<typeof listActivity>) {
  const slice = await listActivity(...asked);
  const items = slice.items.map((webhook): Listed => {
    const day = addTallies(webhook.hours);
    return { webhook, day, health: healthOf(webhook.receiver, day, webhook.connections) };
  });
  return { ...slice, items: items.toSorted((a, b) => a.health.rank - b.health.rank) };
}

const Add = () => (
  <LinkButton href="/portal/webhooks/new" name="Add a webhook" icon="plus" weight="primary" />
);

type Listed = { webhook: WebhookSummary; day: Tally; health: ReturnType<typeof healthOf> };

const columns: Column<Listed>[] = [
  {
    head: 'Webhook',
    href: ({ webhook }) => pathOf(webhook),
    cell: ({ webhook }) => <Breakable text={titleOf(webhook)} />,
    more: ({ webhook }) => (
      <div class="sub">
        <WebhookUrl url={webhook.url} />
      </div>
    ),
  },
  { head: 'State', look: 'card-side', cell: ({ health }) => <State {...health} /> },
  {
    head: 'Per hour',
    look: 'max-md:hidden',
    cell: ({ webhook: { hours } }) => (
      <Spark
        columns={hours.map(({ delivered, failed, retried }) => ({
          good: delivered,
          bad: failed + retried,
        }))}
      />
    ),
  },
  {
    head: 'Delivered',
    look: 'num',
    cell: ({ day }) => [
      day.delivered.toLocaleString('en'),
      ' ',
      <span class="sub">{shareOf(day)}</span>,
    ],
  },
  {
    head: 'Failed attempts',
    look: 'num',
    cell: ({ day: { failed, retried } }) => (
      <span class={failed + retried > 0 ? 'bad' : ''}>
        {(failed + retried).toLocaleString('en')}
      </span>
    ),
  },
  { head: 'Response', look: 'nowrap', cell: ({ webhook }) => <ResponseTime {...webhook} /> },
  {
    head: 'Waiting',
    look: 'num',
    cell: ({ webhook }) => cappedCount(webhook.waiting, maxCountedInList),
  },
];

const ResponseTime = ({ responses }: WebhookSummary) => {
  const times = responses.map(({ ms }) => ms);
  const [median, slow] = [percentile(times, 0.5), percentile(times, 0.95)];
  if (median === null || slow === null) return <span>–</span>;
  return (
    <span>
      {duration(median)} <span class="sub">p95 {duration(slow)}</span>
    </span>
  );
};

const shareOf = ({ delivered, failed }: Tally): string =>
  delivered + failed === 0 ? '' : `(${percent(delivered / (delivered + failed), 1)})`;

type Condition = { rank: number; mood: Mood; icon?: IconName; children: Child };

/** The health of a webhook's receiver, now and in the last 24 hours; rank 0 is worst. */
export function healthOf(receiver: Receiver, day: Tally, connections: number): Condition {
  const { pausedAt, openUntil, failures } = receiver;
  const failed = day.failed + day.retried;
  const inARow = failures === 1 ? 'Last attempt failed' : `${failures} failures in a row`;
  const inDay = `${counted(failed, 'failed attempt', 'failed attempts')} in 24 h`;
  if (pausedAt !== null)
    return { rank: 0, mood: 'warn', icon: 'pause', children: 'Paused by your account' };
  if (openUntil !== null)
    return {
      rank: 0,
      mood: 'bad',
      icon: 'pause',
      children: ['Paused until ', <Time at={openUntil} />],
    };
  if (failures >= circuitAfter) return { rank: 0, mood: 'bad', children: inARow };
  if (failures > 0) return { rank: 1, mood: 'warn', children: inARow };
  if (failed > 0) return { rank: 2, mood: 'warn', children: inDay };
  if (connections === 0) return { rank: 3, mood: 'quiet', children: 'No connections' };
  return { rank: 3, mood: 'ok', children: 'Healthy' };
}
