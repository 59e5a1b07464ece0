import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { app } from '#src/app.ts';
import { othersAreActive } from '#src/core/platform/fair-queue.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import type { DeliveryMessage } from '#src/core/webhooks/deliveries/queue.ts';
import { addNeighbour } from '#test/support/neighbour.ts';
import {
  accident,
  type Cost,
  metered,
  receiver,
  register,
  safetyEvent,
  times,
  vehicle,
  worldBefore,
} from '#test/support.ts';

/** An account for each test, or all, as the hook says, whose calls and deliveries are metered. */
export function meteredAccount(hook: typeof beforeAll | typeof beforeEach) {
  // What is counted does not depend on it, but that a range which ends at a row of others reads this row as well.
  beforeAll(addNeighbour);
  const us = worldBefore(hook);
  const hooks = {} as ReturnType<typeof receiver>; // filled in before each test
  beforeEach(() => void Object.assign(hooks, receiver()));

  /** Makes a call. Returns what it says, what it cost by the reply, and the meter, which goes on. */
  async function call(key: string, path: string, body?: object) {
    const meter = metered();
    const context = createExecutionContext();
    // Without entrypoints: what the service starts in other invocations would not be metered.
    const waitUntil = (work: Promise<unknown>) => context.waitUntil(work);
    const request = new Request(`https://api.example.com${path}`, {
      headers: {
        'x-api-key': key,
        'connection-id': us.connection.id,
        'content-type': 'application/json',
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const reply = await app.fetch(request, meter.env, { waitUntil } as ExecutionContext);
    const atReply = { ...meter.cost };
    await waitOnExecutionContext(context);
    const said = await reply.json<{ data: object; next?: string; resume?: string }>();
    return { ...said, ...meter, atReply };
  }
  const send = (...records: object[]) => call(us.connection.ingestKey, '/ingest', { records });

  return {
    us,
    hooks,
    send,
    get: (path: string, token = us.apiToken) => call(token, path),
    /** Has a webhook for everything, and so many vehicles. */
    hookFor: async (count: number, changes = {}) => {
      const { id } = await register(us, changes);
      await send(...vehicles(count));
      return id;
    },
    /** Waits until other work of the account no longer makes a large call wait. */
    othersRest: () => vi.waitFor(() => expect(othersAreActive(us.accountId)).toBe(false), 30_000),
  };
}

type Called = Awaited<ReturnType<ReturnType<typeof meteredAccount>['send']>>;

/** Runs the consumer over what a call woke, and over what that wakes in turn. Returns the cost since the reply. */
export async function deliver({ env, cost, woken, atReply }: Called) {
  for (let message = woken.shift(); message; message = woken.shift())
    await handle(env, message as DeliveryMessage); // as the call sent it
  const since = Object.entries(atReply).map(([of, before]) => [
    of,
    cost[of as keyof Cost] - before,
  ]);
  return Object.fromEntries(since) as Cost; // its own keys
}

/** Expects these numbers, and at most those. */
export function expectCost(cost: Cost, exact: Partial<Cost>, most: Partial<Cost> = {}) {
  expect(cost).toMatchObject(exact);
  for (const of of Object.keys(most) as (keyof Cost)[])
    expect(cost[of], of).toBeLessThanOrEqual(most[of] ?? 0);
}

/** One of which nobody is warned. */
const vinOf = (i: number) => `1FUJGLDR5CLB${String(i).padStart(5, '0')}`;
export const vehicles = (count: number) =>
  times(count, (i) => vehicle({ sourceId: `v${i}`, vin: vinOf(i) }));
export const events = (count: number, prefix = 'e') =>
  times(count, (i) => safetyEvent({ sourceId: `${prefix}${i}`, vehicle: `v${i}` }));
export const accidentOf = (i: number) => accident({ sourceId: `a${i}`, vin: vinOf(i) });
