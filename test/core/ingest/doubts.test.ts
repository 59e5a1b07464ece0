import { farMs } from '#src/core/ingest/warnings.ts';
import { settled } from '#test/support/deliveries.ts';
import { accident, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { story } from '#test/support/story.ts';

const { us, register } = story();
const send = async (records: object[], notify = true) => {
  const body = { records: [vehicle(), ...records], notify };
  const { data } = await us.connector.post<{
    rejected: object[];
    warnings?: { field: string; message: string }[];
  }>('/ingest', body);
  expect(data.rejected).toEqual([]);
  return (data.warnings ?? []).map(({ field, message }) => `${field} ${message}`);
};
const early = 'is before the year 2000: check the clock and the unit';
const far = 'is years before the newest time of the call: check the clock of the device';
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const rolledOver = ago(7168 * 86_400_000);

describe('a call is warned of times that a wrong clock or unit gives', () => {
  it.each<[string, object[], string[]]>([
    ['none', [safetyEvent(), trip(), accident()], []],
    [
      'seconds for milliseconds',
      [accident({ eventTime: '1970-01-21T10:35:00Z' })],
      [`eventTime ${early}`],
    ],
    [
      'a clock that was never set',
      [safetyEvent({ startedAt: '1999-12-31T23:59:59Z' })],
      [`startedAt ${early}`],
    ],
    ['a detail', [accident({ detectedAt: '1970-01-01T00:00:00Z' })], [`detectedAt ${early}`]],
    ['a clock that rolled over', [accident({ eventTime: rolledOver })], [`eventTime ${far}`]],
    [
      'a clock that is years behind',
      [trip({ startedAt: ago(farMs + 60_000) })],
      [`startedAt ${far}`],
    ],
    ['an accident of last year', [accident({ eventTime: ago(farMs / 2) })], []],
  ])('%s', async (_, records, warnings) => {
    expect(await send(records)).toEqual(warnings);
  });

  it('that loads history, if they are far from those of the other records', async () => {
    const old = ago(5 * farMs);
    expect(await send([trip({ startedAt: old }), safetyEvent({ startedAt: old })], false)).toEqual(
      [],
    );
    expect(await send([trip({ startedAt: old }), safetyEvent()], false)).toEqual([
      `startedAt ${far}`,
    ]);
  });
});

it('an accident of a device whose clock rolled over is sent all the same', async () => {
  const { id } = await register();
  await send([accident({ eventTime: rolledOver })]);
  expect(await settled(id)).toMatchObject([{ status: 'delivered' }]);
});
