import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { partsOf } from './parts.ts';
import { mutate } from './structure/mutants.ts';
import { strictMigrations } from './support/node/migrations.ts';

const root = new URL('..', import.meta.url).pathname;

// The programs that tests start are compiled once: starting them is a good part of what the tests do.
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/node`;
// The secrets are bindings below. Wrangler would look for them elsewhere, and warn once for each test file.
process.env.WRANGLER_LOG = 'error';

/** The service in a runtime that is as strict as production. */
const strictWorker = `${root}src/dev/strict/worker.ts`;

const bindings = () => ({
  OPERATOR_KEY: 'an operator key for tests, 32+ characters',
  ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  ORIGIN: 'https://portal.example.com',
  EMAIL_FROM: 'portal@fleet-data.example',
  ALLOW_LOOPBACK_RECEIVERS: 'true',
  FULL_PROOF: process.env.FULL_PROOF ?? '',
  MIGRATIONS: strictMigrations(),
});

/** Tests inside workerd. How fast the machine is decides nothing. */
const inWorkerd = {
  root,
  // Starting a Worker takes longer than most files.
  isolate: false,
  setupFiles: ['test/support/runtime/set-up.ts'],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 30_000 } },
  restoreMocks: true,
  globals: true,
};

// workerd says so once the service has refused a body before its end, as tests of rate limits have it do: no fault.
const expected = "Can't read from request stream because client disconnected";
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]) => `${args[0]}`.includes(expected) || write(...args);
}

/** Begins with the proofs that take longest, or all that is left at the end would be one of them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isLong = ({ moduleId }: TestSpecification) =>
      Number(/(?:take-out|mutants)\.proof/.test(moduleId));
    return (await super.sort(files)).toSorted((a, b) => isLong(b) - isLong(a));
  }
}

const parts = partsOf(process.env.npm_lifecycle_event);

const workerd = (more: object) =>
  cloudflareTest(async () => ({
    main: strictWorker,
    wrangler: { configPath: `${root}wrangler.toml` },
    miniflare: { bindings: bindings(), ...more },
  }));

/** REPLICA stands for a replica of the database; DB_EU and ARCHIVE_EU are those of another cell. */
const inOneWorker = () =>
  workerd({ d1Databases: { REPLICA: 'replica', DB_EU: 'eu' }, r2Buckets: { ARCHIVE_EU: 'eu' } });

/**
 * `worker` and `clock` run inside workerd, with real D1, KV and Queues; `node` drives what people run.
 */
export default defineConfig({
  root,
  // Warns of packages whose source maps lead nowhere otherwise.
  logLevel: 'error',
  test: {
    tags: [{ name: 'proof', description: 'what `npm run proof` runs instead of `npm test`' }],
    // Journeys mostly wait: for claims to lapse, for retries, for a browser.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The Worker writes a line for each request and attempt; tests of the log read them themselves.
    onConsoleLog: (text) => !text.startsWith('{"level":"info"'),
    // Prints failures and a summary, nothing else.
    reporters: ['minimal', `${root}test/support/runtime/tally.ts`],
    projects: [
      {
        plugins: [mutate(), inOneWorker()],
        test: {
          ...inWorkerd,
          name: 'worker',
          ...parts.worker,
        },
      },
      {
        plugins: [mutate(), inOneWorker()],
        test: { ...inWorkerd, name: 'clock', ...parts.clock },
      },
      {
        resolve: { alias: { 'cloudflare:workers': `${root}test/simulation/workers.ts` } },
        test: {
          name: 'simulation',
          globals: true,
          root,
          ...parts.simulation,
          execArgv: ['--js-base-64'],
          // It keeps random bytes for later ids, until the modules are reset.
          server: { deps: { inline: ['uuid'] } },
          env: { MIGRATIONS: JSON.stringify(strictMigrations().flatMap(({ queries }) => queries)) },
          testTimeout: 0,
        },
      },
      {
        plugins: [mutate()],
        test: {
          name: 'node',
          globals: true,
          root,
          ...parts.node,
          globalSetup: ['test/support/node/global-setup.ts'],
          setupFiles: ['test/support/node/set-up.ts'],
          // Each has a stack or a process of its own to work with.
          isolate: false,
          // As above. Those that make a lot at first do it while others use both cores.
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
