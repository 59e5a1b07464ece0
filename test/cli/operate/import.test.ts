import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { insist, request } from '../../../src/cli/operate/client.ts';
import { type Line, readRecords } from '../../../src/cli/operate/import/read.ts';
import { callsOf, sendAll } from '../../../src/cli/operate/import.ts';
import { generateFleet } from '../../../src/cli/operate/synthetic-fleet.ts';
import { recordKinds } from '../../../src/fleet/lists/registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'import-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const read = async (path: string, kind?: string) => {
  const lines: Line[] = [];
  for await (const line of readRecords(path, kind)) lines.push(line);
  return lines.map(({ bytesRead: _, ...line }) => line);
};

describe('a file of records', () => {
  it('in NDJSON is read line by line, also where a line is broken', async () => {
    const path = file('a.ndjson', '{"kind":"driver","sourceId":"1"}\r\n\n{oops\n{"sourceId":"2"}');
    expect(await read(path, 'driver')).toEqual([
      { line: 1, record: { kind: 'driver', sourceId: '1' } },
      { line: 3, problem: 'line is not JSON' },
      { line: 4, record: { kind: 'driver', sourceId: '2' } },
    ]);
  });

  it('in CSV gets its fields in the types they have, and what has another type as text', async () => {
    const path = file(
      'a.csv',
      '\ufeffkind,sourceId,name,groups,year,lastLocation.latitude,status,reportReady\n' +
        'vehicle,007,"A, B",x|y,2020,1.5,active,\n' +
        'driver,2,C,,,,1,\n' +
        'vehicle,3,D,,soon,,,\n' +
        'accident,5,,,,,,maybe\n',
    );
    const van = { kind: 'vehicle', sourceId: '007', name: 'A, B', groups: ['x', 'y'], year: 2020 };
    expect((await read(path)).map(({ record }) => record)).toEqual([
      { ...van, lastLocation: { latitude: 1.5 }, status: 'active' },
      { kind: 'driver', sourceId: '2', name: 'C', status: 1 },
      { kind: 'vehicle', sourceId: '3', name: 'D', year: 'soon' },
      { kind: 'accident', sourceId: '5', reportReady: 'maybe' },
    ]);
  });

  it.each(recordKinds.map(({ kind, recordExample }) => [kind, recordExample] as const))(
    'of kind %s is read from CSV as it is written there',
    async (kind, example) => {
      const cells = Object.entries(example).flatMap(([name, value]): [string, string][] =>
        typeof value === 'object' && !Array.isArray(value)
          ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, String(part)])
          : [[name, Array.isArray(value) ? value.join('|') : String(value)]],
      );
      const csv = [0, 1].map((at) => cells.map((pair) => `"${pair[at]}"`).join(',')).join('\n');
      expect(await read(file(`${kind}.csv`, csv), kind)).toEqual([{ line: 2, record: example }]);
    },
  );
});

describe('an import', () => {
  async function* lines(records: object[]): AsyncGenerator<Line> {
    for (const [at, record] of records.entries()) yield { line: at + 1, record, bytesRead: at };
  }
  const callsWith = (records: object[]) => callsOf(lines(records), () => {});

  it('sends calls of 500, few at a time, and vehicles before what follows them', async () => {
    const kinds = [...Array(600).fill('driver'), ...Array(600).fill('vehicle'), ...Array(4000).fill('trip')];
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

  it('never makes a call of more than 1 MiB, and ends with the error of one that cannot be made', async () => {
    const calls = await Array.fromAsync(callsWith(Array(20).fill({ text: 'é'.repeat(100_000) })));
    for (const call of calls)
      expect(Buffer.byteLength(JSON.stringify(call.map(({ record }) => record)))).toBeLessThan(2 ** 20);
    const send = () => Promise.reject(new Error('no'));
    await expect(sendAll(callsWith(Array(2000).fill({})), send)).rejects.toThrow('no');
  });

  it('waits as long as a busy service says, and tries again', async () => {
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
});

it('a generated fleet is the same for the same options, and another for another seed', () => {
  const generated = (seed: number) => [...generateFleet({ vehicles: 5, days: 7, start: '2026-10-01', seed })];
  expect(generated(1)).toEqual(generated(1));
  expect(generated(2)).not.toEqual(generated(1));
});
