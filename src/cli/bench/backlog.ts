import { setTimeout as wait } from 'node:timers/promises';
import { startReceiver } from '../local/receiver.ts';
import { machine, percentile, report } from './report.ts';
import { newEvents, type Setting } from './setting.ts';

/** How much waits for a receiver that takes so long, and how many accidents come meanwhile; and how much is due at once. */
export type Backlog = { waiting: number; slowMs: number; accidents: number; everyMs: number; due: number };

/** An accident must arrive within this, whatever waits. */
const maxAccidentMs = 2000;

/**
 * Measures what a backlog delays: accidents, while many events wait for a slow receiver; and itself, when everything
 * is due at once after an outage. Prints two tables, and returns whether the accidents were in time.
 */
export async function measureBacklog(us: Setting, size: Backlog, json: boolean): Promise<boolean> {
  const met = await accidentsBeside(us, size, json);
  await drain(us, size, json);
  return met;
}

/** How long each level of an accident takes to a webhook with a backlog, and to one without. */
async function accidentsBeside(us: Setting, size: Backlog, json: boolean): Promise<boolean> {
  const { waiting, slowMs, accidents, everyMs } = size;
  const sent = new Map<string, number>();
  const times: { [path: string]: number[] } = { '/slow': [], '/quick': [] };
  const receiver = await startReceiver(us.stack.certificates, 0, async ({ path, body }) => {
    const { vin, notificationLevel } = body.data;
    const at = sent.get(`${vin} ${notificationLevel}`);
    if (at !== undefined) times[path]?.push(performance.now() - at);
    if (path === '/slow') await wait(slowMs);
  });
  const [slow] = await us.webhooks(1, [`${receiver.url}/slow`]);
  await hold(us, waiting);
  const [quick] = await us.webhooks(1, [`${receiver.url}/quick`]);
  await us.post('/wake');
  await wait(2 * slowMs);
  // Level by level: the next one of an accident would wait for the answer to the one before.
  for (const level of [1, 2, 3])
    for (let i = 0; i < accidents; i++) {
      sent.set(`VIN${i} ${level}`, performance.now());
      await us.ingest([accident(i, level)]);
      await wait(everyMs);
    }
  await wait(maxAccidentMs + 2 * slowMs);
  receiver.stop();
  await us.end([slow ?? '', quick ?? '']);
  const all = Object.entries(times);
  const inTime = ([, ms]: (typeof all)[number]) =>
    ms.length === 3 * accidents && percentile(ms, 0.99) <= maxAccidentMs;
  report(
    `Milliseconds from sending in a level of an accident to its call, while ${waiting} events wait for a receiver that takes ${slowMs} ms; bar: p99 at most ${maxAccidentMs}; ${machine()}`,
    ['webhook', 'levels', 'p50', 'p99', 'met'],
    all.map(([path, ms]) => [
      path,
      ms.length,
      percentile(ms, 0.5).toFixed(0),
      percentile(ms, 0.99).toFixed(0),
      inTime([path, ms]) ? 'yes' : 'no',
    ]),
    json,
  );
  return all.every(inTime);
}

/** How long it takes until everything that is due has been delivered, once its receivers are back. */
async function drain(us: Setting, { due }: Backlog, json: boolean): Promise<void> {
  const webhooks = await us.webhooks(4);
  let left = due;
  const done = new Promise<void>((all) => {
    us.receiver.arrived = () => void (--left === 0 && all());
  });
  await hold(us, due / webhooks.length);
  // As after an outage: each has failed once, and its circuit was open.
  await us.post('/fill', { sql: `update deliveries set attempts = 1 where status = 'pending'` });
  await us.post('/consumed');
  const began = performance.now();
  await us.post('/wake');
  await done;
  const seconds = (performance.now() - began) / 1000;
  await wait(1000);
  const used = await us.post<{ written: number; queued: number }>('/consumed');
  await us.end(webhooks);
  report(
    `${due} deliveries that are due at once, for 4 webhooks whose receivers answer at once; ${machine()}`,
    ['seconds', 'deliveries/s', 'rows written each', 'queue operations each'],
    [
      [
        seconds.toFixed(1),
        Math.round(due / seconds),
        (used.written / due).toFixed(2),
        ((3 * used.queued) / due).toFixed(2),
      ],
    ],
    json,
  );
}

/** Has events come in whose wake-ups are dropped. */
async function hold(us: Setting, events: number): Promise<void> {
  await us.post('/hold?on');
  for (let sent = 0; sent < events; sent += 500) await us.ingest(newEvents(Math.min(500, events - sent)));
  await us.post('/hold');
}

const accident = (i: number, notificationLevel: number) => ({
  kind: 'accident',
  sourceId: `a${i}`,
  vin: `VIN${i}`,
  eventTime: '2026-11-20T20:00:00Z',
  location: { latitude: 39.7, longitude: -104.9 },
  notificationLevel,
});
