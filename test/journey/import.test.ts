import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fleet,
  fleetJson,
  readText,
  sharedAccount,
  startFleet,
  temporaryFolder,
} from '#test/support/node/index.ts';

const files = temporaryFolder();
const { stack, us } = await sharedAccount();

it('a generated fleet is imported, listed, and unchanged when imported again', async () => {
  const generate = startFleet(stack, 'generate --vehicles 4 --days 10');
  expect(await generate.ended).toBe(0);
  const generated = generate.printed;
  const file = join(files, 'fleet.ndjson');
  writeFileSync(file, `${generated}{"kind":"vehicle","name":"Nobody knows"}\n`);
  const records = generated.trim().split('\n').length;
  const command = `import ${file} --connection ${us.connectionId}`;

  const rejectedFile = `${file}.rejected.ndjson`;
  const rehearsed = await fleet(stack, `--json ${command} --dry-run`);
  expect(await us.get('/drivers')).toEqual([]);
  const first = await fleet(stack, `--json ${command}`);
  for (const { code, out, err } of [rehearsed, first]) {
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { accepted: records, unchanged: 0, rejected: 1, rejectedFile },
    ]);
    expect(err).toContain(`The first:\n  line ${records + 1}: sourceId is required\nAll of them`);
  }
  expect(readText(rejectedFile)).toContain('"message":"sourceId is required"');
  expect(await us.get('/drivers')).toHaveLength(4);

  writeFileSync(file, generated);
  const again = await fleetJson(stack, command);
  expect(again).toMatchObject({ accepted: 0, unchanged: records, rejected: 0 });
  expect(existsSync(rejectedFile)).toBe(false);
});

it('an import shows what the service could not use, and which rows it left out', async () => {
  const file = join(files, 'vans.csv');
  const rows = [
    'sourceId;name;year;odometerKm',
    'v1;Van 1;1066;1,5',
    'v2;Van 2;1067;',
    'v3;Van 3;2024;;extra',
    'v4;Van 4;2024;',
    'v4;Van 5;2024;',
  ];
  writeFileSync(file, rows.join('\r\n'));
  const { code, out, err } = await fleet(
    stack,
    `--json import ${file} --kind vehicle --connection ${us.connectionId}`,
  );
  expect([code, JSON.parse(out)]).toMatchObject([1, { accepted: 3, rejected: 1 }]);
  expect(err).toContain(
    'fleet: 1 record, the first in line 6 and 5: sourceId is also that of a different vehicle',
  );
  expect(err).toContain(
    'fleet: 2 records, the first in line 2: year must be a whole number from 1900 to 2100',
  );
  expect(err).toContain('line 4: cell 5 is in no column: the first line names 4\n');
});
