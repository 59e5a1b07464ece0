import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { demoSignIn } from '../demo/account.ts';
import { operatorOf } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';
import type { BenchStack } from './harness.ts';

type Size = { [what in 'seconds' | 'webhooks' | 'eventsPerCall' | 'floodCalls' | 'perSecond']: number };

type Attack = { perSecond: number; act: () => Promise<number | string> };

/** Things a caller does that may affect others, each prepared without measuring. */
export const attacks: { [name: string]: (stack: BenchStack, size: Size) => Promise<Attack> } = {
  'junk session cookies': async ({ baseUrl }, { perSecond }) => {
    const junk = () => `session=${randomBytes(32).toString('base64url')}`;
    return { perSecond, act: () => get(`${baseUrl}/portal/webhooks`, { cookie: junk() }) };
  },
  'bad tokens': async ({ baseUrl }, { perSecond }) => ({
    perSecond,
    act: () => {
      const random = `fds_${randomBytes(32).toString('base64url')}`; // well-formed, but nobody issued it
      const check = Buffer.alloc(4);
      check.writeUInt32BE(crc32(random));
      return get(`${baseUrl}/vehicles`, { 'x-api-key': random + check.toString('base64url') });
    },
  }),
  'huge pages': async (stack, { eventsPerCall }) => {
    const groups = [...'abcdefghijklmnopqrst'].map((name) => name.repeat(11));
    const us = await attacker(stack, [vehicle('v', groups), ...eventsOf(eventsPerCall - 1)]);
    const url = `${stack.baseUrl}/safety-events?from=2026-11-01&to=2026-12-01&limit=500`;
    return { perSecond: 5, act: () => get(url, us.headers) };
  },
  'a flood of events for a slow receiver': async (stack, { eventsPerCall, floodCalls, seconds }) => {
    const us = await attacker(stack);
    await us.webhooks([(await stack.receiver(5000)).url]);
    let sent = 0;
    const act = async () => {
      sent += eventsPerCall;
      return `${(await us.ingest(eventsOf(eventsPerCall, sent))).accepted} events`;
    };
    return { perSecond: floodCalls / seconds, act };
  },
  'the largest ingest call': async (stack, { webhooks, eventsPerCall, seconds }) => {
    const us = await attacker(stack);
    const { url } = await stack.receiver();
    await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${url}/${i}`));
    const records = eventsOf(eventsPerCall);
    const act = async () => `${(await us.ingest(records)).accepted} records for ${webhooks} webhooks`;
    return { perSecond: 1 / seconds, act };
  },
  'the largest list of webhooks': async (stack, { webhooks }) => {
    const us = await attacker(stack);
    const url = `https://receiver.example.com/${'a'.repeat(1400)}`;
    await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${url}/${i}`));
    return { perSecond: 5, act: () => get(`${stack.baseUrl}/webhooks`, us.headers) };
  },
  'overviews of a large account': async (stack, { eventsPerCall, floodCalls }) => {
    const us = await attacker(stack);
    const startedAt = new Date().toISOString();
    for (let call = 0; call < floodCalls; call++) {
      const events = eventsOf(eventsPerCall, call * eventsPerCall);
      await us.ingest(events.map((event) => ({ ...event, startedAt })));
    }
    const link = await demoSignIn(operatorOf(stack), us.id, 'attacker@fleet.example');
    const headers = { origin: new URL(link).origin }; // as a browser says it
    const signedIn = await fetch(link, { method: 'POST', headers, redirect: 'manual' });
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
    return { perSecond: 6, act: () => get(`${stack.baseUrl}/portal`, { cookie }) };
  },
};

async function attacker(stack: BenchStack, records: object[] = [vehicle('v')]) {
  const us = await newAccount(stack);
  await us.ingest(records);
  return us;
}

const eventsOf = (count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => safetyEvent('v', `e${first + i}`));

async function get(url: string, headers: Record<string, string>): Promise<number> {
  const reply = await fetch(url, { headers, redirect: 'manual' });
  await reply.arrayBuffer();
  return reply.status;
}
