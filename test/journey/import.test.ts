import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  api,
  fleet,
  fleetJson,
  journeyAccount,
  type SharedStack,
  sharedStack,
  startFleet,
} from '../support/node/journey.ts';

const files = mkdtempSync(join(tmpdir(), 'fleet-import-'));
let stack: SharedStack;
let us: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await sharedStack();
  us = await journeyAccount(stack);
});
afterAll(async () => {
  rmSync(files, { recursive: true });
});

it('a generated fleet is imported, found in the lists, and unchanged when imported again', async () => {
  const generate = startFleet(stack, 'generate', '--vehicles', '4', '--days', '10');
  expect(await generate.ended).toBe(0);
  const generated = generate.printed();
  const file = join(files, 'fleet.ndjson');
  writeFileSync(file, `${generated}{"kind":"vehicle","name":"Nobody knows"}\n`);
  const records = generated.trim().split('\n').length;
  const args = ['import', file, '--connection', us.connectionId];

  const first = await fleet(stack, '--json', ...args);
  const { rejectedFile, ...counts } = JSON.parse(first.out);
  expect([first.code, first.err]).toEqual([
    1,
    'fleet: records that were rejected: 1. The first:\n' +
      `  line ${records + 1}: sourceId is required\nAll of them, with their reasons: ${file}.rejected.ndjson\n`,
  ]);
  expect(counts).toMatchObject({ accepted: records, unchanged: 0, rejected: 1 });
  expect(readFileSync(rejectedFile, 'utf8')).toContain('"message":"sourceId is required"');
  const drivers = await api<unknown[]>(stack, us.token, 'GET', '/drivers');
  expect(drivers.data).toHaveLength(4);

  writeFileSync(file, generated);
  const again = await fleetJson(stack, ...args);
  expect(again).toMatchObject({ accepted: 0, unchanged: records, rejected: 0 });
  expect(existsSync(rejectedFile)).toBe(false);
  const keys = await fleetJson<{ name: string }[]>(stack, 'token', 'list', '--account', us.accountId);
  expect(keys.map(({ name }) => name).sort()).toEqual(['connector', 'journey']);
});

it('an import shows what the service could not use, and which rows it left out', async () => {
  const file = join(files, 'vans.csv');
  const rows = [
    'sourceId;name;year;odometerKm',
    'v1;Van 1;1066;1,5',
    'v2;Van 2;1067;',
    'v3;Van 3;2024;;extra',
  ];
  writeFileSync(file, rows.join('\r\n'));
  const { code, out, err } = await fleet(
    stack,
    ...['--json', 'import', file, '--kind', 'vehicle', '--connection', us.connectionId],
  );
  expect([code, JSON.parse(out)]).toMatchObject([1, { accepted: 2, rejected: 1 }]);
  expect(err).toContain(
    'fleet: 2 records, the first in line 2: year must be a whole number from 1900 to 2100',
  );
  expect(err).toContain('line 4: cell 5 is in no column: the first line names 4\n');
});

it('an import says what is wrong with its arguments', async () => {
  const missing = await fleet(stack, 'import', '/nowhere.csv', '--connection', us.connectionId);
  expect(missing).toMatchObject({ code: 1, err: 'fleet: Cannot read /nowhere.csv\n' });
  const file = join(files, 'a.ndjson');
  writeFileSync(file, '{}\n');
  const misspelt = join(files, 'a.csv');
  writeFileSync(misspelt, 'sourceId,licencePlate\nv1,ABC\n');
  expect(await fleet(stack, 'import', misspelt, '--connection', us.connectionId)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/column 2: licencePlate is not .*, did you mean licensePlate\?/),
  });
  const unknown = await fleet(stack, 'import', file, '--connection', 'x');
  expect(unknown).toMatchObject({ code: 1, err: 'fleet: 400 Unknown connection\n' });
  expect(existsSync(`${file}.rejected.ndjson`)).toBe(false);
});
