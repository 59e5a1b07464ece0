import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { demoSignIn } from '../demo/account.ts';
import { operatorOf } from '../operate/client.ts';
import { newAccount, safetyEvent, vehicle } from './account.ts';
import type { BenchStack } from './harness.ts';

/** The size of attacks; `perSecond` is the number of requests of those that hammer. */
export type AttackSize = {
  seconds: number;
  webhooks: number;
  eventsPerCall: number;
  floodCalls: number;
  perSecond: number;
};

/**
 * Something a caller does that may affect others. It is prepared without measuring, and then done so many times a
 * second; what is done returns its outcome.
 */
export type Attack = {
  name: string;
  perSecond: (size: AttackSize) => number;
  prepare: (stack: BenchStack, size: AttackSize) => Promise<() => Promise<number | string>>;
};

export const attacks: Attack[] = [
  {
    name: 'junk session cookies',
    perSecond: ({ perSecond }) => perSecond,
    prepare:
      async ({ baseUrl }) =>
      () =>
        get(`${baseUrl}/portal/webhooks`, { cookie: `session=${randomBytes(32).toString('base64url')}` }),
  },
  {
    name: 'bad tokens',
    perSecond: ({ perSecond }) => perSecond,
    prepare:
      async ({ baseUrl }) =>
      () => {
        const random = `fds_${randomBytes(32).toString('base64url')}`; // well-formed, but nobody issued it
        const check = Buffer.alloc(4);
        check.writeUInt32BE(crc32(random));
        return get(`${baseUrl}/vehicles`, { 'x-api-key': random + check.toString('base64url') });
      },
  },
  {
    name: 'huge pages',
    perSecond: () => 5,
    prepare: async (stack, { eventsPerCall }) => {
      const us = await newAccount(stack);
      await us.ingest([
        vehicle(
          'v',
          [...'abcdefghijklmnopqrst'].map((name) => name.repeat(11)),
        ),
      ]);
      await us.ingest(eventsOf(eventsPerCall));
      const url = `${stack.baseUrl}/safety-events?from=2026-11-01&to=2026-12-01&limit=500`;
      return () => get(url, { 'x-api-key': us.token, 'connection-id': us.connection });
    },
  },
  {
    name: 'a flood of events for a slow receiver',
    perSecond: ({ floodCalls, seconds }) => floodCalls / seconds,
    prepare: async (stack, { eventsPerCall }) => {
      const us = await newAccount(stack);
      await us.webhooks([(await stack.receiver(5000)).url]);
      await us.ingest([vehicle('v')]);
      let sent = 0;
      return async () => {
        sent += eventsPerCall;
        return `${(await us.ingest(eventsOf(eventsPerCall, sent))).accepted} events`;
      };
    },
  },
  {
    name: 'the largest ingest call',
    perSecond: ({ seconds }) => 1 / seconds,
    prepare: async (stack, { webhooks, eventsPerCall }) => {
      const us = await newAccount(stack);
      const { url } = await stack.receiver();
      await us.webhooks(Array.from({ length: webhooks }, (_, i) => `${url}/${i}`));
      const records = [vehicle('v'), ...eventsOf(eventsPerCall - 1)];
      return async () => `${(await us.ingest(records)).accepted} records for ${webhooks} webhooks`;
    },
  },
  {
    name: 'the largest list of webhooks',
    perSecond: () => 5,
    prepare: async (stack, { webhooks }) => {
      const us = await newAccount(stack);
      const path = 'a'.repeat(1400);
      await us.webhooks(
        Array.from({ length: webhooks }, (_, i) => `https://receiver.example.com/${i}/${path}`),
      );
      return () => get(`${stack.baseUrl}/webhooks`, { 'x-api-key': us.token });
    },
  },
  {
    name: 'overviews of a large account',
    perSecond: () => 6,
    prepare: async (stack, { eventsPerCall, floodCalls }) => {
      const us = await newAccount(stack);
      await us.ingest([vehicle('v')]);
      const startedAt = new Date().toISOString();
      for (let call = 0; call < floodCalls; call++)
        await us.ingest(
          eventsOf(eventsPerCall, call * eventsPerCall).map((event) => ({ ...event, startedAt })),
        );
      const operator = operatorOf(stack);
      const link = await demoSignIn(operator, us.id, 'attacker@fleet.example');
      const headers = { origin: new URL(link).origin }; // as a browser says it
      const signedIn = await fetch(link, { method: 'POST', headers, redirect: 'manual' });
      const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
      return () => get(`${stack.baseUrl}/portal`, { cookie });
    },
  },
];

const eventsOf = (count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => safetyEvent('v', `e${first + i}`));

/** Makes a request, and discards the response but for its status. */
async function get(url: string, headers: Record<string, string>): Promise<number> {
  const reply = await fetch(url, { headers, redirect: 'manual' });
  await reply.arrayBuffer();
  return reply.status;
}
