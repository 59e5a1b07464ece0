import { setTimeout as wait } from 'node:timers/promises';
import { type BenchAccount, deliveryBody, forget, newAccount, pileUp, type Used } from './account.ts';
import { arrivalsPerSecond, type Counter, startCounter } from './counter.ts';
import type { Benchmark, BenchStack } from './harness.ts';
import { spread } from './table.ts';

/** When the first row of the log was written, and how much later each of the others. */
const logStart = Date.now() - 30 * 86_400_000;
const logStepMs = 2500;
const columns = ['deliveries/s', 'rows read, by ingest and consumer', 'rows written', 'database ms for 100'];

export const curve: Benchmark = {
  about: 'cost of a delivery with many webhooks, and with a big delivery log',
  run: async ({ small, stack: start }) => {
    const size = small
      ? { webhooks: [1, 10], rows: [1000, 10_000], deliveries: 200, rounds: 1 }
      : { webhooks: [1, 10, 100, 1000], rows: [10_000, 100_000, 1_000_000], deliveries: 2000, rounds: 5 };
    const stack = await start();
    const us = await newAccount(stack);
    const receiver = await startCounter(stack);
    const register = (count: number) =>
      us.webhooks(Array.from({ length: count }, (_, i) => `${receiver.url}/${i}`));
    const byWebhooks = [];
    for (const count of size.webhooks) {
      const webhooks = await register(count);
      byWebhooks.push([count, ...(await cost(stack, us, receiver, { ...size, webhooks: count }))]);
      await forget(stack, webhooks);
    }
    const webhooks = await register(4);
    const byRows = [];
    for (const count of size.rows) {
      const bytes = await fillLog(stack, us, webhooks, count);
      const row = await cost(stack, us, receiver, { ...size, webhooks: 4 });
      byRows.push([count, ...row, await pageReads(stack, webhooks[0]), Math.round(bytes / 1_000_000)]);
    }
    await forget(stack, webhooks);
    receiver.stop();
    const title = `Cost of a delivery, ${size.deliveries} at a time, medians`;
    return [
      { title: `${title}, by webhooks`, head: ['webhooks', ...columns], rows: byWebhooks },
      {
        title: `${title}, by rows of the delivery log, with 4 webhooks`,
        head: ['rows', ...columns, 'page of 50 reads', 'database, MB'],
        rows: byRows,
      },
    ];
  },
};

/** Measures deliveries a second, and the rows of each delivery in the last round. */
async function cost(
  stack: BenchStack,
  us: BenchAccount,
  receiver: Counter,
  { webhooks, deliveries, rounds }: { webhooks: number; deliveries: number; rounds: number },
): Promise<string[]> {
  const perSecond: number[] = [];
  let [byIngest, byConsumer]: (Used | undefined)[] = [];
  const events = Math.ceil(deliveries / webhooks);
  for (let round = -1; round < rounds; round++) {
    const prepare = async () => {
      byIngest = await pileUp(stack, us, events, webhooks);
    };
    const wake = () => stack.call('/bench/wake');
    const figure = await arrivalsPerSecond(receiver, events * webhooks, wake, prepare);
    await wait(500); // the last are still being recorded
    byConsumer = await stack.call<Used>('/bench/used');
    if (round >= 0) perSecond.push(figure);
  }
  const each = (figure: 'read' | 'written' | 'ms', times = 1) =>
    [byIngest, byConsumer]
      .map((used) => ((times * (used?.[figure] ?? Number.NaN)) / (events * webhooks)).toFixed(1))
      .join(', ');
  return [spread(perSecond), each('read'), each('written'), each('ms', 100)];
}

/** Adds finished deliveries of the last 30 days with their notifications, up to `count`. Returns the database's bytes. */
async function fillLog(
  stack: BenchStack,
  us: BenchAccount,
  webhooks: string[],
  count: number,
): Promise<number> {
  // Ids of events are hashes, so rows spread over the whole table.
  const event = `printf('%08x-0005-5000-8000-%012x', ((i / 4) * 2654435761) & 4294967295, i / 4)`;
  const time = `(${logStart} + i * ${logStepMs})`;
  const id = `printf('%08x-%04x-7000-8000-%012x', ${time} >> 16, ${time} & 65535, i)`;
  await stack.fill(
    count,
    `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
     select ${event}, 0, 2, 'bench', '${us.connection}', ?3, ${time}, '01a1fc72-831b-772e-98a0-8d9347089f0d'
     from n where i % 4 = 0 on conflict do nothing`,
    JSON.stringify(JSON.parse(deliveryBody).data),
  );
  return stack.fill(
    count,
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, attempts, next_attempt_at,
       finished_at, give_up_at, log)
     select json_extract(?3, '$[' || (i % 4) || ']'), ${id}, 'bench', ${event}, 0, 'delivered', 1,
       ${time}, ${time} + 20, ${time} + 432000000,
       '[{"at":1763668800000,"durationMs":12,"result":"success","status":204,"answer":""}]'
     from n where true on conflict do nothing`,
    JSON.stringify(webhooks),
  );
}

/** Returns the rows read for the newest 50 deliveries of a webhook, as in the portal and the operator's tool. */
async function pageReads({ baseUrl, operatorKey, call }: BenchStack, webhook = ''): Promise<number> {
  await call('/bench/used');
  const url = `${baseUrl}/bench/operator/deliveries?webhookId=${webhook}&limit=50`;
  const reply = await fetch(url, { headers: { authorization: `Bearer ${operatorKey}` } });
  const { data } = (await reply.json()) as { data: unknown[] }; // the operator's own list
  if (data.length !== 50) throw new Error(`the page holds ${data.length} deliveries`);
  return (await call<Used>('/bench/used')).read;
}
