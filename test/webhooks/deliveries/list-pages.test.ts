import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/db/ids.ts';
import { maxPageBytes } from '../../../src/platform/db/pages.ts';
import { readDeliveries } from '../../../src/webhooks/deliveries/list.ts';
import type { DeliverySummary } from '../../../src/webhooks/deliveries/schema.ts';
import { compare, idAt, listedDeliveries, type Seed } from '../../support/delivery-list.ts';
import { rows } from '../../support/rows.ts';
import { runs } from '../../support/runs.ts';
import { as } from '../../support/world.ts';

const setting = listedDeliveries();
const { register, insert, list } = setting;
const caller = () => ({ tokenId: setting.us.tokenId, accountId: setting.us.accountId });

/** Reads a list to its end; `meanwhile` happens after each page. */
async function walk(query: Record<string, string[]>, meanwhile = async () => {}) {
  const pages: DeliverySummary[][] = [];
  let cursor: string | undefined;
  do {
    const page = await readDeliveries(env, caller(), { ...query, ...(cursor && { cursor: [cursor] }) });
    pages.push(page.items);
    cursor = page.next;
    await meanwhile();
  } while (cursor);
  return pages;
}

describe('walking the list to its end', () => {
  const statuses = ['pending', 'delivered', 'failed', 'cancelled'] as const;
  const seed = fc.record({
    hook: fc.nat(4),
    event: fc.nat(3),
    level: fc.nat(3),
    status: fc.constantFrom(...statuses, 'pending'),
    dueAt: fc.nat(5),
  });
  /** Mostly left out, so that enough is left to be walked. */
  const filtered = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: values });
  const filters = (
    status: fc.Arbitrary<(typeof statuses)[number] | null>,
    event: fc.Arbitrary<number | null>,
  ) =>
    fc.record({
      hook: filtered(fc.nat(4)),
      status,
      type: filtered(fc.constantFrom(1, 2)),
      event,
      from: filtered(fc.integer({ min: 1, max: 4 })),
      to: filtered(fc.integer({ min: 5, max: 9 })),
    });
  const anyStatus = fc.constantFrom(...statuses);
  const filter = fc.oneof(
    filters(filtered(anyStatus), fc.constant(null)),
    filters(anyStatus, filtered(fc.nat(3))),
    filters(fc.constant('pending'), fc.constant(null)),
    filters(filtered(anyStatus), fc.nat(3)),
  );
  const events = Array.from({ length: 4 }, newId);
  /** When each level of each event is notified, to the millisecond: two levels at a time. */
  const notifiedAt = (event: number, level: number) => 1 + Math.floor(event / 2) * 2 + Math.floor(level / 2);

  it('yields what was there at the start once, in order, whatever comes in meanwhile', async () => {
    const hooks: string[] = [];
    for (let i = 0; i < 5; i++) hooks.push((await register()).id);
    const gone = (await register()).id;
    await as(setting.us.apiToken).delete(`/webhook/${gone}`);
    await rows(
      `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
       select value->>0, value->>1, 1, ?2, '', '{}', value->>2 from json_each(?1)`,
      JSON.stringify(
        events.flatMap((id, event) => [0, 1, 2, 3].map((level) => [id, level, notifiedAt(event, level)])),
      ),
      setting.us.accountId,
    );
    const asRow = ({
      hook,
      event,
      level,
      status,
      dueAt,
    }: typeof seed extends fc.Arbitrary<infer T> ? T : never) => ({
      webhookId: hooks[hook] ?? '',
      id: idAt(notifiedAt(event, level)),
      eventId: events[event] ?? '',
      level,
      status,
      priority: level > 0 ? 0 : 1 + (event % 3),
      dueAt,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(seed, { minLength: 10, maxLength: 50, size: 'max' }),
        fc.array(fc.array(seed, { maxLength: 3 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 8 }),
        filter,
        async (atStart, inserts, limit, chosen) => {
          await rows('delete from deliveries');
          const there = atStart.map(asRow);
          await insert([
            ...there,
            ...there.slice(0, 3).map((row) => ({ ...row, webhookId: gone, id: newId() })),
          ]);
          const createdAt = (row: Seed) => Number.parseInt(row.id.slice(0, 8) + row.id.slice(9, 13), 16);
          const key = ({ id, level, priority, dueAt }: Seed) => {
            if (chosen.event !== null) return [level, id];
            return chosen.status === 'pending' ? [priority, dueAt, id] : [id];
          };
          const expected = there
            .filter(
              (row) =>
                (chosen.hook === null || row.webhookId === hooks[chosen.hook]) &&
                (chosen.status === null || row.status === chosen.status) &&
                (chosen.type === null || row.level > 0 === (chosen.type === 1)) &&
                (chosen.event === null || row.eventId === events[chosen.event]) &&
                (chosen.from === null || createdAt(row) >= chosen.from) &&
                (chosen.to === null || createdAt(row) < chosen.to),
            )
            .sort((a, b) => compare([a.webhookId, ...key(a)], [b.webhookId, ...key(b)]))
            .map(({ id }) => id);
          const pages = await walk(
            {
              limit: [String(limit)],
              ...(chosen.hook !== null && { webhookId: [hooks[chosen.hook] ?? ''] }),
              ...(chosen.status && { status: [chosen.status] }),
              ...(chosen.type && { type: [String(chosen.type)] }),
              ...(chosen.event !== null && { eventId: [events[chosen.event] ?? ''] }),
              ...(chosen.from && { from: [new Date(chosen.from).toISOString()] }),
              ...(chosen.to && { to: [new Date(chosen.to).toISOString()] }),
            },
            async () => {
              const more = inserts.shift();
              if (more) await insert(more.map(asRow));
            },
          );
          expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
          const walked = pages.flat().map(({ id }) => id);
          const ids = new Set(there.map(({ id }) => id));
          expect(walked.filter((id) => ids.has(id))).toEqual(expected);
          expect(new Set(walked).size).toBe(walked.length);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe('a page', () => {
  const walks = [
    '',
    'status=failed',
    'status=pending',
    'status=delivered',
    `eventId=${newId()}`,
    'from=2026-11-01&to=2026-12-01',
  ];

  it.each(walks.flatMap((walk) => [walk, `${walk}&type=1&webhookId=`]))(
    'is read by index alone: ?%s',
    async (query) => {
      const { id } = await register();
      const plan: string[] = [];
      const batch = async (statements: D1PreparedStatement[]) => {
        const results = await env.DB.batch<{ detail: string }>(statements);
        plan.push(...(results.at(-1)?.results.map(({ detail }) => detail) ?? []));
        return results.map((result, i) => (i === results.length - 1 ? { ...result, results: [] } : result));
      };
      const prepare = (text: string) =>
        env.DB.prepare(text.includes('webhooks_by_id') ? `explain query plan ${text}` : text);
      const explaining: Env = { ...env, DB: { prepare, batch } as D1Database };
      const parameters = new URLSearchParams(query);
      if (parameters.has('webhookId')) parameters.set('webhookId', id);
      const asked = Object.fromEntries([...parameters].map(([name, value]) => [name, [value]]));
      await readDeliveries(explaining, caller(), asked);
      // What an event was notified of, `n`, is a row for each level.
      const ofFew =
        /^(CO-ROUTINE|SCAN \(subquery|MATERIALIZE n|COMPOUND|LEFT-MOST|UNION ALL|CORRELATED|SCAN n$|USE TEMP B-TREE FOR LAST 2 TERMS)/;
      const steps = plan.filter((step) => !ofFew.test(step));
      expect(steps.length).toBeGreaterThanOrEqual(2);
      for (const step of steps) expect(step).toMatch(/^SEARCH \w+ USING /);
    },
  );

  it('of 500 items is far smaller than a page can be', async () => {
    const { id: webhookId } = await register();
    const long = { eventId: newId(), level: 1, status: 'pending', priority: 3, dueAt: 253402300799999 };
    await insert(Array.from({ length: 500 }, (_, at) => ({ ...long, webhookId, id: idAt(at) })));
    const log = [
      {
        at: 253402300799999,
        durationMs: 1,
        result: 'blocked address',
        status: 599,
        answer: 'x'.repeat(1024),
      },
    ];
    await rows('update deliveries set attempts = 1000000, log = ?1', JSON.stringify(log));
    const { data } = await list('?limit=500');
    expect(data).toHaveLength(500);
    expect(JSON.stringify(data).length).toBeLessThan(maxPageBytes / 4);
  });
});
