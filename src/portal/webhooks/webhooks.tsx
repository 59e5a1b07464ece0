import type { Context } from '../../core/platform/http/context.ts';
import { requestedSlice } from '../../core/platform/http/requested-slice.ts';
import { added } from '../../ui/added.ts';
import type { Condition } from '../../ui/added-to-webhooks.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { LinkButton, WebhookUrl } from '../../ui/buttons.tsx';
import { page } from '../../ui/layout.tsx';
import { State } from '../../ui/parts.tsx';
import { type Column, sliceOn, TablePanel } from '../../ui/table.tsx';
import { pathOf, titleOf } from '../../ui/webhooks.ts';
import { type ListedWebhook, sliceWebhooks } from '../read/read-webhooks.ts';

const pageSize = 50;

/** The webhooks, those with problems first. */
export async function list(c: Context) {
  const slice = requestedSlice(c, pageSize);
  const [{ items, pages }, ...more] = await Promise.all([
    sliceOn(c, pageSize, ['webhook', 'webhooks'], sliceWebhooks),
    ...added(c, 'webhooks').map((part) => part(c, slice)),
  ]);
  const listed = items.map((webhook): Listed => {
    const known = conditionOf({ ...webhook, isPaused: webhook.pausedAt !== null });
    const condition = more.reduce((found, part) => part.conditionOf(webhook, found), known);
    return { ...webhook, condition };
  });
  return page(
    c,
    {
      title: 'Webhooks',
      lead: [
        'Your endpoints for accidents and safety events.',
        ...more.map(({ lead }) => lead),
      ].join(' '),
      actions: items.length > 0 && <Add />,
    },
    <TablePanel
      title="Webhooks"
      hidden
      live
      labels
      columns={[...columns, ...more.flatMap((part) => part.columns)]}
      items={listed.toSorted((a, b) => a.condition.rank - b.condition.rank)}
      pages={pages}
      empty={{
        icon: 'webhook',
        title: 'No webhooks yet',
        text: 'Add the URL of your endpoint: accidents and safety events are sent to it as they happen.',
        action: <Add />,
      }}
    />,
  );
}

const Add = () => (
  <LinkButton href="/portal/webhooks/new" name="Add a webhook" icon="plus" weight="primary" />
);

type Listed = ListedWebhook & { condition: Condition };

const columns: Column<Listed>[] = [
  {
    head: 'Webhook',
    href: pathOf,
    cell: (webhook) => <Breakable text={titleOf(webhook)} />,
    more: ({ url }) => (
      <div class="sub">
        <WebhookUrl url={url} />
      </div>
    ),
  },
  { head: 'State', look: 'card-side', cell: ({ condition }) => <State {...condition} /> },
];

/** What a webhook's settings say of its condition. */
export function conditionOf(webhook: { isPaused: boolean; connections: number }): Condition {
  if (webhook.isPaused)
    return { rank: 0, mood: 'warn', icon: 'pause', children: 'Paused by your account' };
  if (webhook.connections === 0) return { rank: 3, mood: 'quiet', children: 'No connections' };
  return { rank: 3, mood: 'ok', children: 'Active' };
}
