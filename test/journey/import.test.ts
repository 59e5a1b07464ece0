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
  writeFileSync(file, `${generated}{"kind":"vehicle","sourceId":"broken"}\n`);
  const records = generated.trim().split('\n').length;
  const args = ['import', file, '--connection', us.connectionId];

  const first = await fleet(stack, '--json', ...args);
  const { rejectedFile, ...counts } = JSON.parse(first.out);
  expect([first.code, first.err]).toEqual([
    1,
    'fleet: records that were rejected: 1. The first:\n' +
      `  line ${records + 1}: name is required\nAll of them, with their reasons: ${file}.rejected.ndjson\n`,
  ]);
  expect(counts).toMatchObject({ accepted: records, unchanged: 0, rejected: 1 });
  expect(readFileSync(rejectedFile, 'utf8')).toContain('"message":"name is required"');
  const drivers = await api<unknown[]>(stack, us.token, 'GET', '/drivers');
  expect(drivers.data).toHaveLength(4);

  writeFileSync(file, generated);
  const again = await fleetJson(stack, ...args);
  expect(again).toMatchObject({ accepted: 0, unchanged: records, rejected: 0 });
  expect(existsSync(rejectedFile)).toBe(false);
  const keys = await fleetJson<{ name: string }[]>(stack, 'token', 'list', '--account', us.accountId);
  expect(keys.map(({ name }) => name).sort()).toEqual(['connector', 'journey']);
});

it('an import says what is wrong with its arguments', async () => {
  const missing = await fleet(stack, 'import', '/nowhere.csv', '--connection', us.connectionId);
  expect(missing).toMatchObject({ code: 1, err: 'fleet: Cannot read /nowhere.csv\n' });
  const file = join(files, 'a.ndjson');
  writeFileSync(file, '{}\n');
  const unknown = await fleet(stack, 'import', file, '--connection', 'x');
  expect(unknown).toMatchObject({ code: 1, err: 'fleet: 400 Unknown connection\n' });
  expect(existsSync(`${file}.rejected.ndjson`)).toBe(false);
});
