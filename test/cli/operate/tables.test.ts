import { fakeService } from '#test/support/node/index.ts';

let data: unknown;
const { fleet } = await fakeService(() => ({ data }));

const id = '01a221b9-5de4-74cd-9e8e-2a7c8706e87e';
const at = '2026-11-20T20:15:04.120Z';
const name = 'A customer with a name that is longer than a column';
const url = `https://claims.example.com/${'segment/'.repeat(12)}`;
/** What everything has that an operator sees. */
const ids = { id, accountId: id, webhookId: id, eventId: id };
const usual = { ...ids, name, account: name, url, at, createdAt: at };
const answer = 'Busy '.repeat(40);
const log = [{ at, durationMs: 15, result: 'status', status: 503, answer }];
const feed = { everyMinutes: 1, problem: null, history: null };
const problem = { advice: `Allow reading. ${name}`, since: at, nextAt: at, isFailing: false };
const feeds = [
  { ...feed, feed: 'trips' },
  { ...feed, feed: 'events', problem },
];

/** Makes the terminal of the tool this wide, or none. */
const terminal = (columns?: number) =>
  Object.defineProperty(process.stdout, 'columns', { value: columns, configurable: true });
const { columns: own } = process.stdout;
afterEach(() => terminal(own));

it.each<[command: string, changes: object, shows: RegExp]>([
  ['account list', { status: 'active', held: true }, / held +2026-11-20 20:15:04Z$/m],
  [
    'connection list --account a',
    { tSP: 'Samsara', healthStatus: 3, lastPulledAt: at, incidentTypeMap: { A: ['B'] } },
    / Samsara +unavailable +2026-11-20 20:15:04Z$/m,
  ],
  [
    'token list --account a',
    { scope: 'api', readOnly: true, lastUsedAt: at, revokedAt: at },
    / read only +2026-11-20 20:15:04Z +revoked$/m,
  ],
  [
    'user list --account a',
    { email: 'ann@example.com', role: 'admin', pending: true },
    /admin +2026-11-20 20:15:04Z +pending$/m,
  ],
  ['webhook list --account a', { failures: 6, window: 0 }, /fails: 6 in a row$/m],
  ['webhook pause w', { pausedAt: at }, /^state +paused since 2026-11-20 20:15:04Z$/m],
  [
    'delivery list --webhook w',
    { status: 'failed', attempts: 3, log, level: 2 },
    /accident, level 2 +failed +3 +HTTP 503$/m,
  ],
  [
    'delivery find --event e',
    { status: 'failed', level: 0, last: log[0] },
    /^2026-11-20 20:15:04Z +A customer .* event +failed +01a2/m,
  ],
  ['delivery show d', { url: null, log, level: 0 }, /^about +event$[\s\S]* HTTP 503 +15 ms +Busy/m],
  [
    'delivery list --webhook w',
    { status: 'failed', attempts: 3, log: [{ at, durationMs: 15, result: 'dns' }], level: 2 },
    /failed +3 +Host not found$/m,
  ],
  [
    'connection status c',
    { state: 'pulling', feeds },
    /^trips +1 min +works +–\nevents +1 min +tried again +Allow reading\. .* 20:15:04Z\)$/m,
  ],
  [
    'audit',
    { actor: 'operator', action: 'created', subject: 'API token', subjectName: 'x', fields: [] },
    /operator +created API token +x$/m,
  ],
  [
    'deletion list',
    { kind: 'driver', dueAt: at, step: 'archive', stepsDone: 1, steps: 8 },
    /driver +archive \(2 of 8\)$/m,
  ],
])('fleet %s prints a row a line, in words', async (command, changes, shows) => {
  const one = { ...usual, ...changes };
  data = / (pause|show|status) /.test(command) ? one : [one];
  const { out } = await fleet(command);
  expect(out).toMatch(shows);
  expect(out).not.toMatch(/(level|type) +0|[12]\d:\d\d:\d\d\.\d| $/m);
  expect(JSON.parse((await fleet(`--json ${command}`)).out)).toEqual(data);
});

it('wraps between words at a terminal that is too narrow; ids, addresses and tokens are in one piece', async () => {
  terminal(80);
  const change = { actor: 'operator', action: 'created', subject: 'API token', subjectId: id };
  data = [{ ...usual, ...change, fields: [] }];
  const { out } = await fleet('audit');
  expect(out).toMatch(new RegExp(`^2026-11-20 +A +operator +created +${id}$`, 'm'));
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  data = { id, url, name: name.repeat(3) };
  const link = await fleet('connect-link create --account a --name x');
  expect(link.out).toContain(url);
  data = [{ id, name: '東京 '.repeat(30), status: 'active', createdAt: at }];
  const lines = (await fleet('account list')).out.split('\n');
  const columns = (line: string) => line.length + (line.match(/[東京]/g)?.length ?? 0);
  expect(lines.filter((line) => columns(line) > 80)).toEqual([]);
  terminal();
  expect((await fleet('account list')).out).toMatch(/(東京 ){30} +active/);
});
