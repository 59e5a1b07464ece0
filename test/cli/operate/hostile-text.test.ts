import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet, startFleet } from '../../support/node/journey.ts';

/** What somebody may have called a thing: it would clear the screen, reorder what is shown, and forge a row. */
const hostile = 'Acme\u001b[2J\u009b31m\u202egpj.exe\u2028\r\n│ forged │';
/** Everything but line feeds, which separate the tool's own lines. */
const dangerous = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const attempt = { at: hostile, result: hostile, status: hostile, durationMs: hostile, answer: hostile };
const thing = {
  ...Object.fromEntries(
    ['id', 'name', 'email', 'scope', 'provider', 'tSP', 'status', 'url', 'lastFour', 'createdAt']
      .concat([
        'requestId',
        'account',
        'webhookId',
        'openUntil',
        'pausedSince',
        'lastSignInAt',
        'revokedAt',
        'message',
      ])
      .map((name) => [name, hostile]),
  ),
  email: 'ann@example.com',
  scope: 'api',
  value: 'key', // it goes into a header
  replayed: hostile,
  count: hostile,
  tooOld: hostile,
  maxInFlight: hostile,
  window: hostile,
  failed: 1,
  failures: 1,
  log: [attempt],
  actor: hostile,
  actorName: hostile,
  subjectName: hostile,
  fields: [hostile],
  deletion: { id: hostile, kind: hostile, accountId: hostile, step: hostile },
  [hostile]: hostile,
};
const level = { count: hostile, inTime: 1, firstAttempt: {}, delivered: {} };
const levels = { accidents: level, events: level };
const statusReport = {
  problem: hostile,
  health: { database: hostile, queueBacklog: hostile, oldestDueSeconds: hostile },
  oldestPendingAt: hostile,
  serviceLevels: { day: levels, month: levels },
  accidents: [{ ...thing, deliveryId: hostile, level: hostile, attempts: hostile, nextAttemptAt: hostile }],
  headerKeys: [
    { key: hostile, encrypts: hostile },
    { key: hostile, encrypts: hostile },
  ],
  failing: [thing],
  paused: [thing],
  connections: [thing],
};

/** A service that says nothing but hostile text, in whatever it is asked. */
const service = await fakeService(({ method, url: { pathname: path } }) => {
  const isList = method === 'GET' && !/deliveries\/(?!find)|status|replay/.test(path);
  const outcome = {
    accepted: 0,
    unchanged: 0,
    rejected: [{ index: 0, sourceId: hostile, message: hostile }],
  };
  const data = path.endsWith('/status')
    ? statusReport
    : path === '/ingest'
      ? outcome
      : isList
        ? [thing, { ...thing, scope: 'ingest' }]
        : thing;
  return { status: path.includes('refused') ? 400 : 200, message: hostile, data };
});
const folder = mkdtempSync(join(tmpdir(), 'fleet-hostile-'));
const file = join(folder, 'records.ndjson');
writeFileSync(file, '{"kind":"driver"}\n');
afterAll(() => rmSync(folder, { recursive: true }));

const commands = [
  ...['account list', 'account create x', 'account suspend x', 'account suspend refused'],
  ...['connection list --account x', 'connection create --account x --provider x', 'connection update x'],
  ...['token list --account x', 'token issue --account x --name x', 'token revoke x'],
  ...['ingest-key list --account x', 'ingest-key issue --connection x --name x'],
  ...['user list --account x', 'user add a@b.example --account x', 'user remove ann@example.com --account x'],
  ...['webhook list --account x', 'webhook limit x --in-flight 1', 'webhook limit refused --default'],
  ...['delivery replay --webhook x --dry-run', 'delivery replay --webhook x'],
  ...['sign-in-link ann@example.com', 'delivery list --webhook x', 'delivery find --vin x'],
  ...[
    'delivery show x',
    'delivery send x',
    'delivery replay x',
    'delivery replay --webhook x --yes',
    'status',
    'audit',
    'audit --account x',
    'deletion list',
    'account rename x y',
    'connection rename x y',
    'account delete x --yes y',
    `import ${file} --connection x`,
  ],
];

describe("the operator's tool prints nothing that a terminal would obey", () => {
  it.each(commands.flatMap((command) => [command, `--json ${command}`]))('fleet %s', async (command) => {
    const { out, err } = await fleet(service, ...command.split(' '));
    const lines = (out + err).split('\n');
    expect(out + err).toMatch(/Acme|None|key|rejected/);
    expect(lines.filter((line) => dangerous.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('│ forged'))).toEqual([]);
  });

  it('fleet delivery list --follow', async () => {
    const { child, ended, printed } = startFleet(service, ...'delivery list --webhook x --follow'.split(' '));
    await expect.poll(printed, { timeout: 30_000 }).toContain('Acme');
    child.kill();
    await ended;
    expect(
      printed()
        .trimEnd()
        .split('\n')
        .filter((line) => dangerous.test(line)),
    ).toEqual([]);
  });
});
