import type { Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { counted, duration } from '../../webhooks/alerts/words.ts';
import { listActivity, maxCountedInList, type WebhookSummary } from '../../webhooks/deliveries/activity.ts';
import { addTallies, type Tally } from '../../webhooks/deliveries/counts.ts';
import { percentile } from '../../webhooks/latency.ts';
import { WebhookUrl } from '../ui/allowed.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Spark } from '../ui/chart.tsx';
import { cappedCount, percent } from '../ui/format.ts';
import { page } from '../ui/layout.tsx';
import { Empty } from '../ui/parts.tsx';
import { type Column, SlicePager, Table } from '../ui/table.tsx';
import { Health, healthOf } from './health.tsx';
import { pathOf, titleOf } from './words.ts';

const pageSize = 50;

/** The webhooks, those with problems first. */
export async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const { items, next } = await listActivity(c.env, c.get('caller'), slice);
  const webhooks = items
    .map((webhook) => {
      const day = addTallies(webhook.hours);
      return { webhook, day, health: healthOf(webhook.receiver, day, webhook.connections) };
    })
    .sort((a, b) => a.health.rank - b.health.rank);
  return page(
    c,
    {
      title: 'Webhooks',
      lead: 'Your endpoints for accidents and safety events. Figures cover the last 24 hours.',
      actions: webhooks.length > 0 && <Add />,
    },
    <section class="panel" aria-label="Webhooks" data-live>
      <Table caption="Webhooks" labels columns={columns} items={webhooks} empty={<None />} />
      <SlicePager {...{ c, slice, next }} count={counted(webhooks.length, 'webhook', 'webhooks')} />
    </section>,
  );
}

const None = () => (
  <Empty icon="webhook" title="No webhooks yet" action={<Add />}>
    Add the URL of your endpoint: accidents and safety events are sent to it as they happen.
  </Empty>
);

const Add = () => (
  <LinkButton href="/portal/webhooks/new" name="Add a webhook" icon="plus" weight="primary" />
);

type Listed = { webhook: WebhookSummary; day: Tally; health: ReturnType<typeof healthOf> };

const columns: Column<Listed>[] = [
  {
    head: 'Webhook',
    href: ({ webhook }) => pathOf(webhook),
    cell: ({ webhook }) => titleOf(webhook),
    more: ({ webhook }) => (
      <div class="sub wrap-anywhere">
        <WebhookUrl url={webhook.url} />
      </div>
    ),
  },
  {
    head: 'State',
    look: 'card-side',
    cell: ({ health }) => <Health {...health} />,
  },
  {
    head: 'Per hour',
    look: 'max-md:hidden',
    cell: ({ webhook: { hours } }) => (
      <Spark
        columns={hours.map(({ delivered, failed, retried }) => ({ good: delivered, bad: failed + retried }))}
      />
    ),
  },
  {
    head: 'Delivered',
    look: 'num',
    cell: ({ day }) => [day.delivered.toLocaleString('en'), ' ', <span class="sub">{shareOf(day)}</span>],
  },
  {
    head: 'Failed attempts',
    look: 'num',
    cell: ({ day: { failed, retried } }) => (
      <span class={failed + retried > 0 ? 'bad' : ''}>{(failed + retried).toLocaleString('en')}</span>
    ),
  },
  { head: 'Response', look: 'nowrap', cell: ({ day }) => <ResponseTime day={day} /> },
  { head: 'Waiting', look: 'num', cell: ({ webhook }) => cappedCount(webhook.waiting, maxCountedInList) },
];

const ResponseTime = ({ day: { responseTimes } }: { day: Tally }) => {
  const [median, slow] = [percentile(responseTimes, 0.5), percentile(responseTimes, 0.95)];
  if (median === null || slow === null) return <span>–</span>;
  return (
    <span>
      {duration(median)} <span class="sub">p95 {duration(slow)}</span>
    </span>
  );
};

/** The share of finished deliveries that succeeded. */
const shareOf = ({ delivered, failed }: Tally): string =>
  delivered + failed === 0 ? '' : `(${percent(delivered / (delivered + failed), 1)})`;
