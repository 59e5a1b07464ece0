import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type Database, repeatsRefusals, statement, transaction } from '../../../src/platform/db/database.ts';
import { openDatabase } from '../../../src/platform/db/system.ts';

/** A database whose batches fail with D1's words. */
const failing = (reason: string): Database =>
  Object.create(openDatabase(env), {
    batch: { value: () => Promise.reject(new Error('Failed query', { cause: new Error(reason) })) },
  });
const run = (reason: string) => {
  const db = failing(reason);
  return transaction(db, [statement(openDatabase(env))`select 1`]);
};

it.each([
  "D1_ERROR: bad JSON path: 'inactive token': SQLITE_ERROR",
  "D1_ERROR: malformed JSON path near 'inactive token'",
])('a refusal is known by its word, whatever D1 says around it: %s', async (reason) => {
  await expect(run(reason)).rejects.toMatchObject({ failure: { kind: 'unauthenticated' } });
});

it.each(['D1_ERROR: bad JSON path: SQLITE_ERROR', 'D1_ERROR: integer overflow: SQLITE_ERROR'])(
  'one that D1 does not name is 503, and neither let through nor a fault of the request: %s',
  async (reason) => {
    await expect(run(reason)).rejects.toMatchObject({ failure: { kind: 'unavailable', retryAfter: 60 } });
    expect(await repeatsRefusals(failing(reason))).toBe(false);
  },
);

it('D1 repeats the words today, and would fail if it took them for a path', async () => {
  const db = openDatabase(env);
  expect(await repeatsRefusals(db)).toBe(true);
  const overflow = statement(db)`select coalesce(json_extract('{}', '$.nothing'), abs(-9223372036854775808))`;
  await expect(transaction(db, [overflow])).rejects.toMatchObject({ failure: { kind: 'unavailable' } });
});
