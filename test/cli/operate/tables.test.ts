import { expect, it } from 'vitest';
import { fakeService } from '../../support/node/fake-service.ts';
import { fleet } from '../../support/node/journey.ts';

let data: unknown;
const service = await fakeService(() => ({ data }));

const id = '01a221b9-5de4-74cd-9e8e-2a7c8706e87e';
const at = '2026-11-20T20:15:04.120Z';
const name = 'A customer with a name that is longer than a column';
const url = `https://claims.example.com/${'segment/'.repeat(12)}`;
const none = { pausedAt: null, openUntil: null, maxInFlight: null, maxPerSecond: null };
const attempt = { at, durationMs: 15, result: 'status', status: 503, answer: 'Busy '.repeat(40) };
const delivery = { id, webhookId: id, eventId: id, status: 'failed', attempts: 3, log: [attempt] };
const ofAccount = ['--account', 'a'];
const feed = { everyMinutes: 1, problem: null, history: null };
const problem = { advice: `Allow reading. ${name}`, since: at, nextAt: at, isFailing: false };

it.each<[command: string[], data: object, shows: RegExp[]]>([
  [['account', 'list'], [{ id, name, status: 'active', held: true, createdAt: at }], [/ held +2026-11-20\n/]],
  [
    ['connection', 'list', ...ofAccount],
    [
      {
        id,
        accountId: id,
        name,
        tSP: 'Samsara',
        healthStatus: 3,
        lastPulledAt: at,
        incidentTypeMap: { A: ['B'] },
      },
    ],
    [/ Samsara +unavailable +2026-11-20\n/],
  ],
  [
    ['token', 'list', ...ofAccount],
    [{ id, name, scope: 'api', readOnly: true, revokedAt: at }],
    [/ read only +revoked/],
  ],
  [
    ['user', 'list', ...ofAccount],
    [{ id, email: 'ann@example.com', role: 'admin', pending: true }],
    [/admin +pending/],
  ],
  [['webhook', 'list', ...ofAccount], [{ ...none, id, url, failures: 6, window: 0 }], [/fails: 6 in a/]],
  [
    ['webhook', 'pause', 'w'],
    { ...none, id, url, failures: 0, window: 0, pausedAt: at },
    [/^state +paused since 2026-11-20 20:15:04Z$/m],
  ],
  [
    ['delivery', 'list', '--webhook', 'w'],
    [{ ...delivery, level: 2 }],
    [/accident, level 2 +failed +3, HTTP 503$/m],
  ],
  [
    ['delivery', 'find', '--event', 'e'],
    [{ ...delivery, level: 0, account: name, url }],
    [/ event +failed$/m],
  ],
  [
    ['delivery', 'show', 'd'],
    { ...delivery, level: 0, url: null },
    [/^about +event$/m, / HTTP 503 +15 ms +Busy/],
  ],
  [
    ['connection', 'status', 'c'],
    {
      state: 'pulling',
      feeds: [
        { ...feed, feed: 'trips' },
        { ...feed, feed: 'events', problem },
      ],
    },
    [/^trips +1 min +works +–$/m, /^events +1 min +tried again +Allow reading\./m],
  ],
  [
    ['audit'],
    [
      {
        at,
        account: name,
        actor: 'operator',
        action: 'created',
        subject: 'API token',
        subjectName: 'x',
        fields: [],
      },
    ],
    [/operator +created API token/],
  ],
  [
    ['deletion', 'list'],
    [{ id, account: name, kind: 'driver', dueAt: at, step: 'archive', stepsDone: 1, steps: 8 }],
    [/driver +archive \(2/],
  ],
])('fleet %j fits into 80 columns, in words', async (command, found, shows) => {
  data = found;
  const { out } = await fleet(service, ...command);
  for (const row of shows) expect(out).toMatch(row);
  const words = out.replaceAll(url, '').split('\n');
  expect(words.filter((line) => line.length > 80)).toEqual([]);
  expect(out).not.toMatch(/(level|type) +0|[12]\d:\d\d:\d\d\.\d/);
  expect(JSON.parse((await fleet(service, '--json', ...command)).out)).toEqual(found);
});

it('an address or a token is in one piece, and wide characters take two columns', async () => {
  data = { id, url, name: '東京'.repeat(30) };
  expect((await fleet(service, 'connect-link', 'create', ...ofAccount, '--name', 'x')).out).toContain(url);
  data = [{ id, name: '東京'.repeat(30), status: 'active', createdAt: at }];
  const lines = (await fleet(service, 'account', 'list')).out.split('\n');
  const columns = (line: string) => line.length + (line.match(/[東京]/g)?.length ?? 0);
  expect(lines.filter((line) => columns(line) > 80)).toEqual([]);
});
