import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateFleet } from '#src/cli/demo/synthetic-fleet.ts';
import { insist, request } from '#src/cli/operate/client.ts';
import type { Line } from '#src/cli/operate/import/csv.ts';
import { type Encoding, readRecords } from '#src/cli/operate/import/read.ts';
import { callsOf, sendAll } from '#src/cli/operate/import.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { fakeService, temporaryFolder, times, until } from '#test/support/node/index.ts';

let revoking = 200;
let ingesting = 200;
const { fleet, start } = await fakeService(({ method, url }) => ({
  status: method === 'DELETE' ? revoking : url.pathname === '/ingest' ? ingesting : 200,
  headers: { 'retry-after': '3600' },
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
/** The records of a file, and of lines that cannot be read the number and the problem. */
const read = async (path: string, kind?: string, encoding?: Encoding) => {
  const lines = await Array.fromAsync(readRecords(path, kind, encoding));
  return lines.map(({ line, problem, record }) => (problem ? `${line}: ${problem}` : record));
};

it.each<[what: string, name: string, content: string, kind: string | undefined, read: unknown[]]>([
  [
    'NDJSON is read line by line, also where a line is broken',
    'a.ndjson',
    '\ufeff{"kind":"Driver","sourceId":"1"}\r\n\n{oops\n{"sourceId":"2"}\n{"kind":"van"}',
    'driver',
    [
      { kind: 'driver', sourceId: '1' },
      '3: line is not JSON at character 2',
      { kind: 'driver', sourceId: '2' },
      { kind: 'van' },
    ],
  ],
  [
    'a kind is named in any spelling, and by default',
    'k.csv',
    'kind,sourceId,maxSpeedKph\nSafety_Event,1,5\n,2,6\nvan,3,7',
    'ACCIDENT',
    [
      { kind: 'safetyEvent', sourceId: '1', maxSpeedKph: 5 },
      { kind: 'accident', sourceId: '2', maxSpeedKph: 6 },
      { kind: 'van', sourceId: '3', maxSpeedKph: '7' },
    ],
  ],
  [
    'CSV has fields of their types, and what has another type as text',
    'a.csv',
    '\ufeffkind,sourceId,name,groups,year,lastLocation.latitude,status\n' +
      'vehicle,007,"A, B",x|y,2020,1.5,active\ndriver,2,C,,,,1\nvehicle,3,D,,soon,,\n',
    undefined,
    [
      {
        kind: 'vehicle',
        sourceId: '007',
        name: 'A, B',
        groups: ['x', 'y'],
        year: 2020,
        lastLocation: { latitude: 1.5 },
        status: 'active',
      },
      { kind: 'driver', sourceId: '2', name: 'C', status: 1 },
      { kind: 'vehicle', sourceId: '3', name: 'D', year: 'soon' },
    ],
  ],
  [
    'CSV has yes and no in any spelling',
    'b.csv',
    ['dismissed', 'TRUE', '1', 'yes', 'False', '0', 'No', 'maybe'].join('\n'),
    'accident',
    [true, true, true, false, false, false, 'maybe'].map((dismissed) => ({
      kind: 'accident',
      dismissed,
    })),
  ],
  [
    'of CSV only lines are lost that cannot be read, and it says which cell is wrong',
    'q.csv',
    'sourceId\n14" trailer\n"open\n"two\nlines"\n"closed"x\n5,more\n6,,\n7',
    'vehicle',
    [
      { kind: 'vehicle', sourceId: '14" trailer' },
      '3: cell 1 has a quote that is not closed',
      { kind: 'vehicle', sourceId: 'two\nlines' },
      '6: cell 1 has a quote in the wrong place',
      '7: cell 2 is in no column: the first line names 1',
      { kind: 'vehicle', sourceId: '6' },
      { kind: 'vehicle', sourceId: '7' },
    ],
  ],
])('%s', async (_, name, content, kind, records) => {
  expect(await read(file(name, content), kind)).toEqual(records);
});

it.each([
  [';', '1,5', 1.5],
  ['\t', '1.5', 1.5],
  [',', '1,5', 1.5],
  // What can be thousands is for the service to refuse.
  [',', '1,500', '1,500'],
  [';', '1,500', 1.5],
  [',', '1e3', 1000],
  [',', '=1', '=1'],
])('CSV with cells separated by %j has the number %s', async (separator, odometer, odometerKm) => {
  const rows = [
    ['odometerKm', 'groups', 'name', ''],
    [odometer, 'North|South|', 'Müller, J', ''].map((cell) => `"${cell}"`),
  ];
  const path = file(
    's.csv',
    `sep=${separator}\n${rows.map((row) => row.join(separator)).join('\r\n')}`,
  );
  const record = { kind: 'vehicle', name: 'Müller, J', groups: ['North', 'South'], odometerKm };
  expect(await read(path, 'vehicle')).toEqual([record]);
});

it.each([
  ['licencePlate', /column 2: licencePlate is not a field here, did you mean licensePlate\?/],
  ['zzz', /column 2: zzz is not a field here; known are kind, /],
  ['', /column 2: has no name/],
  ['sourceId', /column 2: sourceId is there twice/],
])('CSV is refused as a whole with a column %j', async (name, reason) => {
  const path = file('h.csv', `sourceId,${name},name\n1,2,3`);
  await expect(read(path, 'vehicle')).rejects.toThrow(reason);
  await expect(read(path, 'vehicles')).rejects.toThrow('--kind vehicles must be one of');
});

it('a file in another encoding than UTF-8 is read as that, or it says what to add', async () => {
  const german = (text: string) => Buffer.from(text, 'latin1');
  const path = file('w.csv', german('sourceId,name\n1,Jürgen\n2,Ann'));
  expect(await read(path, 'driver')).toEqual([
    expect.stringMatching(/^2: character 4 is not UTF-8: .* --encoding windows-1252$/),
    { kind: 'driver', sourceId: '2', name: 'Ann' },
  ]);
  await expect(read(file('y.csv', german('sourceId,Gerät\n1,Ann')))).rejects.toThrow(
    /^line 1: character 13 is not UTF-8: .*windows-1252\. Nothing was sent$/,
  );
  const jürgen = { kind: 'driver', sourceId: '1', name: 'Jürgen' };
  expect((await read(path, 'driver', 'windows-1252'))[0]).toEqual(jürgen);
  const wide = file('x.csv', Buffer.from('\ufeffsourceId\tname\n1\tJürgen', 'utf16le'));
  expect(await read(wide, 'driver', 'utf-16le')).toEqual([jürgen]);
});

/** A value as a cell: lists of objects as JSON, of anything else between bars. */
const cellOf = (value: unknown) =>
  !Array.isArray(value)
    ? value
    : typeof value[0] === 'object'
      ? JSON.stringify(value)
      : value.join('|');

it.each(recordKinds.map(({ kind, recordExample }) => [kind, recordExample] as const))(
  'the example of a %s is read from CSV as it is written there',
  async (kind, example) => {
    const cells = Object.entries(example).flatMap(([name, value]) =>
      typeof value === 'object' && !Array.isArray(value)
        ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, part])
        : [[name, cellOf(value)]],
    );
    const quoted = (cell: unknown) => `"${String(cell).replaceAll('"', '""')}"`;
    const csv = [0, 1].map((at) => cells.map((pair) => quoted(pair[at])).join(',')).join('\n');
    expect(await read(file(`${kind}.csv`, csv), kind)).toEqual([example]);
  },
);

async function* lines(records: object[]): AsyncGenerator<Line> {
  for (const [at, record] of records.entries()) yield { line: at + 1, record, bytesRead: at };
}
const callsWith = (records: object[]) => callsOf(lines(records), () => {});

it('an import sends calls of 500, few at a time, and vehicles before the rest', async () => {
  const kinds = { driver: 600, vehicle: 600, trip: 4000 };
  const records = Object.entries(kinds).flatMap(([kind, count]) =>
    times(count, (sourceId) => ({ kind, sourceId })),
  );
  const calls: number[] = [];
  let underWay = 0;
  let most = 0;
  let vehiclesUnderWay = false;
  await sendAll(callsWith(records), async (call) => {
    expect(vehiclesUnderWay).toBe(false);
    vehiclesUnderWay = call.some(({ record }) => (record as { kind: string }).kind === 'vehicle');
    calls.push(call.length);
    most = Math.max(most, ++underWay);
    await new Promise((on) => setTimeout(on, 5));
    underWay--;
    vehiclesUnderWay = false;
  });
  expect(calls).toEqual([...Array(10).fill(500), 200]);
  expect(most).toBe(4);
});

it('an import sends a call that has an id of another after that', async () => {
  const records = times(1500, (i) => ({ kind: 'driver', sourceId: i }));
  records[600] = { kind: 'driver', sourceId: 7 };
  const order: string[] = [];
  let sent = 0;
  await sendAll(callsWith(records), async () => {
    const call = ++sent;
    order.push(`begins ${call}`);
    await new Promise((on) => setTimeout(on, call === 1 ? 20 : 5));
    order.push(`ends ${call}`);
  });
  expect(order.slice(0, 4)).toEqual(['begins 1', 'ends 1', 'begins 2', 'begins 3']);
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

it.each(['soon', '2026-13-01', '10/2026'])('fleet generate begins on no day %s', async (day) => {
  const { code, out, err } = await fleet('generate --start', day);
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('must be a date')]);
});

it('a generated fleet is the same for the same options, and another for another seed', () => {
  const generated = (seed: number) => [
    ...generateFleet({ vehicles: 5, days: 7, start: '2026-10-01', seed }),
  ];
  expect(generated(1)).toEqual(generated(1));
  expect(generated(2)).not.toEqual(generated(1));
});

it('fleet import says what it has done although its ingest key cannot be revoked', async () => {
  revoking = 503;
  const command = `import ${file('key.ndjson', '{"kind":"driver"}\n')} --connection c`;
  const { out, err, code } = await fleet(command);
  revoking = 200;
  expect([out, code]).toEqual([expect.stringMatching(/^accepted +1$/m), 0]);
  expect(err).toBe(
    'fleet: 503 Try again. The ingest key of this import still works for a day. Revoke it: fleet token revoke k\n',
  );
});

it('fleet import says why it waits for long, such as for the end of a quota', async () => {
  ingesting = 429;
  const path = file('busy.ndjson', '{"kind":"driver"}\n');
  const waiting = start(`import ${path} --connection c`);
  const said = 'fleet: 429 Try again. The next try is in 3600 s\n';
  await until('it says why it waits', () => waiting.err.includes(said));
  waiting.child.kill();
  await waiting.ended;
  ingesting = 200;
});

it('fleet import says of a dry run that nothing was stored', async () => {
  const command = `import ${file('dry.ndjson', '{"kind":"driver"}\n')} --connection c`;
  const dry = await fleet(`${command} --dry-run`);
  expect(dry.out).toMatch(/^dry run +nothing was stored, and nobody was notified\naccepted +1$/m);
  expect((await fleet(command)).out).not.toContain('dry run');
});

it('fleet import warns of different vehicles with one id, also in different calls', async () => {
  const vins = times(600, (i) => (i === 599 ? '1FUJGLDR5CLBP8834' : '1FUJGLDR5CLBP8835'));
  const records = vins.map((vin, i) => ({ kind: 'vehicle', sourceId: `${i % 599}`, vin }));
  const content = records.map((record) => JSON.stringify(record)).join('\n');
  const { err, code } = await fleet(`import ${file('ids.ndjson', content)} --connection c`);
  expect(err).toMatch(
    /1 record, the first in line 1 and 600: sourceId is also that of a different/,
  );
  expect(code).toBe(1);
});
