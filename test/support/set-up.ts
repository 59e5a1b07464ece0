import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll } from 'vitest';

// Where a test has no receiver nobody answers, as offline; asking DNS would only fill the output.
globalThis.fetch = async () => {
  throw new TypeError('Network connection lost.');
};

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
