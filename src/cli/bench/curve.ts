import { setTimeout as wait } from 'node:timers/promises';
import { arrivalsPerSecond } from './deliveries.ts';
import { machine, report, spread } from './report.ts';
import { eventData, newEvents, type Setting, startSetting } from './setting.ts';

/** What D1 did, as the benchmark's Worker reports it. */
type Rows = { read: number; written: number; ms: number };

const none = (): Rows => ({ read: 0, written: 0, ms: 0 });

type Size = { webhooks: number[]; rows: number[]; deliveries: number; rounds: number; minutes: number };

/**
 * Measures whether a delivery costs the same, however many webhooks a connection has and however many rows the
 * delivery log has. Points that would begin after `minutes` are left out, and the table says so.
 */
export async function benchCurve(json: boolean, size: Size): Promise<void> {
  const until = Date.now() + size.minutes * 60_000;
  const us = await startSetting('curve');
  const points = async (values: number[], measure: (value: number) => Promise<(string | number)[]>) => {
    const rows: (string | number)[][] = [];
    for (const value of values)
      rows.push(Date.now() < until ? await measure(value) : [value, 'no time left', ...Array(5).fill('–')]);
    return rows;
  };
  try {
    const byWebhooks = await points(size.webhooks, async (count) => {
      const webhooks = await us.webhooks(count);
      const cost = await deliver(us, count, size);
      await us.end(webhooks);
      return [count, ...shown(cost)];
    });
    report(
      `By number of webhooks, ${size.deliveries} deliveries at a time, medians (${machine()})`,
      ['webhooks', ...columns],
      byWebhooks,
      json,
    );
    const webhooks = await us.webhooks(4);
    let filled = 0;
    const byRows = await points(size.rows, async (count) => {
      const megabytes = await fill(us, webhooks, filled, count);
      filled = count;
      const cost = await deliver(us, 4, size);
      return [count, ...shown(cost), await pageRows(us, webhooks[0] ?? ''), Math.round(megabytes)];
    });
    report(
      'By rows of the delivery log, with 4 webhooks, and rows read by a page of a webhook',
      ['rows', ...columns, 'page of 50 reads', 'database, MB'],
      byRows,
      json,
    );
  } finally {
    us.receiver.stop();
    await us.stack.stop();
  }
}

const columns = ['deliveries/s', 'rows read, by ingest and consumer', 'rows written', 'database ms for 100'];

type Cost = { perSecond: ReturnType<typeof spread>; ingest: Rows; consumer: Rows };

const shown = ({ perSecond: { median, low, high }, ingest, consumer }: Cost): string[] => [
  `${Math.round(median)} (${Math.round(low)}–${Math.round(high)})`,
  `${ingest.read.toFixed(1)}, ${consumer.read.toFixed(1)}`,
  `${ingest.written.toFixed(1)}, ${consumer.written.toFixed(1)}`,
  `${(100 * ingest.ms).toFixed(1)}, ${(100 * consumer.ms).toFixed(1)}`,
];

/** Measures deliveries per second, and the rows of each delivery in the last round. */
async function deliver(us: Setting, webhooks: number, { deliveries, rounds }: Size): Promise<Cost> {
  const perSecond: number[] = [];
  const cost = { ingest: none(), consumer: none() };
  const events = Math.ceil(deliveries / webhooks);
  const made = events * webhooks;
  for (let round = -1; round < rounds; round++) {
    const prepare = async () => {
      await us.post('/hold?on');
      cost.ingest = none();
      for (let sent = 0; sent < events; sent += 250)
        add(cost.ingest, await countedIngest(us, newEvents(Math.min(250, events - sent))));
      await us.post('/hold');
      await us.post('/consumed');
    };
    const figure = await arrivalsPerSecond(us, made, () => us.post('/wake'), prepare);
    await wait(500); // the last are still being recorded
    cost.consumer = await us.post<Rows>('/consumed');
    if (round >= 0) perSecond.push(figure);
  }
  const each = ({ read, written, ms }: Rows): Rows => ({
    read: read / made,
    written: written / made,
    ms: ms / made,
  });
  return { perSecond: spread(perSecond), ingest: each(cost.ingest), consumer: each(cost.consumer) };
}

/** Sends in records and returns what D1 did for it. */
async function countedIngest({ stack, ingestKey }: Setting, records: object[]): Promise<Rows> {
  const headers = { 'x-api-key': ingestKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ records });
  const reply = await fetch(`${stack.baseUrl}/count/ingest`, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(`ingest: ${await reply.text()}`);
  await reply.text();
  return JSON.parse(reply.headers.get('x-d1') ?? '{}');
}

function add(sum: Rows, { read, written, ms }: Rows): void {
  sum.read += read;
  sum.written += written;
  sum.ms += ms;
}

const perFill = 10_000;

/** Adds finished deliveries of the last 30 days with their notifications, up to `to`. Returns the database's MB. */
async function fill(us: Setting, webhooks: string[], from: number, to: number): Promise<number> {
  const monthAgo = Date.now() - 30 * 86_400_000;
  const step = Math.floor((29 * 86_400_000) / to);
  const counting = `with recursive n (i) as (select cast(?1 as integer) union all select i + 1 from n where i + 1 < ?2)`;
  // Ids of events are hashes, so rows spread over the whole table.
  const event = `printf('%08x-0005-5000-8000-%012x', ((i / 4) * 2654435761) & 4294967295, i / 4)`;
  const time = `(${monthAgo} + i * ${step})`;
  let bytes = 0;
  for (let at = from; at < to; at += perFill) {
    const range = [at, Math.min(to, at + perFill)];
    await us.post('/fill', {
      sql: `${counting} insert into notifications (event_id, level, type, account_id, connection_id, data, created_at, request_id)
        select ${event}, 0, 2, 'bench', '${us.connection}', ?3, ${time}, '01a1fc72-831b-772e-98a0-8d9347089f0d'
        from n where i % 4 = 0 or i = ?1 on conflict do nothing`,
      params: [...range, JSON.stringify(eventData)],
    });
    const { size_after } = await us.post<{ size_after: number }>('/fill', {
      sql: `${counting} insert into deliveries (webhook_id, id, account_id, event_id, level, status, attempts,
          next_attempt_at, finished_at, give_up_at, log)
        select json_extract(?3, '$[' || (i % 4) || ']'),
          printf('%08x-%04x-7000-8000-%012x', ${time} >> 16, ${time} & 65535, i),
          'bench', ${event}, 0, 'delivered', 1, ${time}, ${time} + 20, ${time} + 432000000,
          '[{"at":1763668800000,"durationMs":12,"result":"success","status":204,"answer":""}]' from n`,
      params: [...range, JSON.stringify(webhooks)],
    });
    bytes = size_after;
  }
  return bytes / 1_000_000;
}

/** Returns the rows read for the newest 50 deliveries of a webhook, as in the portal and the operator's tool. */
async function pageRows(us: Setting, webhook: string): Promise<number> {
  const url = `${us.stack.baseUrl}/count/operator/deliveries?webhookId=${webhook}&limit=50`;
  const reply = await fetch(url, { headers: { authorization: `Bearer ${us.stack.operatorKey}` } });
  const { data } = (await reply.json()) as { data: unknown[] }; // the operator's own list
  if (data.length !== 50) throw new Error(`the page holds ${data.length} deliveries`);
  return JSON.parse(reply.headers.get('x-d1') ?? '{}').read;
}
