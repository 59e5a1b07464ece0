import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { listen } from '../local/receiver.ts';
import type { Stack } from '../local/stack.ts';
import { operatorOf, request } from '../operate/client.ts';
import { event, paced, vehicle } from './neighbour.ts';
import { newAccount } from './setting.ts';

/** How much the attackers do; `perSecond` is how many requests those send that only hammer. */
export type AttackSize = { webhooks: number; eventsPerCall: number; floodCalls: number; perSecond: number };

/**
 * What one caller can do to the others. It is prepared while nobody measures; `begin` then goes on until the signal,
 * and says what was done.
 */
export type Attack = {
  name: string;
  /** Not an attack on the service, but what as many requests cost the local runtime alone. */
  isControl?: true;
  prepare: (
    stack: Stack,
    size: AttackSize,
  ) => Promise<{ begin: (until: AbortSignal) => Promise<string>; stop?: () => void }>;
};

export const attacks: Attack[] = [
  { name: 'as many static files', isControl: true, prepare: staticFiles },
  { name: 'junk session cookies', prepare: junkCookies },
  { name: 'bad tokens', prepare: badTokens },
  { name: 'huge pages', prepare: hugePages },
  { name: 'a flood of events for a slow receiver', prepare: flood },
  { name: 'the largest ingest call', prepare: largestCall },
];

/** One call of the most records, for the most webhooks. */
async function largestCall(stack: Stack, { webhooks, eventsPerCall }: AttackSize) {
  const { stop, ingestKey } = await attacker(stack, { webhooks, answersAfterMs: 0 });
  const begin = async () => {
    const records = Array.from({ length: eventsPerCall }, (_, i) => event('v', `e${i}`));
    const status = await post(stack, '/ingest', ingestKey, {
      records: [vehicle('v'), ...records].slice(0, 500),
    });
    return `${eventsPerCall} events × ${webhooks} webhooks: ${status}`;
  };
  return { begin, stop };
}

/** Calls full of events, one after the other, for a receiver that takes five seconds. */
async function flood(stack: Stack, { eventsPerCall, floodCalls }: AttackSize) {
  const { stop, ingestKey } = await attacker(stack, { webhooks: 1, answersAfterMs: 5000 });
  await post(stack, '/ingest', ingestKey, { records: [vehicle('v')] });
  const begin = async (until: AbortSignal) => {
    let sent = 0;
    while (sent < floodCalls * eventsPerCall && !until.aborted) {
      const records = Array.from({ length: eventsPerCall }, () => event('v', `e${sent++}`));
      await post(stack, '/ingest', ingestKey, { records });
    }
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

/** Files that the runtime serves without the Worker. */
async function staticFiles(stack: Stack, { perSecond }: AttackSize) {
  return hammering(perSecond, () => ({ url: staticFile(stack), headers: {} }));
}

const staticFile = ({ baseUrl }: Stack): string => `${baseUrl}/portal/portal.js`;

/** How many requests a second the runtime can answer when they cost it as little as can be. */
export async function mostPerSecond(stack: Stack, seconds: number): Promise<number> {
  let answered = 0;
  const until = Date.now() + seconds * 1000;
  const client = async () => {
    for (; Date.now() < until; answered++) await (await fetch(staticFile(stack))).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 10 }, client));
  return answered / seconds;
}

/** Tokens as ours are formed, that nobody issued. */
async function badTokens(stack: Stack, { perSecond }: AttackSize) {
  return hammering(perSecond, () => {
    const random = `fds_${randomBytes(32).toString('base64url')}`;
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(random));
    return {
      url: `${stack.baseUrl}/vehicles`,
      headers: { 'x-api-key': random + check.toString('base64url') },
    };
  });
}

/** The largest pages of the largest items that the service takes in. */
async function hugePages(stack: Stack, { eventsPerCall }: AttackSize) {
  const { stop, ingestKey, token, connection } = await attacker(stack, { webhooks: 0, answersAfterMs: 0 });
  for (let groups = 100; groups > 0; groups = Math.floor(groups / 2)) {
    const names = Array.from({ length: groups }, (_, i) => `${i}`.padEnd(200, 'g'));
    if ((await post(stack, '/ingest', ingestKey, { records: [vehicle('v', names)] })) === 'all taken') break;
  }
  const records = Array.from({ length: eventsPerCall }, (_, i) => event('v', `e${i}`));
  await post(stack, '/ingest', ingestKey, { records });
  const path = '/safety-events?from=2026-11-01&to=2026-12-01&limit=500';
  const headers = { 'x-api-key': token, 'connection-id': connection };
  return { ...hammering(5, () => ({ url: stack.baseUrl + path, headers })), stop };
}

/** Requests at a steady pace, whose replies are read and dropped. */
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

/** An account with webhooks, made with as many tokens as its calls need. */
async function attacker(
  stack: Stack,
  { webhooks, answersAfterMs }: { webhooks: number; answersAfterMs: number },
) {
  const account = await newAccount(stack);
  const receiver = await listen(stack.certificates, 0, (incoming, response) => {
    incoming.resume().on('end', async () => {
      await wait(answersAfterMs);
      response.writeHead(204).end();
    });
  });
  const operator = operatorOf(stack.baseUrl, stack.operatorKey);
  let { token } = account;
  for (let made = 0; made < webhooks; made++) {
    if (made % 500 === 499)
      token = (await operator.post<{ value: string }>(`/accounts/${account.id}/tokens`, { name: 'more' }))
        .value;
    await request(`${stack.baseUrl}/webhook`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify({
        connectionIds: [account.connection],
        url: `${receiver.url}/${made}`,
        httpVerb: 'POST',
        notificationTypes: [2],
      }),
    });
  }
  return { ...account, stop: receiver.stop };
}

/** Sends records in; an attacker does not mind being refused. */
async function post({ baseUrl }: Stack, path: string, key: string, body: object): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  const reply = await fetch(baseUrl + path, sent).catch(() => undefined);
  if (!reply) return 'no reply';
  const { data } = (await reply.json()) as { data?: { rejected: unknown[] } }; // the envelope
  return reply.ok && data?.rejected.length === 0 ? 'all taken' : String(reply.status);
}
