import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import {
  type Database,
  refuseUnless,
  repeatsRefusals,
  transaction,
} from '#src/core/platform/db/database.ts';
import { openSession } from '#src/core/platform/db/system.ts';
import type { Failure } from '#src/core/platform/errors.ts';
import { db } from '#test/support/rows.ts';

const failing = (reason: string): Database =>
  openSession({
    prepare: (text) => env.DB.prepare(text),
    batch: () => Promise.reject(new Error(reason)),
  });
const run = (reason: string) => transaction(failing(reason), [db.all(sql`select 1`)]);

it('results have the names of their statements, also in lists', async () => {
  const one = (value: number) => db.all<{ value: number }>(sql`select ${value} as value`);
  const results = await transaction(db, {
    rows: one(1),
    none: undefined,
    each: [one(2), one(3)],
    within: { last: one(4), changed: db.run(sql`delete from accounts where id = ${''}`) },
  });
  expect(results).toMatchObject({
    rows: [{ value: 1 }],
    none: undefined,
    each: [[{ value: 2 }], [{ value: 3 }]],
    within: { last: [{ value: 4 }], changed: { meta: { changes: 0 } } },
  });
  expect(await one(5)).toEqual([{ value: 5 }]);
});

it.each<Failure>([
  { kind: 'not found' },
  { kind: 'invalid', message: `It's "é 漢"}\n`, errors: [{ field: 'a', message: "b's" }] },
  { kind: 'invalid', message: 'x'.repeat(5_000) },
])('a refusal is the very one of its statement', async (failure) => {
  const refused = transaction(db, [db.all(sql`select 1`), refuseUnless(db, sql`false`, failure)]);
  await expect(refused).rejects.toMatchObject({ failure });
});

it.each([
  `D1_ERROR: bad JSON path: '{"kind":"unauthenticated"}': SQLITE_ERROR`,
  `D1_ERROR: malformed JSON path near '{"kind":"unauthenticated"}'`,
])('a refusal is known whatever D1 says around it: %s', async (reason) => {
  await expect(run(reason)).rejects.toMatchObject({ failure: { kind: 'unauthenticated' } });
});

it.each(['D1_ERROR: bad JSON path: SQLITE_ERROR', 'D1_ERROR: integer overflow: SQLITE_ERROR'])(
  'one that D1 does not repeat is 503, and neither let through nor a fault of the request: %s',
  async (reason) => {
    const failure = { kind: 'unavailable', retryAfter: 60 };
    await expect(run(reason)).rejects.toMatchObject({ failure });
    expect(await repeatsRefusals(failing(reason))).toBe(false);
  },
);

it('D1 repeats refusals today, and would fail if it took them for a path', async () => {
  expect(await repeatsRefusals(db)).toBe(true);
  const overflow = db.all(
    sql`select coalesce(json_extract('{}', '$.nothing'), abs(-9223372036854775808))`,
  );
  const failure = { kind: 'unavailable' };
  await expect(transaction(db, overflow)).rejects.toMatchObject({ failure });
});
