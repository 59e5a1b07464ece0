import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unlimited } from '../../src/cli/local/configurations.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { inCell, type JourneyAccount, journeyAccount, stackFolder, until } from '../support/node/journey.ts';

// The cell eu runs in a process of its own, which finds the router by way of the registry, so that it can be killed.
const folder = stackFolder({ cells: ['main', 'eu'], apart: ['eu'], change: unlimited });
const registry = join(folder.directory, 'registry');
const folderOfEu = stackFolder({ cells: ['eu'], registry, change: unlimited });
let stack: Stack;
let eu: Stack;
let ofMain: JourneyAccount;
let ofEu: JourneyAccount;
beforeAll(async () => {
  [stack, eu] = await Promise.all([folder.start(), folderOfEu.start()]);
  await stack.minute();
  ofMain = await journeyAccount(inCell(stack, 'main'));
  ofEu = await journeyAccount({ ...inCell(eu, 'eu'), baseUrl: stack.baseUrl });
});
afterAll(async () => {
  await Promise.all([stack?.stop(), eu?.stop()]);
  folder.remove();
  folderOfEu.remove();
});

/** A call of a list through the router, and how long it took. */
async function list({ token }: JourneyAccount) {
  const began = performance.now();
  const reply = await fetch(`${stack.baseUrl}/connections`, { headers: { 'x-api-key': token } });
  const body: unknown = await reply.json();
  return { status: reply.status, headers: reply.headers, body, ms: performance.now() - began };
}

/** Calls lists of both cells side by side, those of main until there are enough for a p99. Returns that, in ms. */
async function busy() {
  const own: number[] = [];
  const others: ReturnType<typeof list>[] = [];
  let waiting = 0;
  while (own.length < 300) {
    if (waiting < 10) {
      waiting++;
      others.push(list(ofEu).finally(() => waiting--));
    }
    const { status, ms } = await list(ofMain);
    expect(status).toBe(200);
    own.push(ms);
  }
  const p99 = own.toSorted((a, b) => a - b)[Math.floor(0.99 * own.length)] ?? 0;
  return { p99, others: await Promise.all(others) };
}

/** Waiting for the other cell would take ten seconds. On a machine that others use, a p99 of less is noise. */
const noiseMs = 200;

it.each([
  [
    'whose database hangs',
    () => fetch(`${eu.baseUrl}/strict/hang/D1/20`, { headers: { 'fleet-cell': 'eu' } }),
  ],
  ['that is killed', async () => eu.kill()],
])('a cell %s slows nobody down in the other, and its own requests get 503', async (what, fail) => {
  await until('both are well', async () => (await fetch(`${stack.baseUrl}/health`)).ok, 30);
  await Promise.all([list(ofMain), list(ofEu)]);
  const before = await busy();
  expect(before.others.filter(({ status }) => status !== 200)).toEqual([]);
  await fail();
  const after = await busy();
  const [p99, then] = [before.p99, after.p99].map((ms) => `${ms.toFixed(1)} ms`);
  console.log(
    `p99 of a list of main: ${p99}; beside a cell ${what}, with ${after.others.length} calls: ${then}`,
  );
  for (const { status, headers, body, ms } of after.others) {
    expect([status, Number(headers.get('retry-after'))]).toEqual([503, 10]);
    expect(body).toMatchObject({ status: 503, message: 'Temporarily unavailable, try again' });
    expect(ms).toBeLessThan(15_000);
  }
  expect(after.p99).toBeLessThan(Math.max(2 * before.p99, noiseMs));
  const health = await fetch(`${stack.baseUrl}/health`);
  expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('"message":"eu: D')]);
});
