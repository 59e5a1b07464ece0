import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect } from 'vitest';
import { recordId } from '../../src/platform/db/ids.ts';
import { pull } from '../../src/providers/pull.ts';
import { connect, pullAll } from './provider.ts';
import type { receiver } from './receiver.ts';
import { as, type World, webhookBody } from './world.ts';

/** What goes wrong with a call of a provider. */
const faults = [
  'none',
  'none',
  'none',
  'down',
  'cut off',
  'limited',
  'page of html',
  'half a reply',
] as const;
type Fault = (typeof faults)[number];

/** A made-up provider with a fleet: how it serves, and what is to be known of it in the end. */
export type Fleet = {
  provider: string;
  credential: string;
  origin: string;
  /** Replies as the provider does; the cut of a reply is made outside. */
  serve(request: Request): Promise<Response>;
  /** Something happens: an event, a change of one, a new vehicle. `n` counts. */
  happen(n: number): void;
  /** The sourceIds of what there is, by table. */
  known(): { [table: string]: string[] };
  /** All that customers are told of; the level of an event is 0. */
  told(): { kind: 'safetyEvent' | 'accident'; sourceId: string; level: number }[];
};

/** What becomes of one turn: the faults of its calls, and after which call of ours the isolate dies, if it does. */
const turn = fc.record({
  faults: fc.array(fc.constantFrom(...faults), { maxLength: 12 }),
  dies: fc.option(fc.integer({ min: 1, max: 25 }), { freq: 3 }),
  happens: fc.boolean(),
});

/**
 * Proves that whatever goes wrong at the provider and with us, in any order, all is there in the end, and is told once.
 * `make` makes a fleet, of which a part has happened before it was connected.
 */
export async function proveExactlyOnce(
  us: () => World,
  hooks: () => ReturnType<typeof receiver>,
  make: () => Fleet,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
      const fleet = make();
      hooks().serves(fleet.origin, fleet.serve);
      const id = await connect(us(), fleet.provider, fleet.credential, { historyDays: 20 });
      await as(us().apiToken).post('/webhook', webhookBody(us(), { connectionIds: [id] }));
      let happened = 0;
      for (const { faults, dies, happens } of turns) {
        let call = 0;
        hooks().serves(fleet.origin, (request) => failing(faults[call++] ?? 'none', fleet, request));
        if (happens) fleet.happen(happened++);
        await forget(id);
        await pull(dies === null ? env : dying(dies), [id]);
      }
      hooks().serves(fleet.origin, fleet.serve);
      await forget(id);
      await pullAll(id);
      for (const [table, ids] of Object.entries(fleet.known()))
        expect([table, await sourceIds(table, id)]).toEqual([table, ids.toSorted()]);
      const told = fleet
        .told()
        .map(({ kind, sourceId, level }) => `${recordId(id, kind, sourceId)} ${level}`);
      expect(await toldOf(id)).toEqual(told.sort());
    }),
    { numRuns: env.FULL_PROOF ? 200 : 12 },
  );
}

async function failing(fault: Fault, fleet: Fleet, request: Request): Promise<Response> {
  switch (fault) {
    case 'down':
      return new Response('upstream connect error', { status: 503 });
    case 'cut off':
      throw new TypeError('Network connection lost');
    case 'limited':
      return Response.json({ message: 'slow down' }, { status: 429, headers: { 'retry-after': '0.4' } });
    case 'page of html':
      return new Response('<html>maintenance</html>', { headers: { 'content-type': 'text/html' } });
    case 'half a reply': {
      const text = await (await fleet.serve(request)).text();
      return new Response(text.slice(0, text.length / 2));
    }
    case 'none':
      return fleet.serve(request);
  }
}

/** The bindings of an isolate that dies at its n-th call: that one and all that follow come to nothing. */
function dying(n: number): Env {
  let calls = 0;
  const unlessDead = <T>(work: () => Promise<T>): Promise<T> =>
    ++calls >= n ? Promise.reject(new Error('The isolate is dead')) : work();
  const mortal = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, key) {
        if (key === 'bind') return (...values: unknown[]) => mortal(target.bind(...values));
        if (key === 'all' || key === 'run' || key === 'raw')
          return () => unlessDead(() => target[key as 'all']());
        if (key === 'plain') return target;
        return Reflect.get(target, key, target);
      },
    });
  const plain = (statement: D1PreparedStatement) =>
    (statement as unknown as { plain: D1PreparedStatement }).plain; // of `mortal`
  return {
    ...env,
    DB: {
      prepare: (sql: string) => mortal(env.DB.prepare(sql)),
      batch: (statements: D1PreparedStatement[]) => unlessDead(() => env.DB.batch(statements.map(plain))),
    },
    DELIVERIES: { sendBatch: (messages: never[]) => unlessDead(() => env.DELIVERIES.sendBatch(messages)) },
  } as unknown as Env; // what pulls use of them
}

/** Time passes: claims lapse, and what waited is due. */
const forget = (id: string) =>
  env.DB.prepare(
    `update pulls set due_at = 0, claimed_until = 0,
      feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt'))) from json_each(feeds))
    where connection_id = ?1`,
  )
    .bind(id)
    .run();

async function sourceIds(table: string, connection: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`select source_id from ${table} where connection_id = ?1`)
    .bind(connection)
    .all<{ source_id: string }>();
  return results.map((row) => row.source_id).sort();
}

/** What deliveries there are, each with its event and level: twice what is told twice. */
async function toldOf(connection: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select d.event_id || ' ' || d.level as told
    from webhook_connections w join deliveries d on d.webhook_id = w.webhook_id where w.connection_id = ?1`,
  )
    .bind(connection)
    .all<{ told: string }>();
  return results.map(({ told }) => told).sort();
}
