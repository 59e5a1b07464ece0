import '#src/extras/options.ts';

import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { takeExceeded } from '#src/dev/strict/limits.ts';
import { tableNames } from '#test/support/rows.ts';
import { findSourceMaps } from './source-maps.ts';

findSourceMaps();

// Files share a Worker, which is slow to start. Each begins with nothing stored.
beforeAll(async () => {
  // Where a test has no receiver nobody answers, as offline; asking DNS would only fill the output.
  globalThis.fetch = async () => {
    throw new TypeError('Network connection lost.');
  };
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  await emptyTables(env.DB);
  await emptyBucket(env.ARCHIVE);
  for (const { name } of (await env.TOKENS.list()).keys) await env.TOKENS.delete(name);
});
afterAll(() => void vi.restoreAllMocks());
// Whatever exceeds a limit of production fails, also where the service makes the best of it.
afterEach(() => expect(takeExceeded()).toEqual([]));

// Modules remember until when something is so: who sets the clock needs a Worker without others.
const { now } = Date;
const setsClock = /\.clock\.test\.ts$/.test(expect.getState().testPath ?? '');
afterEach(() =>
  expect(setsClock || Date.now === now, 'a file that sets the clock: *.clock.test.ts').toBe(true),
);

/** The bindings of the Worker as they are, kept by whichever file came first. */
const worker = globalThis as { bindings?: Env };
worker.bindings ??= { ...env };
const own = worker.bindings;
const replace = (name: string, value: unknown) =>
  Object.defineProperty(env, name, { value, configurable: true, enumerable: true });

// Each look at a method of this binding gives another one, so that no second file could spy on it.
replace('EMAIL', { send: (message: EmailMessage) => own.EMAIL.send(message) });

// Limits count anew for each file.
const file = crypto.randomUUID();
for (const [name, limiter] of Object.entries(own))
  if (name.endsWith('_LIMIT'))
    replace(name, {
      limit: ({ key }: RateLimitOptions) => limiter.limit({ key: `${file} ${key}` }),
    });

/** Deletes every row but the one that a migration has written. */
async function emptyTables(db: D1Database): Promise<void> {
  // Webhooks before events: the deletion of an event looks at each webhook of its account.
  const others = (await tableNames(db)).filter((name) => name !== 'accounts').toReversed();
  const emptied = others.map((name) => db.prepare(`delete from "${name}"`));
  await db.batch([
    db.prepare('pragma defer_foreign_keys = on'),
    ...emptied,
    ...emptied, // triggers note what is deleted
    db.prepare("delete from accounts where name <> 'Nobody'"),
  ]);
}

async function emptyBucket(bucket: R2Bucket): Promise<void> {
  for (;;) {
    const { objects } = await bucket.list();
    if (objects.length === 0) return;
    await bucket.delete(objects.map(({ key }) => key));
  }
}
