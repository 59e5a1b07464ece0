import { env } from 'cloudflare:workers';
import {
  type Found,
  ingestProblemsOf,
  maxMessage,
  type Problems,
  problemDaysKept,
  problemsIn,
  problemsKept,
  withFound,
} from '#src/extras/connector-problems/problems.ts';
import { as, metered, rows, safetyEvent, vehicle, worldBefore } from '#test/support.ts';

const now = Date.UTC(2026, 10, 30, 12);
const nothing: Problems = { rejected: [], warned: [], days: [] };
const problem = (message: string, records = 1) => ({ kind: 'trip', message, records, index: 0 });
/** What is known after one more call. */
const withCall = (known: Problems, found: Partial<Found>, requestId: string, at = now) =>
  withFound(known, { ...nothing, ...found }, { requestId, now: at });

describe('what is known of a connector', () => {
  it('has each problem once, the newest first, with the last call and all its records', () => {
    const first = withCall(nothing, { rejected: [problem('a', 2), problem('b')] }, 'one');
    const { rejected, days } = withCall(first, { rejected: [problem('b', 3)] }, 'two', now + 5);
    expect(rejected).toEqual([
      { ...problem('b', 4), requestId: 'two', at: now + 5 },
      { ...problem('a', 2), requestId: 'one', at: now },
    ]);
    expect(days).toEqual([{ day: '2026-11-30', rejected: 6, warnings: 0 }]);
  });

  it('keeps only the last problems and days, and rejections apart from warnings', () => {
    let known = withCall(nothing, { rejected: [problem('kept')] }, 'first');
    for (let day = 0; day <= problemDaysKept; day++)
      known = withCall(known, { warned: [problem(`w${day}`, 2)] }, 'more', now + day * 86_400_000);
    expect(known.rejected).toHaveLength(1);
    expect(known.warned).toHaveLength(problemsKept);
    expect(known.warned[0]?.message).toBe(`w${problemDaysKept}`);
    expect(known.days).toHaveLength(problemDaysKept);
    expect(known.days.at(-1)).toEqual({ day: '2026-12-01', rejected: 0, warnings: 2 });
  });

  it('is the same about several records once, and nothing long or of an unknown kind', () => {
    const records = [{ kind: 'Safety_Event' }, { kind: 'safetyEvent' }, { kind: 'Ann Smith' }, 7];
    const rejected = records.map((_, index) => {
      const message = index < 2 ? 'same' : 'x'.repeat(999);
      return { index, sourceId: 'Ann', message };
    });
    expect(problemsIn(records, rejected).rejected).toEqual([
      { kind: 'safetyEvent', message: 'same', records: 2, index: 0 },
      { kind: null, message: 'x'.repeat(maxMessage), records: 2, index: 2 },
    ]);
  });
});

const us = worldBefore(beforeEach);
const stored = () =>
  rows('select * from ingest_problems where connection_id = ?1', us.connection.id);
const known = () =>
  ingestProblemsOf(env, { accountId: us.accountId, operator: true }, us.connection.id);
const secret = 'Ann Smith, +49 170 1234567';
const wrong = () => [vehicle({ year: secret }), safetyEvent({ sourceId: secret, vehicle: secret })];

/** Sends records, with what is done behind the response. Returns its cost. */
async function costOf(records: unknown[], more: object = {}) {
  const { env: bindings, cost } = metered();
  await as(us.connection.ingestKey, {}, bindings).post('/ingest', { records, ...more });
  return cost;
}

it('rejections and warnings of calls are kept, without values of records', async () => {
  await costOf(wrong());
  await costOf(wrong());
  const { rejected, warned, days } = await known();
  const message = expect.stringContaining('neither known');
  expect(rejected).toMatchObject([{ kind: 'safetyEvent', message, records: 2, index: 1 }]);
  expect(warned).toMatchObject([{ kind: 'vehicle', field: 'year', records: 2, index: 0 }]);
  expect(days).toMatchObject([{ rejected: 2, warnings: 2 }]);
  expect(JSON.stringify(await stored())).not.toMatch(/Ann|1234567/);
});

it('a call without them costs nothing more, and one with them two round trips and a row', async () => {
  const costAgain = async (changes: object) => {
    await costOf([vehicle(changes)]);
    const { trips, written } = await costOf([vehicle(changes)]);
    return { trips, written };
  };
  const { trips, written } = await costAgain({});
  expect(await stored()).toEqual([]);
  const more = { trips: trips + 2, written: written + 1 };
  expect(await costAgain({ year: 'x' })).toEqual(more);
  expect(await costAgain({})).toEqual({ trips, written });
});

it('a dry run keeps nothing', async () => {
  await costOf(wrong(), { dryRun: true });
  expect(await known()).toEqual(nothing);
});

it('calls at the same time are all counted', async () => {
  await Promise.all([1, 2, 3].map(() => costOf(wrong())));
  expect((await known()).days).toMatchObject([{ rejected: 3, warnings: 3 }]);
});
