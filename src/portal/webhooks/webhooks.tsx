import { Hono } from 'hono';
import type { App, Context } from '../../platform/http/context.ts';
import { requestedSlice } from '../../platform/http/slices.ts';
import { counted, duration } from '../../webhooks/alerts/words.ts';
import { listActivity, maxCountedInList, type WebhookSummary } from '../../webhooks/deliveries/activity.ts';
import { addTallies, noTally, type Tally } from '../../webhooks/deliveries/counts.ts';
import { percentile } from '../../webhooks/deliveries/latency.ts';
import { needs } from '../session/rights.ts';
import { webhookVersion } from '../session/version.ts';
import { WebhookUrl } from '../ui/allowed.tsx';
import { Spark } from '../ui/chart.tsx';
import { percent, upTo } from '../ui/format.ts';
import { LinkButton } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, numeric, SlicePager, Table } from '../ui/parts.tsx';
import { Health, rankOf } from './health.tsx';
import { pathOf, titleOf } from './words.ts';

/** The account's webhooks, and how their deliveries went. */
export const webhookListPages = new Hono<App>().get('/webhooks', needs('viewer'), list);

const pageSize = 50;

/** How many webhooks an open page watches, in turn: those in most trouble. */
const maxWatched = 10;

/** Those in trouble come first. */
async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const { items, next } = await listActivity(c.env, c.get('caller'), slice);
  const webhooks = items
    .map((webhook) => ({ webhook, day: addTallies(webhook.hours) }))
    .sort((a, b) => rankOf(a.webhook.receiver, a.day) - rankOf(b.webhook.receiver, b.day));
  return page(
    c,
    {
      title: 'Webhooks',
      watches: webhooks.slice(0, maxWatched).map(({ webhook: { id, hours } }) => ({
        of: 'webhook',
        id,
        version: webhookVersion(hours.at(-1) ?? { hour: 0, ...noTally }),
      })),
      lead: 'Your endpoints, called as accidents and safety events happen. Figures cover the last 24 hours.',
      actions: webhooks.length > 0 && <Add />,
    },
    <section class="panel" aria-label="Webhooks" data-live>
      {webhooks.length === 0 ? (
        <Empty icon="webhook" title="No webhooks yet" action={<Add />}>
          Add the URL of your endpoint: accidents and safety events are sent to it as they happen.
        </Empty>
      ) : (
        <Webhooks webhooks={webhooks} />
      )}
      <SlicePager
        c={c}
        count={counted(webhooks.length, 'webhook', 'webhooks')}
        slice={slice}
        next={next}
        names={['First', 'More']}
      />
    </section>,
  );
}

const Add = () => (
  <LinkButton href="/portal/webhooks/new" name="Add a webhook" icon="plus" weight="primary" />
);

const Webhooks = ({ webhooks }: { webhooks: { webhook: WebhookSummary; day: Tally }[] }) => (
  <Table
    caption="Webhooks"
    flow
    head={[
      'Webhook',
      'State',
      'Per hour',
      numeric('Delivered'),
      numeric('Failed attempts'),
      'Response',
      numeric('Waiting'),
    ]}
  >
    {webhooks.map(({ webhook, day }) => (
      <tr>
        <td class="card-title">
          <a class="cover" href={pathOf(webhook)}>
            {titleOf(webhook)}
          </a>
          <div class="sub wrap-anywhere">
            <WebhookUrl url={webhook.url} />
          </div>
        </td>
        <td class="card-side">
          <Health receiver={webhook.receiver} day={day} connections={webhook.connections} />
        </td>
        <td class="max-md:hidden">
          <Spark
            columns={webhook.hours.map(({ delivered, failed, retried }) => ({
              good: delivered,
              bad: failed + retried,
            }))}
          />
        </td>
        <td class="num" data-label="Delivered">
          <span>
            {day.delivered.toLocaleString('en')} <span class="sub">{shareOf(day)}</span>
          </span>
        </td>
        <td class="num" data-label="Failed attempts">
          <span class={day.failed + day.retried > 0 ? 'bad' : ''}>
            {(day.failed + day.retried).toLocaleString('en')}
          </span>
        </td>
        <td class="nowrap" data-label="Response">
          <ResponseTime day={day} />
        </td>
        <td class="num" data-label="Waiting">
          <span>{upTo(webhook.waiting, maxCountedInList)}</span>
        </td>
      </tr>
    ))}
  </Table>
);

const ResponseTime = ({ day: { answers } }: { day: Tally }) => {
  const [median, slow] = [percentile(answers, 0.5), percentile(answers, 0.95)];
  if (median === null || slow === null) return <span>–</span>;
  return (
    <span>
      {duration(median)} <span class="sub">p95 {duration(slow)}</span>
    </span>
  );
};

/** How much of what ended was delivered. */
const shareOf = ({ delivered, failed }: Tally): string =>
  delivered + failed === 0 ? '' : `(${percent(delivered / (delivered + failed), 1)})`;
