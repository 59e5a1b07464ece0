import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fakeService, root, watched } from '#test/support/node/index.ts';

const times = ['2026-11-20T20:00:00.000Z', '2026-11-20T21:00:00.000Z'];
const idOf = (time = '') => {
  const hex = Date.parse(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
const [first, second] = times.map(idOf);

/** A service with deliveries for three calls, which can fail at the last of them. */
let fails = false;
let asked: { method: string; url: string; body: Record<string, unknown> }[] = [];
const { fleet, ...service } = await fakeService(({ method, url, body = {} }) => {
  asked.push({ method, url: url.href, body });
  if (method === 'GET') return { data: { count: 10_000, more: true, tooOld: 3 } };
  if (body.after === second)
    return fails ? { status: 503 } : { data: { replayed: 17, more: false } };
  return { data: { replayed: 5000, more: true, next: body.after ? second : first } };
});
beforeEach(() => {
  [fails, asked] = [false, []];
});

const command = 'delivery replay --webhook w';
const replay = (options = '') => fleet(`${command}${options}`);
const calls = () => asked.filter(({ method }) => method === 'POST').map(({ body }) => body);
const counted =
  'Deliveries that can be replayed: 10000 or more. Left out because they are too old: 3.';

it('fleet delivery replay goes on until all is done, and says what it has left out', async () => {
  const since = '2026-11-20T00:00:00Z';
  const { out, err, code } = await replay(` --yes --all --since ${since} --json`);
  expect(JSON.parse(out)).toEqual({ replayed: 10_017 });
  expect(err).toBe(`${counted} Receivers will see a repeat of what was delivered.\n`);
  expect(code).toBe(0);
  const selection = { since, includeDelivered: true };
  expect(calls()).toEqual([
    selection,
    { ...selection, after: first },
    { ...selection, after: second },
  ]);
  expect(asked[0]?.url).toContain(`?since=${encodeURIComponent(since)}&includeDelivered=true`);
});

it('fleet delivery replay that is interrupted says where to go on', async () => {
  fails = true;
  const { out, err, code } = await replay(' --yes');
  expect([out, code]).toEqual(['', 1]);
  expect(err).toBe(
    `${counted}\nfleet: 503 Try again. 10000 replayed; continue with --since ${times[1]}\n`,
  );
});

it('fleet delivery replay replays nothing without a terminal, or as a dry run', async () => {
  expect(await replay()).toEqual({
    code: 1,
    out: '',
    err: `fleet: ${counted} stdin is not a terminal; pass --yes to replay them\n`,
  });
  expect(await replay(' --dry-run --yes')).toEqual({ code: 0, out: `${counted}\n`, err: '' });
  expect(calls()).toEqual([]);
});

it.each([
  ['n', 0, 'Nothing has been replayed'],
  ['y', 3, '10017'],
])(
  'fleet delivery replay asks at a terminal, and takes "%s" for an answer',
  async (answer, times, says) => {
    const { baseUrl, operatorKey } = service;
    const env = { ...process.env, FLEET_URL: baseUrl, FLEET_OPERATOR_KEY: operatorKey };
    const tool = [process.execPath, join(root, 'src/cli/fleet.ts'), ...command.split(' ')];
    const atTerminal = ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])'];
    const running = watched(spawn('python3', [...atTerminal, ...tool], { env }));
    running.child.stdin?.end(`${answer}\n`);
    await running.ended;
    expect(running.out).toContain(`${counted} Replay? [y/N]`);
    expect(running.out).toContain(says);
    expect(calls()).toHaveLength(times);
  },
);
