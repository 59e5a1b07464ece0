import { vinOf } from '#src/core/fleet/lists/vin.ts';
import { accident, vehicle, worldBefore } from '#test/support.ts';

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

it.each([
  ...['', '0', '00000000000000000', 'xxxxXXXX', '- - -', 'unknown', 'Unknown VIN?', 'n.a.', 'NA'],
  ...['none', 'no vin', 'not available', 'TBD', 'trailer', '42', '#REF!', '2.81475E+14'],
])('%j cannot be a VIN', (text) => {
  expect(vinOf(text)).toBe('');
});

describe('over HTTP', () => {
  const us = worldBefore(beforeAll);
  type Item = { sourceId: string; vin: string | null; vehicleId?: string | null };
  const list = async (path: string) => (await us.lists.get<Item[]>(path)).data;

  it('a VIN is kept in upper case, and found in any', async () => {
    const [sent, vin] = [' 1fujgldr5clbp8835', '1FUJGLDR5CLBP8835'];
    await us.send(vehicle({ vin: sent }), accident({ vin: sent }));
    for (const path of ['/vehicles', '/accidents'])
      expect(await list(`${path}?vin=1FUJgldr5clbp8835`)).toMatchObject([{ vin }]);
  });

  it('what cannot be one is none, with a warning, and nothing that two have in common', async () => {
    const records = ['Unknown', '00000000000000000'].flatMap((vin) => [
      ...[vehicle({ sourceId: vin, vin }), accident({ sourceId: vin, vin })],
    ]);
    const { data } = await us.send(...records);
    const warning = { field: 'vin', message: 'cannot be a VIN; its value was dropped' };
    expect(data).toMatchObject({ accepted: 4, warnings: [{ ...warning, records: 4, index: 0 }] });
    const listed = [...(await list('/vehicles')), ...(await list('/accidents'))];
    const unknown = listed.filter(({ sourceId }) => sourceId === 'Unknown');
    expect(unknown).toMatchObject([{ vin: null }, { vin: '', vehicleId: null }]);
    expect(await list('/vehicles?vin=unknown')).toEqual([]);
  });
});
