import type { SliceQuery } from '../../../core/platform/db/cursor.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { addTallies, type Tally } from '../../../core/webhooks/deliveries/counts.ts';
import { circuitAfter } from '../../../core/webhooks/deliveries/policy.ts';
import { cappedCount, counted, duration, percent } from '../../../texts/words.ts';
import type { Condition, OnWebhooks } from '../../../ui/added-to-webhooks.ts';
import { Spark } from '../../../ui/chart.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Receiver } from '../receivers.ts';
import { maxCountedInList, readSummaries, type WebhookSummary } from '../summaries.ts';
import { percentile } from '../times.ts';

/** What it adds to the list of webhooks: figures, and the health of their receivers. */
export async function onWebhooks(c: Context, slice: SliceQuery): Promise<OnWebhooks> {
  const summaries = await readSummaries(...by(c), slice);
  const shown = new Map(
    summaries.map((one): [string, Shown] => [one.id, { ...one, day: addTallies(one.hours) }]),
  );
  return {
    lead: 'Figures cover the last 24 hours.',
    columns: columns.map(({ cell, ...column }) => ({
      ...column,
      cell: ({ id }) => {
        const found = shown.get(id);
        return found && cell(found);
      },
    })),
    conditionOf: ({ id }, known) => {
      const found = shown.get(id);
      return found ? healthOf(found.receiver, found.day, known) : known;
    },
  };
}

type Shown = WebhookSummary & { day: Tally };

const columns: Pick<Column<Shown>, 'head' | 'look' | 'cell'>[] = [
  {
    head: 'Per hour',
    look: 'max-md:hidden',
    cell: ({ hours }) => (
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
  { head: 'Response', look: 'nowrap', cell: (webhook) => <ResponseTime {...webhook} /> },
  {
    head: 'Waiting',
    look: 'num',
    cell: ({ waiting }) => cappedCount(waiting, maxCountedInList),
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

/** The health of a webhook's receiver, now and in the last 24 hours; a pause comes first. */
export function healthOf(receiver: Receiver, day: Tally, known: Condition): Condition {
  const { pausedAt, openUntil, failures } = receiver;
  const failed = day.failed + day.retried;
  const inARow = failures === 1 ? 'Last attempt failed' : `${failures} failures in a row`;
  const inDay = `${counted(failed, 'failed attempt', 'failed attempts')} in 24 h`;
  if (pausedAt !== null) return known;
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
  return known.mood === 'ok' ? { ...known, children: 'Healthy' } : known;
}
