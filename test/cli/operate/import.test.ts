import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateFleet } from '#src/cli/demo/synthetic-fleet.ts';
import { insist, request } from '#src/cli/operate/client.ts';
import type { Line } from '#src/cli/operate/import/csv.ts';
import { type Encoding, readRecords } from '#src/cli/operate/import/read.ts';
import { callsOf, sendAll } from '#src/cli/operate/import.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { fakeService } from '#test/support/node/fake-service.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import { fleet } from '#test/support/node/journey.ts';

const service = await fakeService(({ url }) => ({
  data:
    url.pathname === '/ingest'
      ? { accepted: 1, unchanged: 0, rejected: [] }
      : { id: 'k', value: 'v' },
}));

const folder = temporaryFolder();
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const read = async (path: string, kind?: string, encoding?: Encoding) => {
  const lines: Line[] = [];
  for await (const line of readRecords(path, kind, encoding)) lines.push(line);
  return lines.map(({ bytesRead: _, ...line }) => line);
};
const records = async (path: string, kind?: string) =>
  (await read(path, kind)).map(({ record }) => record as { [name: string]: unknown });

/** A list as a cell: objects as JSON, anything else between bars. */
const listed = (items: unknown[]) =>
  typeof items[0] === 'object' ? JSON.stringify(items) : items.join('|');

describe('a file of records', () => {
  it('in NDJSON is read line by line, also where a line is broken', async () => {
    const path = file('a.ndjson', '{"kind":"driver","sourceId":"1"}\r\n\n{oops\n{"sourceId":"2"}');
    expect(await read(path, 'driver')).toEqual([
      { line: 1, record: { kind: 'driver', sourceId: '1' } },
      { line: 3, problem: 'line is not JSON at character 2' },
      { line: 4, record: { kind: 'driver', sourceId: '2' } },
    ]);
  });

  it('in CSV gets its fields in their types, and what has another type as text', async () => {
    const path = file(
      'a.csv',
      '\ufeffkind,sourceId,name,groups,year,lastLocation.latitude,status,reportReady\n' +
        'vehicle,007,"A, B",x|y,2020,1.5,active,\n' +
        'driver,2,C,,,,1,\n' +
        'vehicle,3,D,,soon,,,\n' +
        'accident,5,,,,,,maybe\n',
    );
    const van = { kind: 'vehicle', sourceId: '007', name: 'A, B', groups: ['x', 'y'], year: 2020 };
    expect(await records(path)).toEqual([
      { ...van, lastLocation: { latitude: 1.5 }, status: 'active' },
      { kind: 'driver', sourceId: '2', name: 'C', status: 1 },
      { kind: 'vehicle', sourceId: '3', name: 'D', year: 'soon' },
      { kind: 'accident', sourceId: '5', reportReady: 'maybe' },
    ]);
  });

  it.each([
    [';', 'with commas in numbers', '1,5'],
    ['\t', 'as spreadsheets copy them', '1.5'],
    [',', 'which Excel names in a line of its own', '1.5'],
  ])('in CSV may have cells separated by %j, %s', async (separator, _, odometer) => {
    const cells = ['odometerKm', 'groups', 'name', 'sourceId', ''];
    const row = [odometer, 'North|South|', 'Müller, J', '7', ''].map((cell) => `"${cell}"`);
    const path = file(
      's.csv',
      `sep=${separator}\n${[cells, row].map((one) => one.join(separator)).join('\r\n')}`,
    );
    const record = {
      sourceId: '7',
      name: 'Müller, J',
      groups: ['North', 'South'],
      odometerKm: 1.5,
    };
    expect(await read(path, 'vehicle')).toEqual([
      { line: 3, record: { kind: 'vehicle', ...record } },
    ]);
  });

  it('names its kinds in any spelling', async () => {
    const ndjson = file(
      'k.ndjson',
      '{"kind":"Vehicle","sourceId":"1"}\n{"sourceId":"2"}\n{"kind":"van"}',
    );
    expect(await records(ndjson)).toMatchObject([
      { kind: 'vehicle' },
      { sourceId: '2' },
      { kind: 'van' },
    ]);
    const csv = file('k.csv', 'kind,sourceId,maxSpeedKph\nSafety_Event,1,5\n,2,6\nvan,3,7');
    expect(await read(csv, 'ACCIDENT')).toMatchObject([
      { record: { kind: 'safetyEvent', maxSpeedKph: 5 } },
      { record: { kind: 'accident', maxSpeedKph: 6 } },
      { record: { kind: 'van', maxSpeedKph: '7' } },
    ]);
  });

  it.each([
    [',', [1.5, '1,500', 1000, '=1']],
    [';', [1.5, 1.5, 1000, '=1']],
  ])(
    'in CSV leaves to the service what can be thousands: cells separated by %j',
    async (separator, kept) => {
      const rows = ['1,5', '1,500', '1e3', '=1'].map(
        (number, row) => `${row}${separator}"${number}"`,
      );
      const csv = [`sourceId${separator}odometerKm`, ...rows].join('\n');
      expect(await records(file('n.csv', csv), 'vehicle')).toMatchObject(
        kept.map((odometerKm) => ({ odometerKm })),
      );
    },
  );

  it('in CSV may write yes and no in any way', async () => {
    const cells = ['TRUE', '1', 'yes', 'False', '0', 'No', 'maybe'];
    const csv = `kind,dismissed\n${cells.map((cell) => `accident,${cell}`).join('\n')}`;
    const read = await records(file('b.csv', csv));
    expect(read.map(({ dismissed }) => dismissed)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      'maybe',
    ]);
  });

  it('in CSV loses only lines that cannot be read, and says which cell is wrong', async () => {
    const csv = [
      'sourceId,name',
      '1,a 14" trailer',
      '2,"open',
      '3,"two\nlines"',
      '4,"closed"x',
      '5,B,more',
      '6,C,,',
      '7',
    ].join('\n');
    const van = { kind: 'vehicle' };
    expect(await read(file('q.csv', csv), 'vehicle')).toMatchObject([
      { line: 2, record: { ...van, sourceId: '1', name: 'a 14" trailer' } },
      { line: 3, problem: 'cell 2 has a quote that is not closed' },
      { line: 4, record: { ...van, sourceId: '3', name: 'two\nlines' } },
      { line: 6, problem: 'cell 2 has a quote in the wrong place' },
      { line: 7, problem: 'cell 3 is in no column: the first line names 2' },
      { line: 8, record: { ...van, sourceId: '6', name: 'C' } },
      { line: 9, record: { ...van, sourceId: '7' } },
    ]);
  });

  it.each([
    ['licencePlate', /column 2: licencePlate is not a field here, did you mean licensePlate\?/],
    ['zzz', /column 2: zzz is not a field here; known are kind, /],
    ['', /column 2: has no name/],
    ['sourceId', /column 2: sourceId is there twice/],
  ])('in CSV is refused as a whole with a column %j', async (name, reason) => {
    await expect(read(file('h.csv', `sourceId,${name},name\n1,2,3`), 'vehicle')).rejects.toThrow(
      reason,
    );
    await expect(read(file('k.csv', 'sourceId\n1'), 'vehicles')).rejects.toThrow(
      '--kind vehicles must be one of',
    );
  });

  it('in another encoding than UTF-8 is read as that, or says what to add', async () => {
    const german = (text: string) => Buffer.from(text, 'latin1');
    const path = file('w.csv', german('sourceId,name\n1,Jürgen\n2,Ann'));
    expect(await read(path, 'driver')).toEqual([
      {
        line: 2,
        problem: expect.stringMatching(/^character 4 is not UTF-8: .* --encoding windows-1252$/),
      },
      { line: 3, record: { kind: 'driver', sourceId: '2', name: 'Ann' } },
    ]);
    await expect(read(file('y.csv', german('sourceId,Gerät\n1,Ann')))).rejects.toThrow(
      /^line 1: character 13 is not UTF-8: .*windows-1252\. Nothing was sent$/,
    );
    const jürgen = { line: 2, record: { kind: 'driver', sourceId: '1', name: 'Jürgen' } };
    expect((await read(path, 'driver', 'windows-1252'))[0]).toEqual(jürgen);
    const wide = file('x.csv', Buffer.from('\ufeffsourceId\tname\n1\tJürgen', 'utf16le'));
    expect(await read(wide, 'driver', 'utf-16le')).toEqual([jürgen]);
  });

  it.each(recordKinds.map(({ kind, recordExample }) => [kind, recordExample] as const))(
    'of kind %s is read from CSV as it is written there',
    async (kind, example) => {
      const cells = Object.entries(example).flatMap(([name, value]): [string, string][] =>
        typeof value === 'object' && !Array.isArray(value)
          ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, String(part)])
          : [[name, Array.isArray(value) ? listed(value) : String(value)]],
      );
      const quoted = (cell = '') => `"${cell.replaceAll('"', '""')}"`;
      const csv = [0, 1].map((at) => cells.map((pair) => quoted(pair[at])).join(',')).join('\n');
      expect(await read(file(`${kind}.csv`, csv), kind)).toEqual([{ line: 2, record: example }]);
    },
  );
});

async function* lines(records: object[]): AsyncGenerator<Line> {
  for (const [at, record] of records.entries()) yield { line: at + 1, record, bytesRead: at };
}
const callsWith = (records: object[]) => callsOf(lines(records), () => {});

it('an import sends calls of 500, few at a time, and vehicles before the rest', async () => {
  const kinds = [
    ...Array(600).fill('driver'),
    ...Array(600).fill('vehicle'),
    ...Array(4000).fill('trip'),
  ];
  const calls: string[] = [];
  let underWay = 0;
  let most = 0;
  let vehiclesUnderWay = false;
  await sendAll(callsWith(kinds.map((kind) => ({ kind }))), async (call) => {
    expect(vehiclesUnderWay).toBe(false);
    vehiclesUnderWay = call.some(({ record }) => (record as { kind: string }).kind === 'vehicle');
    calls.push(`${call.length}`);
    most = Math.max(most, ++underWay);
    await new Promise((on) => setTimeout(on, 5));
    underWay--;
    vehiclesUnderWay = false;
  });
  expect(calls).toEqual([...Array(10).fill('500'), '200']);
  expect(most).toBe(4);
});

it('an import never makes a call of more than 1 MiB, and ends with the error of one', async () => {
  const calls = await Array.fromAsync(callsWith(Array(20).fill({ text: 'é'.repeat(100_000) })));
  for (const call of calls)
    expect(Buffer.byteLength(JSON.stringify(call.map(({ record }) => record)))).toBeLessThan(
      2 ** 20,
    );
  const send = () => Promise.reject(new Error('no'));
  await expect(sendAll(callsWith(Array(2000).fill({})), send)).rejects.toThrow('no');
});

it('an import waits as long as a busy service says, and tries again', async () => {
  const times: number[] = [];
  const answer = (status: number) => async () => {
    times.push(Date.now());
    return Response.json({ data: 'taken' }, { status, headers: { 'retry-after': '1' } });
  };
  const fetching = vi.spyOn(globalThis, 'fetch');
  for (const status of [429, 503, 200, 500]) fetching.mockImplementationOnce(answer(status));
  const send = () => insist(8, () => request('http://service', {}));
  expect(await send()).toBe('taken');
  const [first = 0, , third = 0] = times;
  expect(third - first).toBeGreaterThanOrEqual(1980);
  await expect(send()).rejects.toThrow('500 ');
  fetching.mockRestore();
});

it('a generated fleet is the same for the same options, and another for another seed', () => {
  const generated = (seed: number) => [
    ...generateFleet({ vehicles: 5, days: 7, start: '2026-10-01', seed }),
  ];
  expect(generated(1)).toEqual(generated(1));
  expect(generated(2)).not.toEqual(generated(1));
});

describe('fleet import', () => {
  it('says of a dry run that nothing was stored', async () => {
    const path = file('dry.ndjson', '{"kind":"driver","sourceId":"1","name":"Ann"}\n');
    const args = ['import', path, '--connection', 'c'];
    const dry = await fleet(service, ...args, '--dry-run');
    expect(dry.out).toMatch(/^dry run +nothing was stored, and nobody was notified\naccepted +1$/m);
    expect((await fleet(service, ...args)).out).not.toContain('dry run');
  });
});
