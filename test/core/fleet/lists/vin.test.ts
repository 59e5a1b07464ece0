import { vinOf } from '#src/core/fleet/lists/vin.ts';
import { accident, vehicle } from '#test/support/records.ts';
import { worldBefore } from '#test/support/world.ts';

it.each([
  ['1FUJGLDR5CLBP8834', '1FUJGLDR5CLBP8834'],
  [' 1fujgldr5clbp8834 ', '1FUJGLDR5CLBP8834'],
  ['trailer-7', 'TRAILER-7'],
  ['ŉa7b', 'ŉA7B'],
  ['\u200e1FUJGLDR5\u200bCLBP8834\ufeff', '1FUJGLDR5CLBP8834'],
  ['00000000000000001', '00000000000000001'],
])('%j is the VIN %j', (text, vin) => {
  expect(vinOf(text)).toBe(vin);
});

it.each(
  [
    '',
    ' ',
    '-',
    '0',
    '?',
    '00000000000000000',
    'xxxxXXXX',
    '- - -',
    'unknown',
    'Unknown VIN?',
    'N/A',
  ].concat(
    ['n.a.', 'NA', 'none', 'NULL', 'no vin', 'not available', 'undefined', 'TBD'],
    [
      'NaN',
      '(null)',
      '#N/A',
      '#REF!',
      '#DIV/0!',
      '[object Object]',
      'trailer',
      '2.81475E+14',
      '\u200b',
      '42',
    ],
  ),
)('%j cannot be a VIN', (text) => {
  expect(vinOf(text)).toBe('');
});

describe('over HTTP', () => {
  const us = worldBefore(beforeAll);
  const vins = async (path: string) =>
    (await us.lists.get<{ vin: string | null }[]>(path)).data.map(({ vin }) => vin);

  it('a VIN is kept in upper case, and found in any', async () => {
    const [sent, vin] = [' 1fujgldr5clbp8835', '1FUJGLDR5CLBP8835'];
    await us.send(vehicle({ vin: sent }), accident({ vin: sent }));
    for (const text of [vin, sent.trim(), '1FUJgldr5clbp8835'])
      for (const list of ['/vehicles', '/accidents'])
        expect(await vins(`${list}?vin=${text}`)).toEqual([vin]);
  });

  it('what cannot be one is none, with a warning', async () => {
    const { data } = await us.send(
      vehicle({ sourceId: 'trailer', vin: 'Unknown' }),
      accident({ sourceId: 'of a trailer', vin: '00000000000000000' }),
    );
    const warning = { field: 'vin', message: 'cannot be a VIN; its value was dropped' };
    expect(data).toMatchObject({ accepted: 2, warnings: [{ ...warning, records: 2, index: 0 }] });
    expect(await vins('/vehicles')).toContain(null);
    expect(await vins('/accidents')).toContain('');
    for (const list of ['/vehicles', '/accidents'])
      expect(await vins(`${list}?vin=unknown`)).toEqual([]);
  });

  it('an accident has no vehicle that has what cannot be a VIN in common with it', async () => {
    await us.send(
      vehicle({ sourceId: 'forklift', vin: 'NaN' }),
      accident({ sourceId: 'of another', vin: 'NaN' }),
    );
    const { data } =
      await us.lists.get<{ sourceId: string; vehicleId: string | null }[]>('/accidents');
    expect(data.find(({ sourceId }) => sourceId === 'of another')).toMatchObject({
      vehicleId: null,
    });
  });
});
