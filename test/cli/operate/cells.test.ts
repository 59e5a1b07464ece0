import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyProject, project } from '#test/support/node/deploy.ts';
import { fakeService } from '#test/support/node/fake-service.ts';
import { fleet } from '#test/support/node/journey.ts';

type Replies = { [call: string]: { status?: number; message?: string; data?: unknown } };

/** What each cell behind the router replies to a call; all of it is unknown to it otherwise. */
let cells: { [name: string]: Replies };
let asked: string[];
const router = await fakeService(({ method, url, headers }) => {
  const cell = headers.get('fleet-cell') ?? '';
  const call = `${method} ${url.pathname.replace('/operator', '')}${url.search}`;
  if (!cells[cell]) return { status: 400, headers: { 'Fleet-Cell': Object.keys(cells).join(',') } };
  asked.push(`${cell} ${call}`);
  const isTheirs =
    headers.get('authorization') === `Bearer ${cell === 'main' ? 'key' : `key of ${cell}`}`;
  if (!isTheirs) return { status: 401 };
  return cells[cell]?.[call] ?? { status: 400, message: 'Unknown webhook' };
});

beforeEach(() => {
  vi.stubEnv('FLEET_OPERATOR_KEY_EU', 'key of eu');
  cells = { main: {}, eu: {} };
  asked = [];
});
afterEach(() => vi.unstubAllEnvs());

const down = { status: 503, message: 'The service is unavailable' };

describe('without a cell, behind a router', () => {
  it.each([
    ['account list', 'GET /accounts'],
    ['deletion list', 'GET /deletions'],
    ['delivery find --vin V', 'GET /deliveries/find?vin=V'],
  ])(
    'fleet %s asks all cells, each with its own key, and shows them in one list',
    async (command, call) => {
      cells = {
        main: { [call]: { data: [{ name: 'Acme' }] } },
        eu: { [call]: { data: [{ name: 'Köln' }] } },
      };
      const { code, out } = await fleet(router, ...command.split(' '));
      expect(code).toBe(0);
      expect(out).toMatch(/^CELL .+\nmain .+\neu .+$/m);
      expect(asked.toSorted()).toEqual([`eu ${call}`, `main ${call}`]);
    },
  );

  it('the audit log of all cells is sorted by time, and as long as was asked for', async () => {
    const call = 'GET /audit?limit=2';
    const at = (second: number) => ({ at: `2026-11-20T20:00:0${second}.000Z` });
    cells = {
      main: { [call]: { data: [at(5), at(1)] } },
      eu: { [call]: { data: [at(3), at(2)] } },
    };
    const { out } = await fleet(router, '--json', 'audit', '--limit', '2');
    expect(JSON.parse(out)).toEqual([
      { cell: 'main', ...at(5) },
      { cell: 'eu', ...at(3) },
    ]);
  });

  it('a cell that does not respond is named on stderr, and costs none of the others', async () => {
    const [name, counts] = [
      'main',
      { accounts: 7, bytes: 0, share: 0, eventsPerDay: 3, fullOn: null },
    ];
    cells = {
      main: { 'GET /cell': { data: { name, ...counts } } },
      eu: { 'GET /cell': down },
      us: {},
    };
    const { code, out, err } = await fleet(router, 'cell', 'list');
    expect(code).toBe(1);
    expect(out).toMatch(/^main +7 /m);
    expect(err.split('\n')).toEqual([
      'fleet: eu: 503 The service is unavailable',
      'fleet: us: Set FLEET_OPERATOR_KEY_US to the OPERATOR_KEY of the cell',
      '',
    ]);

    cells = { main: { 'GET /cell': down }, eu: { 'GET /cell': down } };
    const nothing = await fleet(router, 'cell', 'list');
    expect([nothing.code, nothing.out]).toEqual([1, '']);
    expect(nothing.err).toBe(
      'fleet: main: 503 The service is unavailable; eu: 503 The service is unavailable\n',
    );
  });

  it('an id is asked of cells one by one, and the rest of the one that knows it', async () => {
    const deletion = { step: 'records', stepsDone: 1, steps: 2 };
    const left = [{ deletion }, { deletion: null }];
    cells = {
      main: { 'POST /connections/c/deletion': down },
      us: { 'POST /connections/c/deletion': { status: 421 } },
      eu: {
        'POST /connections/c/deletion': { data: { deletion } },
        get 'POST /deletions/c/continue'() {
          return { data: left.shift() };
        },
      },
    };
    vi.stubEnv('FLEET_OPERATOR_KEY_US', 'key of us');
    const { code, out } = await fleet(router, 'connection', 'delete', 'c', '--yes', 'Vans');
    expect([code, out]).toEqual([0, expect.stringMatching(/^deleted +yes$/m)]);
    // Node itself repeats what is refused with 421.
    expect([...new Set(asked)]).toEqual([
      ...['main', 'us', 'eu'].map((cell) => `${cell} POST /connections/c/deletion`),
      'eu POST /deletions/c/continue',
    ]);
  });

  it('an id that no cell knows is unknown, unless one could not say', async () => {
    const unknown = await fleet(router, 'webhook', 'pause', 'w');
    expect([unknown.code, unknown.err]).toEqual([1, 'fleet: 400 Unknown webhook\n']);
    cells.main = { 'POST /webhooks/w/pause': down };
    expect((await fleet(router, 'webhook', 'pause', 'w')).err).toBe(
      'fleet: main: 503 The service is unavailable\n',
    );
  });

  it('a refusal of the cell that knows an id is not asked of another', async () => {
    cells.main = {
      'PATCH /webhooks/w/limits': { status: 400, message: 'maxInFlight must be a number' },
    };
    const { err } = await fleet(router, 'webhook', 'limit', 'w', '--in-flight', 'many');
    expect(err).toBe('fleet: 400 maxInFlight must be a number\n');
    expect(asked).toEqual(['main PATCH /webhooks/w/limits']);
  });

  it('nothing is created in a cell that nobody has named', async () => {
    const { code, err } = await fleet(router, 'account', 'create', 'Acme');
    expect([code, err]).toEqual([1, 'fleet: Choose a cell with --cell or FLEET_CELL: main, eu\n']);
    expect(asked).toEqual([]);
  });
});

it('a cell is chosen by --cell or FLEET_CELL, and asked alone', async () => {
  cells.eu = { 'POST /accounts': { data: { id: 'x' } }, 'GET /accounts': { data: [{ id: 'x' }] } };
  expect(await fleet(router, 'account', 'create', 'Acme', '--cell', 'eu')).toMatchObject({
    code: 0,
    out: 'x\n',
  });
  vi.stubEnv('FLEET_CELL', 'eu');
  expect((await fleet(router, 'account', 'list')).out).not.toContain('cell');
  expect(asked).toEqual(['eu POST /accounts', 'eu GET /accounts']);
  expect((await fleet(router, 'account', 'list', '--cell', 'uk')).err).toContain(
    'FLEET_OPERATOR_KEY_UK',
  );
  vi.stubEnv('FLEET_OPERATOR_KEY_EU', 'another');
  expect((await fleet(router, 'account', 'list')).err).toContain(
    'Set FLEET_OPERATOR_KEY_EU to its OPERATOR_KEY',
  );
});

copyProject();
const list = (...args: string[]) =>
  spawnSync(
    process.execPath,
    [join(project, 'src/cli/fleet.ts'), '--json', 'account', 'list', ...args],
    {
      env: { PATH: process.env.PATH ?? '' },
      encoding: 'utf8',
    },
  );

it('.local of a version without cells has no key of one, and the tool says what to do', () => {
  mkdirSync(join(project, '.local'));
  const demo = { baseUrl: 'http://127.0.0.1:9', operatorKey: 'key' };
  writeFileSync(join(project, '.local/demo.json'), JSON.stringify(demo));
  expect(list().stderr).toContain('Cannot reach http://127.0.0.1:9');
  expect(list('--cell', 'eu').stderr).toContain('npm start -- --fresh --cells main,eu');
});

it('.local holds keys in deploy/fleet.env, which others must not be able to read', () => {
  mkdirSync(join(project, '.local/deploy'), { recursive: true });
  const file = join(project, '.local/deploy/fleet.env');
  writeFileSync(file, 'FLEET_URL=http://127.0.0.1:9\nFLEET_OPERATOR_KEY_MAIN=key\n', {
    mode: 0o600,
  });
  expect(list().stderr).toContain('Cannot reach http://127.0.0.1:9');
  chmodSync(file, 0o640);
  expect(list().stderr).toMatch(/^fleet: Others can read .*fleet\.env.*chmod 600/);
});
