import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { trustedMs, untilChecksLapse } from '#src/core/platform/db/reads.ts';
import { Refusal } from '#src/core/platform/errors.ts';
import { newTokenCache } from '#src/extras/replicas/token-cache.ts';
import { virtualTime } from '#test/support/runtime/virtual-time.ts';

const replicated: Env = { ...env, READ_REPLICAS: 'true' } as Env; // wrangler.toml leaves it out
const token = 'a token';

const behind = () => {};

const ms = (max: number) => fc.integer({ min: 0, max });
const rate = fc.double({ min: 0.98, max: 1.02, noNaN: true });
/** Everything that a run depends on, in real milliseconds. A clock goes at its own rate, from its own beginning. */
const stories = fc.record({
  clocks: fc.array(fc.record({ offset: fc.integer({ min: -1e12, max: 1e12 }), rate }), {
    minLength: 1,
    maxLength: 3,
  }),
  /** Where and when each begins, how long each way takes, and how far its replica lags. */
  lists: fc.array(
    fc.record({
      isolate: fc.nat(2),
      at: ms(9000),
      check: fc.tuple(ms(3000), ms(3000)),
      replica: fc.tuple(ms(500), ms(500)),
      lag: fc.oneof(ms(100), ms(100_000)),
    }),
    { maxLength: 40 },
  ),
  revocation: fc.record({ at: ms(6000), out: ms(500), back: ms(500), reply: ms(500), rate }),
});
type Story = typeof stories extends fc.Arbitrary<infer T> ? T : never;
type List = Story['lists'][number];

/** Plays a story. Returns the lists that began after the revocation's reply and were given data. */
async function play(story: Story): Promise<List[]> {
  const time = virtualTime();
  const { revocation } = story;
  let revoked = Number.POSITIVE_INFINITY;
  let replied = Number.POSITIVE_INFINITY;
  const wrong: List[] = [];
  const isolates = story.clocks.map(({ offset, rate }) =>
    newTokenCache(() => Math.floor(offset + rate * time.now())),
  );
  /** A call that sees the database as it was `lag` ago when it arrives. */
  const ask = async ([out, back]: [number, number], lag = 0) => {
    await time.sleep(out);
    const refused = time.now() - lag >= revoked;
    await time.sleep(back);
    if (refused) throw new Refusal({ kind: 'unauthenticated' });
    return 0;
  };
  const read = async (list: List) => {
    await time.sleep(list.at);
    const readWithCache = isolates[list.isolate % isolates.length] ?? newTokenCache();
    const began = time.now();
    const check = () => ask(list.check);
    const replica = () => ask(list.replica, list.lag).catch(check);
    const got = await readWithCache(token, check, replica, behind).then(
      () => true,
      () => false,
    );
    if (got && began >= replied) wrong.push(list);
  };
  const revoke = async () => {
    await time.sleep(revocation.at + revocation.out);
    revoked = time.now();
    await time.sleep(revocation.back);
    await untilChecksLapse(replicated, (ms) => time.sleep(ms / revocation.rate));
    await time.sleep(revocation.reply);
    replied = time.now();
  };
  const all = [...story.lists.map(read), revoke()];
  await time.run();
  await Promise.all(all);
  return wrong;
}

it('a list that begins after the reply to a revocation gets nothing, whatever replicas, clocks and the network do', async () => {
  const nobodyGetsData = fc.asyncProperty(stories, async (story) => {
    expect(await play(story)).toEqual([]);
  });
  await fc.assert(nobodyGetsData, { numRuns: 1000 });
});

/** Reads lists every so often from a primary that is far away. Returns how long each took, and how many checks there were. */
async function steadily(everyMs: number, count: number) {
  const time = virtualTime();
  const readWithCache = newTokenCache(time.now);
  let checks = 0;
  const took: number[] = [];
  const primary = async () => {
    checks++;
    await time.sleep(324);
    return 7;
  };
  const lists = Array.from({ length: count }, async (_, i) => {
    await time.sleep(i * everyMs);
    const began = time.now();
    await readWithCache(token, primary, () => time.sleep(2), behind);
    took.push(time.now() - began);
  });
  await time.run();
  await Promise.all(lists);
  return { took, checks };
}

it('a token in steady use waits for the primary once, and is checked again behind the replies', async () => {
  const { took, checks } = await steadily(400, 100);
  expect(took.map((each) => each > 2).lastIndexOf(true)).toBe(0);
  expect(checks).toBeGreaterThanOrEqual(40_000 / trustedMs);
  expect(checks).toBeLessThanOrEqual(1 + 40_000 / (trustedMs / 2));
});

describe('a cached check', () => {
  let now = 0;
  const failing = (failure: Refusal['failure']) => () => Promise.reject(new Refusal(failure));
  const unavailable = failing({ kind: 'unavailable', retryAfter: 2 });

  /** Reads with a check that ends as `check` does, and returns whether the read waited for one. */
  async function waits(cache: ReturnType<typeof newTokenCache>, check = async () => 0, id = token) {
    const asked = vi.fn(check);
    const renewed: Promise<unknown>[] = [];
    const behind = (work: Promise<unknown>) => void renewed.push(work);
    await cache(id, asked, async () => {}, behind).catch(() => {});
    await Promise.all(renewed);
    return asked.mock.calls.length > renewed.length;
  }

  it.each([
    ['ends when a check is refused', failing({ kind: 'forbidden' }), true],
    ['stays when a check does not get through', unavailable, false],
  ])('%s', async (_, check, expected) => {
    const cache = newTokenCache(() => now);
    now = 0;
    expect(await waits(cache)).toBe(true);
    now = trustedMs / 2;
    expect(await waits(cache, check)).toBe(false);
    expect(await waits(cache)).toBe(expected);
  });

  it('counts from before the check was sent, and no late reply shortens it', async () => {
    const cache = newTokenCache(() => now);
    now = 0;
    const slow = Promise.withResolvers<number>();
    const first = waits(cache, () => slow.promise);
    now = 1500;
    expect(await waits(cache)).toBe(true);
    slow.resolve(0);
    await first;
    now = 3499;
    expect(await waits(cache, unavailable)).toBe(false);
    now = 3500;
    expect(await waits(cache)).toBe(true);
  });

  it('is dropped when there are too many', async () => {
    const cache = newTokenCache(() => 1000, 2);
    for (const id of ['a', 'b', 'c']) await waits(cache, undefined, id);
    const again = ['c', 'a'].map((id) => waits(cache, undefined, id));
    expect(await Promise.all(again)).toEqual([false, true]);
  });
});
