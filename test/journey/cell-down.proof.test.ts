// @module-tag proof
// More than 15 s: a cell is killed and hangs, again and again.
import { join } from 'node:path';
import { unlimited } from '#src/cli/local/configurations.ts';
import type { Stack } from '#src/cli/local/stack.ts';
import {
  inCell,
  type JourneyAccount,
  journeyAccount,
  stackFolder,
  until,
} from '#test/support/node/index.ts';

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

async function list({ token }: { token: string }) {
  const began = performance.now();
  const reply = await fetch(`${stack.baseUrl}/connections`, { headers: { 'x-api-key': token } });
  const { message } = await reply.json();
  return {
    status: reply.status,
    headers: reply.headers,
    message,
    ms: performance.now() - began,
  };
}

/** Has D1 of eu hang for so many seconds, which outlast all calls of a round. */
const hang = (seconds: number) =>
  fetch(`${eu.baseUrl}/strict/hang/D1/${seconds}`, { headers: { 'fleet-cell': 'eu' } });

type Times = { own: number[]; control: number[] };

/** Calls lists of both cells side by side, and adds how long those of main took. Returns the replies of eu. */
async function busy({ own, control }: Times) {
  const others: ReturnType<typeof list>[] = [];
  let waiting = 0;
  for (let calls = 0; calls < callsPerRound; calls++) {
    if (waiting < 10) {
      waiting++;
      others.push(list(ofEu).finally(() => waiting--));
    }
    const { status, ms } = await list(ofMain);
    expect(status).toBe(200);
    own.push(ms);
    control.push((await list({ token: 'junk' })).ms);
  }
  return Promise.all(others);
}

/** `npm run proof -- --full` runs it at full size. */
const full = process.env.FULL_PROOF === '1';
const callsPerRound = full ? 300 : 150;
const rounds = full ? 4 : 2;
const p99 = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(0.99 * times.length)] ?? 0;

it.each([
  ['whose database hangs', () => hang(60), () => hang(0)],
  [
    'that is killed',
    () => eu.kill(),
    async () => {
      eu = await folderOfEu.start();
    },
  ],
])(
  'a cell %s slows nobody down in the other, and its own requests get 503',
  async (what, fail, mend) => {
    const [before, after] = [0, 1].map((): Times => ({ own: [], control: [] })) as [Times, Times];
    for (let round = 0; round < rounds; round++) {
      const areWell = async () => {
        const replies = await Promise.all([ofMain, ...Array(10).fill(ofEu)].map(list));
        const { ok } = await fetch(`${stack.baseUrl}/health`);
        return ok && replies.every(({ status }) => status === 200);
      };
      await until('both are well', areWell, 30);
      expect((await busy(before)).filter(({ status }) => status !== 200)).toEqual([]);
      await fail();
      const health = fetch(`${stack.baseUrl}/health`);
      for (const { status, headers, message, ms } of await busy(after)) {
        expect([status, headers.get('retry-after')]).toEqual([503, '10']);
        expect(message).toBe('Temporarily unavailable, try again');
        expect(ms).toBeLessThan(15_000);
      }
      const { status, message } = await (await health).json();
      expect([status, message]).toEqual([503, expect.stringMatching(/^eu: D/)]);
      await mend();
    }
    const [beside, usual] = [p99(after.own), p99(before.own)];
    // The router refuses junk without a cell: what became slower of that is the machine, which others use as well.
    const slower = Math.max(1, p99(after.control) / p99(before.control));
    console.log(
      `p99 of main: ${usual.toFixed(1)} ms; beside a cell ${what}: ${beside.toFixed(1)} ms (${slower.toFixed(2)})`,
    );
    expect(beside).toBeLessThan(2 * usual * slower);
  },
);
