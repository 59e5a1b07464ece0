import { listen } from '../local/receiver.ts';
import { request } from '../operate/client.ts';
import { report } from './report.ts';
import { newAccount, newEvents } from './setting.ts';
import { benchStack } from './stack.ts';

type Size = { homes: number[]; calls: number; eventsPerCall: number };

const webhooks = 4;

/**
 * Measures ingest, and deliveries to four webhooks, with the same work spread over 1, 2 and 4 homes. On one machine all
 * homes share its cores: what this shows is that they cost nothing. What each costs its database and its queue is
 * asserted by `test/homes/operations.test.ts`.
 */
export async function benchHomes(json: boolean, { homes, calls, eventsPerCall }: Size): Promise<void> {
  const rows = [];
  for (const count of homes) rows.push([count, ...(await run(count, calls, eventsPerCall))]);
  report(
    `${calls * eventsPerCall} events, spread over the homes; each for ${webhooks} webhooks`,
    ['homes', 'records/s', 'deliveries/s', 'deliveries'],
    rows,
    json,
  );
}

async function run(count: number, calls: number, eventsPerCall: number): Promise<number[]> {
  const others = Array.from({ length: count - 1 }, (_, i) => `home${i + 2}`);
  const { stack } = await benchStack('homes', others);
  let arrived = 0;
  const { url, stop } = await listen(stack.certificates, 0, (incoming, reply) => {
    arrived++;
    incoming.resume().on('end', () => reply.writeHead(204).end());
  });
  const post = (path: string, key: string, body: object) =>
    request(stack.baseUrl + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  try {
    const accounts = await Promise.all(['main', ...others].map((home) => newAccount(stack, home)));
    const send = ({ ingestKey }: (typeof accounts)[number], records: object[]) =>
      post('/ingest', ingestKey, { records });
    for (const account of accounts) {
      const vehicles = Array.from({ length: 50 }, (_, i) => ({
        kind: 'vehicle',
        sourceId: `v${i}`,
        name: `V${i}`,
      }));
      await send(account, vehicles);
      for (let i = 0; i < webhooks; i++)
        await post('/webhook', account.token, {
          connectionIds: [account.connection],
          url: `${url}/${account.id}/${i}`,
          httpVerb: 'POST',
          notificationTypes: [2],
        });
    }
    const began = Date.now();
    const each = async (account: (typeof accounts)[number]) => {
      for (let call = 0; call < calls / count; call++) await send(account, newEvents(eventsPerCall));
    };
    await Promise.all(accounts.map(each));
    const taken = Date.now();
    const due = calls * eventsPerCall * webhooks;
    while (arrived < due) await new Promise((on) => setTimeout(on, 20));
    const perSecond = (number: number, until: number) => Math.round((1000 * number) / (until - began));
    return [perSecond(calls * eventsPerCall, taken), perSecond(due, Date.now()), arrived];
  } finally {
    stop();
    await stack.stop();
  }
}
