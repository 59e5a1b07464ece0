// @module-tag proof
// More than 15 s: stores hang for seconds, since the timeouts of the runtime are real.
import { setTimeout as wait } from 'node:timers/promises';
import {
  accident,
  ago,
  ask,
  dayMs,
  fleetJson,
  journeyAccount,
  ownStack,
  type Received,
  safetyEvent,
  startReceiver,
  times,
  until,
  vehicle,
} from '#test/support/node/index.ts';

/** `npm run proof -- --full` runs it at full size. */
const full = process.env.FULL_PROOF === '1';

/** What hangs, for how many seconds, with which replies, and how many repeats there may be. */
const well = { ingest: 200, webhooks: 200, archive: 200 };
type What = keyof typeof well;
const drills = [
  { store: 'D1', seconds: 12, replies: { ingest: 503, webhooks: 503, archive: 503 }, repeats: 20 },
  { store: 'KV', seconds: 4, replies: well, repeats: 0 },
  { store: 'queue', seconds: 4, replies: well, repeats: 0 },
  { store: 'R2', seconds: 12, replies: { ...well, archive: 503 }, repeats: 0 },
].map((drill) => (full ? { ...drill, seconds: 80 } : drill));

/** What arrives at the latest after the end. */
const recoverySeconds = 30;

/** How many events are on their way to each receiver when it begins. */
const before = 20;

const stack = ownStack();

const longAgo = ago(300 * dayMs);
const now = () => new Date().toISOString();
const event = (sourceId: string, startedAt = now()) => safetyEvent({ sourceId, startedAt });

it.each(drills)('$store hangs for $seconds s and is reset: nothing is lost', async (drill) => {
  const us = await journeyAccount(stack);
  const got: (Received & { at: number })[] = [];
  const receiver = await startReceiver(stack.certificates, 0, async (received) => {
    got.push({ ...received, at: Date.now() });
    await wait(200);
  });
  // Accidents begin behind the response as well, events by way of the queue.
  for (const path of ['/first', '/second'])
    await us.register(receiver.url + path, { notificationTypes: [1, 2] });
  const issue = `ingest-key issue --connection ${us.connectionId} --name unused`;
  const { value: unusedKey } = await fleetJson<{ value: string }>(stack, issue);

  let replies: { what: What; status: number; ms: number; retryAfter: number }[] = [];
  const call = async (what: What, key: string, path: string, records?: object[]) => {
    const began = Date.now();
    const body = records && { records };
    const method = body ? 'POST' : 'GET';
    const reply = await ask(stack, key, method, path, body, us.connectionId);
    await reply.text();
    const retryAfter = Number(reply.headers.get('retry-after'));
    replies.push({ what, status: reply.status, ms: Date.now() - began, retryAfter });
    return replies.at(-1);
  };
  /** As connectors do: again until it is received. */
  const send = async (key: string, ...records: object[]) => {
    for (;;) {
      const reply = await call('ingest', key, '/ingest', records);
      if (reply?.status === 200) return;
      await wait((reply?.retryAfter ?? 0) * 1000);
    }
  };
  await send(us.ingestKey, vehicle(), event('old', longAgo));
  const day = longAgo.slice(0, 10);
  await until('the old event is archived', async () => {
    await stack.minute(0); // a full hour
    const repair = `connection repair-archive ${us.connectionId} --kind safety-events --date ${day}`;
    const { bucket } = await fleetJson<{ bucket: { files: number } }>(stack, repair);
    return bucket.files === 1;
  });
  await send(us.ingestKey, ...times(before, (i) => event(`before ${i}`)));
  await until('calls are under way', () => got.length > 0);

  replies = [];
  await fetch(`${stack.baseUrl}/strict/hang/${drill.store}/${drill.seconds}`);
  const ended = Date.now() + drill.seconds * 1000;
  const work: Promise<unknown>[] = [stack.minute()];
  const cron = setInterval(() => work.push(stack.minute()), 60_000);
  let wanted = 2 * before;
  for (let second = 0; Date.now() < ended - 1000; second++) {
    work.push(
      send(unusedKey, event(`event ${second}`)),
      send(unusedKey, accident({ sourceId: `accident ${second}`, eventTime: now() })),
    );
    wanted += 4;
    if (second % 3 === 0)
      work.push(
        call('webhooks', us.token, '/webhooks'),
        call('archive', us.token, `/safety-events?from=${longAgo}&to=${day}T23:59:59Z`),
      );
    await wait(1000);
  }
  const meanwhile = [...replies];
  await wait(ended - Date.now());
  const arrived = () => new Set(got.map(({ headers }) => `${headers['delivery-id']}`)).size;
  await until(
    'all have arrived',
    () => arrived() >= wanted,
    (ended - Date.now()) / 1000 + recoverySeconds,
  );
  clearInterval(cron);
  await Promise.all(work);
  receiver.stop();

  /** When the last delivery of a type arrived first, in seconds after the end. */
  const last = (type: number) => {
    const times = new Map(
      got
        .filter(({ body }) => body.type === type)
        .toReversed()
        .map(({ headers, at }) => [headers['delivery-id'], at]),
    );
    return Math.max(0, (Math.max(...times.values()) - ended) / 1000);
  };
  expect(arrived()).toBe(wanted);
  expect(last(1)).toBeLessThanOrEqual(last(2) + 1);
  expect(got.length - wanted).toBeLessThanOrEqual(drill.repeats);
  for (const { what, status, ms, retryAfter } of meanwhile) {
    expect({ what, status }).toEqual({ what, status: drill.replies[what] });
    expect(ms).toBeLessThan(15_000); // ten seconds, and what a busy machine adds
    if (status === 503) expect(retryAfter).toBeGreaterThan(0);
  }
});
