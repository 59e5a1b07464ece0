import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;

// The secrets are bindings below. Wrangler would look for them elsewhere, and warn once for each test file.
process.env.WRANGLER_LOG = 'error';

/** `worker` runs inside workerd, with real D1, KV and Queues; `node` drives what people run. */
export default defineConfig({
  root,
  test: {
    // Journeys mostly wait: for claims to lapse, for retries, for a browser.
    maxWorkers: 3,
    // The Worker writes a line for each request and attempt; tests of the log read them themselves.
    onConsoleLog: (text) => !text.startsWith('{"level":"info"'),
    // Prints failures and a summary, nothing else.
    reporters: ['minimal', `${root}test/support/tally.ts`],
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: `${root}wrangler.toml` },
            miniflare: {
              bindings: {
                OPERATOR_KEY: 'an operator key for tests, 32+ characters',
                HEADER_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
                ORIGIN: 'https://portal.example.com',
                EMAIL_FROM: 'portal@fleet-data.example',
                ALLOW_LOOPBACK_RECEIVERS: 'true',
                FULL_PROOF: process.env.FULL_PROOF ?? '',
                MIGRATIONS: await readD1Migrations(`${root}migrations`),
              },
            },
          })),
        ],
        test: {
          name: 'worker',
          root,
          include: ['test/**/*.test.ts'],
          exclude: ['test/{cli,contract,journey,browser,node,structure}/**'],
          setupFiles: ['test/support/set-up.ts'],
          // How fast the machine is decides nothing.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'node',
          root,
          include: ['test/{cli,contract,journey,browser,node,structure}/**/*.test.ts'],
          globalSetup: ['test/support/node/empty-state.ts'],
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
