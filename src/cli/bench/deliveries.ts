import { setTimeout as wait } from 'node:timers/promises';
import { percentile } from './report.ts';
import { byTurns, type Measure } from './rounds.ts';
import { eventData, newEvents, type Setting } from './setting.ts';

const body = JSON.stringify({ timestamp: '2026-11-20T20:00:02.114Z', type: 2, data: eventData });

/** Measures deliveries per second, from `waiting` deliveries that are due to the arrival of the last one. */
export async function measureDeliveries(us: Setting, rounds: number, waiting: number): Promise<Measure[]> {
  const webhooks = await us.webhooks(4);
  const unit = 'deliveries/s';
  const runs = {
    bare: () =>
      arrivalsPerSecond(us, waiting, () =>
        us.post('/bare/send', { url: us.receiver.url, body, count: waiting }),
      ),
    service: () =>
      arrivalsPerSecond(
        us,
        waiting,
        () => us.post('/wake'),
        async () => {
          await us.post('/hold?on');
          for (let sent = 0; sent < waiting / 4; sent += 250) await us.ingest(newEvents(250));
          await us.post('/hold');
        },
      ),
  };
  const measures = [
    await byTurns({ what: `deliveries, ${waiting} waiting`, unit, target: 0.7 }, rounds, runs),
    await us.quietly(() => byTurns({ what: '  without the local log', unit, target: 0.7 }, rounds, runs)),
  ];
  await us.end(webhooks);
  return measures;
}

/**
 * Returns how many calls per second reach the receiver, until `count` have, once `start` is called. What a late lane
 * delivers while `prepare` makes the deliveries counts as well.
 */
export function arrivalsPerSecond(
  us: Setting,
  count: number,
  start: () => Promise<unknown>,
  prepare = async () => {},
): Promise<number> {
  return new Promise((done, fail) => {
    let began = performance.now();
    let left = count;
    us.receiver.arrived = () => {
      if (--left === 0) done(count / ((performance.now() - began) / 1000));
    };
    prepare()
      .then(() => {
        began = performance.now();
        return start();
      })
      .catch(fail);
    setTimeout(() => fail(new Error(`${left} of ${count} deliveries did not arrive`)), 60_000).unref();
  });
}

/** Measures milliseconds from ingest's reply to the first byte at the receiver, with nothing else to deliver. */
export async function measureLatency(us: Setting, samples: number): Promise<Measure[]> {
  const webhooks = await us.webhooks(1);
  const times = { bare: [] as number[], service: [] as number[] };
  const one = async (path: string, key: string, sent: object) => {
    const arrival = new Promise<number>((on) => {
      us.receiver.arrived = () => on(performance.timeOrigin + performance.now());
    });
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const reply = await fetch(us.stack.baseUrl + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(sent),
    });
    await reply.text();
    const ms = (await arrival) - Number(reply.headers.get('x-ready-at'));
    await wait(20);
    return ms;
  };
  const runs = {
    bare: async () => {
      const ms: number[] = [];
      for (let i = 0; i < samples; i++)
        ms.push(await one('/bare/tell', us.token, { url: us.receiver.url, body }));
      times.bare.push(...ms);
      return percentile(ms, 0.5);
    },
    service: async () => {
      const ms: number[] = [];
      for (let i = 0; i < samples; i++)
        ms.push(await one('/ingest', us.ingestKey, { records: newEvents(1) }));
      times.service.push(...ms);
      return percentile(ms, 0.5);
    },
  };
  const p50 = await byTurns(
    { what: "from ingest's reply to the receiver, p50", unit: 'ms', target: 1.5, lowerIsBetter: true },
    5,
    runs,
  );
  const whole = { bare: percentile(times.bare, 0.99), service: percentile(times.service, 0.99) };
  const same = (figure: number) => ({ median: figure, low: figure, high: figure });
  await us.end(webhooks);
  return [
    p50,
    {
      what: 'the same, p99',
      unit: 'ms',
      bare: same(whole.bare),
      service: same(whole.service),
      ratio: same(whole.service / whole.bare),
      target: '–',
      met: true,
    },
  ];
}
