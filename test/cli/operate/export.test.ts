import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../../src/cli/project/paths.ts';
import { vehicles } from '../../../src/fleet/lists/vehicles.ts';
import { readParquet } from '../../support/node/duckdb.ts';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

const perConnection = 1200;
const connections = ['first', 'second'];
let gone: string[];
const vehicleExample = vehicles.itemExample;
const itemOf = (connection: string, i: number) => ({
  ...vehicleExample,
  id: `${connection}-${i}`,
  name: i === 7 ? '=1+1' : `Truck "${i}", long`,
  lastLocation: i % 2 ? null : vehicleExample.lastLocation,
});
const all = connections.flatMap((connection) =>
  Array.from({ length: perConnection }, (_, i) => itemOf(connection, i)),
);

/** A service with two connections, which can be gone from some page on, and busy once. */
let goneAt: number;
let busy: boolean;
let pages: number;
let deleted: { path: string; body?: unknown }[];
const service = await fakeService(({ method, url: { pathname, searchParams }, body }) => {
  if (method === 'POST') {
    deleted.push({ path: pathname, ...(body && { body }) });
    const left = deleted.length < 3 ? { id: 'c', step: 'records', stepsDone: 3, steps: 5 } : null;
    return { data: { deletion: left } };
  }
  if (pathname.endsWith('/connections'))
    return { data: connections.filter((id) => !gone.includes(id)).map((id) => ({ id })) };
  if (busy) {
    busy = false;
    return { status: 503 };
  }
  pages++;
  if (pages === goneAt) return { status: 403 };
  const connection = pathname.split('/')[3] ?? '';
  const from = Number(searchParams.get('cursor') ?? 0);
  const to = Math.min(perConnection, from + Number(searchParams.get('limit')));
  const data = Array.from({ length: to - from }, (_, i) => itemOf(connection, from + i));
  return { data, ...(to < perConnection && { next: String(to) }) };
});
let folder: string;
beforeEach(() => {
  [goneAt, busy, pages, deleted, gone] = [0, false, 0, [], []];
  folder = mkdtempSync(join(tmpdir(), 'fleet-export-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(root);
  rmSync(folder, { recursive: true });
});

const exported = (format: string, ...more: string[]) =>
  fleet(service, '--json', 'export', '--account', 'a', '--kind', 'vehicle', '--format', format, ...more);
const at = (name: string) => join(folder, name);
const linesOf = (name: string) => readFileSync(at(name), 'utf8').trimEnd().split('\n');

describe('fleet export', () => {
  it('writes every record of every connection, one JSON line each', async () => {
    busy = true;
    const { code, out } = await exported('ndjson');
    expect([code, JSON.parse(out)]).toEqual([0, { file: 'vehicle.ndjson', rows: all.length }]);
    expect(linesOf('vehicle.ndjson').map((line) => JSON.parse(line))).toEqual(all);
    expect(existsSync(at('vehicle.ndjson.partial'))).toBe(false);
  });

  it('goes on where it was interrupted, for the same export alone', async () => {
    goneAt = 5;
    const { code, err } = await exported('ndjson');
    expect([code, err]).toEqual([1, 'fleet: 403 Try again\n']);
    expect(existsSync(at('vehicle.ndjson'))).toBe(false);
    const other = await exported('ndjson', '--from', '2026-01-01');
    expect(other.err).toContain('is of another export');
    goneAt = 0;
    pages = 0;
    expect((await exported('ndjson')).code).toBe(0);
    expect(pages).toBe(2);
    expect(linesOf('vehicle.ndjson').map((line) => JSON.parse(line))).toEqual(all);
  });

  it.each([
    ['a connection has been deleted', () => gone.push('first'), 1],
    ['its file has been deleted', () => rmSync(at('vehicle.ndjson.partial')), 6],
  ])('goes on without a gap although meanwhile %s', async (_, happens, pagesLeft) => {
    goneAt = 6; // the last page of the second connection
    await exported('ndjson');
    [goneAt, pages] = [0, 0];
    happens();
    expect((await exported('ndjson')).code).toBe(0);
    expect([linesOf('vehicle.ndjson').map((line) => JSON.parse(line)), pages]).toEqual([all, pagesLeft]);
  });

  it('writes CSV without formulas', async () => {
    await exported('csv', '--output', 'trucks.csv');
    const [head = '', ...lines] = linesOf('trucks.csv');
    expect(head.split(',')).toContain('lastLocation.longitude');
    expect(lines).toHaveLength(all.length);
    expect(lines[7]).toContain(",'=1+1,");
    expect(lines[8]).toContain('"Truck ""8"", long"');
    expect(lines[8]).toContain('39.7392,-104.9903,');
  });

  it('lets nobody else read the file, whoever could read it before', async () => {
    writeFileSync(at('vehicle.parquet'), 'old', { mode: 0o644 });
    await exported('parquet');
    expect(statSync(at('vehicle.parquet')).mode & 0o777).toBe(0o600);
    expect(readdirSync(at('.'))).toEqual(['vehicle.parquet']);
  });

  it('writes Parquet with a column for each field', async () => {
    await exported('parquet');
    const { rows, types } = await readParquet(at('vehicle.parquet'));
    expect(rows).toEqual(all);
    expect(types).toMatchObject({
      id: 'VARCHAR',
      groups: 'VARCHAR[]',
      year: 'INTEGER',
      odometerKm: 'DOUBLE',
      createdAt: 'TIMESTAMP WITH TIME ZONE',
    });
  });
});

describe('fleet connection delete', () => {
  it('sends the name, and goes on until nothing is left', async () => {
    const { code, out } = await fleet(service, '--json', 'connection', 'delete', 'c', '--yes', 'City vans');
    expect([code, JSON.parse(out)]).toEqual([0, { id: 'c', deleted: true }]);
    expect(deleted).toEqual([
      { path: '/operator/connections/c/deletion', body: { name: 'City vans' } },
      { path: '/operator/deletions/c/continue' },
      { path: '/operator/deletions/c/continue' },
    ]);
  });

  it.each(['connection delete c', 'account delete a --now', 'driver erase d'])(
    'asks, and does nothing without a terminal: %s',
    async (command) => {
      const { code, err } = await fleet(service, ...command.split(' '));
      expect([code, err]).toEqual([1, expect.stringContaining('stdin is not a terminal')]);
      expect(deleted).toEqual([]);
    },
  );
});
