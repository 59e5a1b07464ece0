import { vinOf } from '../../../src/fleet/lists/vin.ts';
import { accident, vehicle } from '../../support/records.ts';
import { worldBefore } from '../../support/world.ts';

it.each([
  ['1FUJGLDR5CLBP8834', '1FUJGLDR5CLBP8834'],
  [' 1fujgldr5clbp8834 ', '1FUJGLDR5CLBP8834'],
  ['trailer-7', 'TRAILER-7'],
  ['ŉa', 'ŉA'],
  ['00000000000000001', '00000000000000001'],
])('%j is the VIN %j', (text, vin) => {
  expect(vinOf(text)).toBe(vin);
});

it.each(
  ['', ' ', '-', '0', '?', '00000000000000000', 'xxxxXXXX', '- - -', 'unknown', 'Unknown VIN?', 'N/A'].concat(
    ['n.a.', 'NA', 'none', 'NULL', 'no vin', 'not available', 'undefined', 'TBD'],
  ),
)('%j is a placeholder, and no VIN', (text) => {
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

  it('a placeholder is none, with a warning', async () => {
    const { data } = await us.send(
      vehicle({ sourceId: 'trailer', vin: 'Unknown' }),
      accident({ sourceId: 'of a trailer', vin: '00000000000000000' }),
    );
    const warning = { field: 'vin', message: 'is a placeholder, and no VIN' };
    expect(data).toMatchObject({ accepted: 2, warnings: [{ ...warning, records: 2, index: 0 }] });
    expect(await vins('/vehicles')).toContain(null);
    expect(await vins('/accidents')).toContain('');
    for (const list of ['/vehicles', '/accidents']) expect(await vins(`${list}?vin=unknown`)).toEqual([]);
  });
});
