import { setTimeout as wait } from 'node:timers/promises';
import { type Listening, listen } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { type Backlog, measureBacklog } from './backlog.ts';
import { machine, report } from './report.ts';
import { eventData, newEvents, type Setting, startSetting } from './setting.ts';

/** A row of the table: so many webhooks, whose receivers take so long, should get so many deliveries a second. */
export type Case = { webhooks: number; ms: number; deliveries: number; required: number };

/** What the consumer has used, as the benchmark's Worker reports it. */
type Used = { read: number; written: number; queued: number };

const body = JSON.stringify({ timestamp: '2026-11-20T20:00:02.114Z', type: 2, data: eventData });

/** A call with more deliveries leaves the rest to the consumer, which would count as its work. */
const maxPerCall = 2000;

/** The most that the consumer may write and send per delivery. */
const maxWritten = 2.2;
const maxQueueOperations = 3.2;

/**
 * Measures deliveries per second to receivers that wait before they answer, beside a bare consumer with as many
 * calls in flight, and what a backlog delays. Prints tables, and returns whether every row is within its bars.
 */
export async function benchReceivers(
  json: boolean,
  { cases, backlog }: { cases: Case[]; backlog: Backlog },
): Promise<boolean> {
  const us = await startSetting('receivers');
  const rows: (string | number)[][] = [];
  let allMet = true;
  try {
    for (const { webhooks, ms, deliveries, required } of cases) {
      const receiver = await startSlow(us.stack, ms);
      const urls = Array.from({ length: webhooks }, (_, i) => `${receiver.url}/${rows.length}/${i}`);
      const bare = await bareRate(us, receiver, urls, deliveries);
      const ids = await us.webhooks(webhooks, urls);
      const { perSecond, used, repeats, most } = await serviceRate(us, receiver, ids, deliveries);
      await us.end(ids);
      receiver.stop();
      const written = used.written / deliveries;
      const operations = (3 * used.queued) / deliveries;
      const met = perSecond >= required && written <= maxWritten && operations <= maxQueueOperations;
      allMet &&= met;
      rows.push([
        webhooks,
        `${ms} ms`,
        Math.round(bare),
        Math.round(perSecond),
        (perSecond / bare).toFixed(2),
        required,
        written.toFixed(2),
        operations.toFixed(2),
        repeats,
        most,
        met ? 'yes' : 'no',
      ]);
    }
    report(
      `Deliveries to receivers that wait before they answer; rows written by the consumer and queue operations per delivery; ${machine()}`,
      [
        'webhooks',
        'takes',
        'bare/s',
        'deliveries/s',
        'ratio',
        'required',
        'rows',
        'queue',
        'repeats',
        'most in flight',
        'met',
      ],
      rows,
      json,
    );
    return (await measureBacklog(us, backlog, json)) && allMet;
  } finally {
    us.receiver.stop();
    await us.stack.stop();
  }
}

/** A receiver that takes its time, and keeps count. */
type Slow = Listening & { got: number; repeats: number; most: number; lastAt: number; reset: () => void };

async function startSlow({ certificates }: Stack, ms: number): Promise<Slow> {
  let seen = new Set<string>();
  const inFlight = new Map<string, number>();
  const slow: Slow = {
    url: '',
    stop: () => {},
    got: 0,
    repeats: 0,
    most: 0,
    lastAt: 0,
    reset() {
      seen = new Set();
      Object.assign(slow, { got: 0, repeats: 0, most: 0, lastAt: 0 });
    },
  };
  const listening = await listen(certificates, 0, (request, response) => {
    const { url: path = '', headers } = request;
    const id = String(headers['delivery-id']);
    const now = (inFlight.get(path) ?? 0) + 1;
    inFlight.set(path, now);
    slow.most = Math.max(slow.most, now);
    request.resume().on('end', async () => {
      if (ms > 0) await wait(ms);
      inFlight.set(path, (inFlight.get(path) ?? 1) - 1);
      response.writeHead(204).end();
      slow.got++;
      slow.lastAt = performance.now();
      if (seen.has(id)) slow.repeats++;
      seen.add(id);
    });
  });
  return Object.assign(slow, listening);
}

/** Waits until the receiver has got so many, and returns how many a second that is since `began`. */
async function ratePerSecond(receiver: Slow, count: number, began: number): Promise<number> {
  for (const end = Date.now() + 300_000; receiver.got - receiver.repeats < count; await wait(5))
    if (Date.now() > end) throw new Error(`${receiver.got} of ${count} deliveries arrived`);
  return count / ((receiver.lastAt - began) / 1000);
}

async function bareRate(us: Setting, receiver: Slow, urls: string[], count: number): Promise<number> {
  receiver.reset();
  const began = performance.now();
  await us.post('/bare/send-lanes', { urls, body, count });
  return ratePerSecond(receiver, count, began);
}

async function serviceRate(us: Setting, receiver: Slow, webhooks: string[], count: number) {
  receiver.reset();
  const events = count / webhooks.length;
  await us.post('/hold?on');
  const perCall = Math.min(250, maxPerCall / webhooks.length);
  for (let sent = 0; sent < events; sent += perCall)
    await us.ingest(newEvents(Math.min(perCall, events - sent)));
  await us.post('/hold');
  await us.post('/consumed');
  const began = performance.now();
  await us.post('/wake');
  const perSecond = await ratePerSecond(receiver, count, began);
  await wait(1000); // the last are still being recorded
  const used = await us.post<Used>('/consumed');
  return { perSecond, used, repeats: receiver.repeats, most: receiver.most };
}
