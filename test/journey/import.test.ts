import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#test/support/node/folder.ts';
import { api, fleet, fleetJson, sharedAccount, startFleet } from '#test/support/node/journey.ts';

const files = temporaryFolder();
const { stack, us } = await sharedAccount();

it('a generated fleet is imported, listed, and unchanged when imported again', async () => {
  const generate = startFleet(stack, 'generate', '--vehicles', '4', '--days', '10');
  expect(await generate.ended).toBe(0);
  const generated = generate.printed;
  const file = join(files, 'fleet.ndjson');
  writeFileSync(file, `${generated}{"kind":"vehicle","name":"Nobody knows"}\n`);
  const records = generated.trim().split('\n').length;
  const args = ['import', file, '--connection', us.connectionId];

  const rehearsed = JSON.parse((await fleet(stack, '--json', ...args, '--dry-run')).out);
  expect(rehearsed).toMatchObject({ accepted: records, unchanged: 0, rejected: 1 });
  expect(await api<unknown[]>(stack, us.token, 'GET', '/drivers')).toMatchObject({ data: [] });

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
  const keys = await fleetJson<{ name: string }[]>(
    stack,
    'token',
    'list',
    '--account',
    us.accountId,
  );
  expect(keys.map(({ name }) => name).sort()).toEqual(['demo', 'demo']);
});

it('an import shows what the service could not use, and which rows it left out', async () => {
  const file = join(files, 'vans.csv');
  const rows = [
    'sourceId;name;year;odometerKm',
    'v1;Van 1;1066;1,5',
    'v2;Van 2;1067;',
    'v3;Van 3;2024;;extra',
    '281475000000000;Van 4;2024;',
    '281475000000000;Van 5;2024;',
    '2.81475E+14;Van 6;2024;',
  ];
  writeFileSync(file, rows.join('\r\n'));
  const { code, out, err } = await fleet(
    stack,
    ...['--json', 'import', file, '--kind', 'vehicle', '--connection', us.connectionId],
  );
  expect([code, JSON.parse(out)]).toMatchObject([1, { accepted: 3, rejected: 2 }]);
  expect(err).toContain(
    'fleet: 1 record, the first in line 6 and 5: sourceId is also that of a different vehicle',
  );
  expect(err).toMatch(/line 7: sourceId must not be a placeholder or a rounded number/);
  expect(err).toContain(
    'fleet: 2 records, the first in line 2: year must be a whole number from 1900 to 2100',
  );
  expect(err).toContain('line 4: cell 5 is in no column: the first line names 4\n');
});
