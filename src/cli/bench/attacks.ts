import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { demoSignIn } from '../demo/account.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf } from '../operate/client.ts';
import { type BenchAccount, newAccount, safetyEvent, vehicle } from './account.ts';
import { startCounter } from './counter.ts';

/** The size of attacks; `perSecond` is the number of requests of those that hammer. */
export type AttackSize = { webhooks: number; eventsPerCall: number; floodCalls: number; perSecond: number };

/**
 * Something a caller does that may affect others. It is prepared without measuring; `begin` then runs until the signal,
 * and reports what was done.
 */
export type Attack = {
  name: string;
  prepare: (
    stack: Stack,
    size: AttackSize,
  ) => Promise<{ begin: (until: AbortSignal) => Promise<string>; stop?: () => void }>;
};

export const attacks: Attack[] = [
  { name: 'junk session cookies', prepare: junkCookies },
  { name: 'bad tokens', prepare: badTokens },
  { name: 'huge pages', prepare: hugePages },
  { name: 'a flood of events for a slow receiver', prepare: flood },
  { name: 'the largest ingest call', prepare: largestCall },
  { name: 'the largest list of webhooks', prepare: largestList },
  { name: 'overviews of a large account', prepare: overviews },
];

/** `GET /webhooks` of an account's maximum size. */
async function largestList(stack: Stack, { webhooks }: AttackSize) {
  const us = await newAccount(stack);
  const path = 'a'.repeat(1400);
  await us.webhooks(Array.from({ length: webhooks }, (_, i) => `https://receiver.example.com/${i}/${path}`));
  const headers = { 'x-api-key': us.token };
  return hammering(5, () => ({ url: `${stack.baseUrl}/webhooks`, headers }));
}

/** The portal's overview of an account with many events in the last hour. */
async function overviews(stack: Stack, { eventsPerCall, floodCalls }: AttackSize) {
  const { us, stop } = await attacker(stack, 0, 0);
  await outcome(us, [vehicle('v')]);
  const startedAt = new Date().toISOString();
  for (let sent = 0; sent < floodCalls * eventsPerCall; sent += eventsPerCall)
    await outcome(
      us,
      eventsOf('v', eventsPerCall, sent).map((event) => ({ ...event, startedAt })),
    );
  const link = await demoSignIn(
    operatorOf(stack.baseUrl, stack.operatorKey),
    us.id,
    'attacker@fleet.example',
  );
  const origin = new URL(link).origin; // as a browser says it
  const signedIn = await fetch(link, { method: 'POST', headers: { origin }, redirect: 'manual' });
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
  return { ...hammering(6, () => ({ url: `${stack.baseUrl}/portal`, headers: { cookie } })), stop };
}

/** One call of the most records, for the most webhooks. */
async function largestCall(stack: Stack, { webhooks, eventsPerCall }: AttackSize) {
  const { us, stop } = await attacker(stack, webhooks, 0);
  const begin = async () => {
    const records = [vehicle('v'), ...eventsOf('v', eventsPerCall - 1)];
    return `${eventsPerCall} events × ${webhooks} webhooks: ${await outcome(us, records)}`;
  };
  return { begin, stop };
}

/** Calls full of events, one after the other, for a receiver that takes five seconds. */
async function flood(stack: Stack, { eventsPerCall, floodCalls }: AttackSize) {
  const { us, stop } = await attacker(stack, 1, 5000);
  await outcome(us, [vehicle('v')]);
  const begin = async (until: AbortSignal) => {
    let sent = 0;
    for (; sent < floodCalls * eventsPerCall && !until.aborted; sent += eventsPerCall)
      await outcome(us, eventsOf('v', eventsPerCall, sent));
    return `${sent} events`;
  };
  return { begin, stop };
}

async function junkCookies(stack: Stack, { perSecond }: AttackSize) {
  return hammering(perSecond, () => ({
    url: `${stack.baseUrl}/portal/webhooks`,
    headers: { cookie: `session=${randomBytes(32).toString('base64url')}` },
  }));
}

/** How many requests a second the runtime serves at most: files, without the Worker. */
export async function mostPerSecond({ baseUrl }: Stack, seconds: number): Promise<number> {
  let served = 0;
  const until = Date.now() + seconds * 1000;
  const client = async () => {
    for (; Date.now() < until; served++) await (await fetch(`${baseUrl}/portal/portal.js`)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 10 }, client));
  return served / seconds;
}

/** Well-formed tokens that nobody issued. */
async function badTokens(stack: Stack, { perSecond }: AttackSize) {
  return hammering(perSecond, () => {
    const random = `fds_${randomBytes(32).toString('base64url')}`;
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(random));
    const headers = { 'x-api-key': random + check.toString('base64url') };
    return { url: `${stack.baseUrl}/vehicles`, headers };
  });
}

/** The largest pages of the largest items. */
async function hugePages(stack: Stack, { eventsPerCall }: AttackSize) {
  const { us, stop } = await attacker(stack, 0, 0);
  for (let groups = 100; groups > 0; groups = Math.floor(groups / 2)) {
    const names = Array.from({ length: groups }, (_, i) => `${i}`.padEnd(200, 'g'));
    if ((await outcome(us, [vehicle('v', names)])) === 'all taken') break;
  }
  await outcome(us, eventsOf('v', eventsPerCall));
  const url = `${stack.baseUrl}/safety-events?from=2026-11-01&to=2026-12-01&limit=500`;
  const headers = { 'x-api-key': us.token, 'connection-id': us.connection };
  return { ...hammering(5, () => ({ url, headers })), stop };
}

/** Requests at a steady pace, whose responses are discarded. */
function hammering(perSecond: number, next: () => { url: string; headers: Record<string, string> }) {
  const statuses = new Map<number, number>();
  const begin = async (until: AbortSignal) => {
    await paced(perSecond, until, async () => {
      const { url, headers } = next();
      const reply = await fetch(url, { headers, redirect: 'manual' }).catch(() => undefined);
      await reply?.arrayBuffer().catch(() => {});
      const status = reply?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  };
  return { begin };
}

/** An account with webhooks for one receiver that responds after `ms`. */
async function attacker(stack: Stack, webhooks: number, ms: number) {
  const us = await newAccount(stack);
  const { url, stop } = await startCounter(stack, ms);
  await us.webhooks(
    Array.from({ length: webhooks }, (_, i) => `${url}/${i}`),
    { notificationTypes: [2] },
  );
  return { us, stop };
}

const eventsOf = (vehicle: string, count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => safetyEvent(vehicle, `e${first + i}`));

/** Sends records and returns the result, even a refusal. */
const outcome = ({ ingest }: BenchAccount, records: object[]): Promise<string> =>
  ingest(records).then(
    ({ rejected }) => (rejected.length === 0 ? 'all taken' : `${rejected.length} rejected`),
    (error: Error) => error.message,
  );

/** Starts `work` so many times a second until `signal`, whether or not the last has ended, and waits for all of it. */
export async function paced(
  perSecond: number,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (const start = performance.now(); !signal.aborted; ) {
    begun.push(work());
    const next = start + (begun.length * 1000) / perSecond;
    await wait(Math.max(0, next - performance.now()));
  }
  await Promise.all(begun);
}
