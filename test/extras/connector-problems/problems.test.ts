import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
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
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { as, operator, worldBefore } from '#test/support/world.ts';

const now = Date.UTC(2026, 10, 30, 12);
const nothing: Problems = { rejected: [], warned: [], days: [] };
const found = (changes: Partial<Found> = {}): Found => ({ rejected: [], warned: [], ...changes });
const problem = (message: string, records = 1) => ({ kind: 'trip', message, records, index: 0 });
const call = (requestId: string, at = now) => ({ requestId, now: at });

describe('what is known of a connector', () => {
  it('has each problem once, the newest first, with the last call and all its records', () => {
    const first = withFound(
      nothing,
      found({ rejected: [problem('a', 2), problem('b')] }),
      call('one'),
    );
    const { rejected, days } = withFound(
      first,
      found({ rejected: [problem('b', 3)] }),
      call('two', now + 5),
    );
    expect(rejected).toEqual([
      { ...problem('b', 4), requestId: 'two', at: now + 5 },
      { ...problem('a', 2), requestId: 'one', at: now },
    ]);
    expect(days).toEqual([{ day: '2026-11-30', rejected: 6, warnings: 0 }]);
  });

  it('keeps only the last problems and days, and rejections apart from warnings', () => {
    let known = withFound(nothing, found({ rejected: [problem('kept')] }), call('first'));
    for (let day = 0; day <= problemDaysKept; day++)
      known = withFound(
        known,
        found({ warned: [problem(`w${day}`, 2)] }),
        call('more', now + day * dayMs),
      );
    expect(known.rejected.map(({ message }) => message)).toEqual(['kept']);
    expect(known.warned).toHaveLength(problemsKept);
    expect(known.warned[0]?.message).toBe(`w${problemDaysKept}`);
    expect(known.days).toHaveLength(problemDaysKept);
    expect(known.days.at(-1)).toEqual({ day: '2026-12-01', rejected: 0, warnings: 2 });
  });

  it('is the same about several records once, and nothing long or of an unknown kind', () => {
    const records = [{ kind: 'Safety_Event' }, { kind: 'safetyEvent' }, { kind: 'Ann Smith' }, 7];
    const rejected = records.map((_, index) => ({
      index,
      sourceId: 'Ann',
      message: index < 2 ? 'same' : 'x'.repeat(999),
    }));
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
  expect(rejected).toMatchObject([
    {
      kind: 'safetyEvent',
      message: expect.stringContaining('neither known'),
      records: 2,
      index: 1,
    },
  ]);
  expect(warned).toMatchObject([{ kind: 'vehicle', field: 'year', records: 2, index: 0 }]);
  expect(days).toMatchObject([{ rejected: 2, warnings: 2 }]);
  expect(JSON.stringify(await stored())).not.toMatch(/Ann|1234567/);
});

it('a call without them costs nothing more, and one with them two round trips and a row', async () => {
  await costOf([vehicle()]);
  const plain = await costOf([vehicle()]);
  expect(await stored()).toEqual([]);
  await costOf([vehicle({ year: 'x' })]);
  const warned = await costOf([vehicle({ year: 'x' })]);
  expect(warned.trips - plain.trips).toBe(2);
  expect(warned.written - plain.written).toBe(1);
  const again = await costOf([vehicle({ year: undefined })]);
  expect([again.trips, again.written]).toEqual([plain.trips, plain.written]);
});

it('a dry run keeps nothing', async () => {
  await costOf(wrong(), { dryRun: true });
  expect(await known()).toEqual(nothing);
});

it('calls at the same time are all counted', async () => {
  await Promise.all([1, 2, 3].map(() => costOf(wrong())));
  expect((await known()).days).toMatchObject([{ rejected: 3, warnings: 3 }]);
});

it('they go with their connection', async () => {
  await costOf(wrong());
  const path = `/operator/connections/${us.connection.id}/deletion`;
  await operator.post(path, { name: 'Motive' });
  const next = `/operator/deletions/${us.connection.id}/continue`;
  for (let left: unknown = true; left; )
    left = (await operator.post<{ deletion: unknown }>(next, {})).data.deletion;
  expect(await stored()).toEqual([]);
});
