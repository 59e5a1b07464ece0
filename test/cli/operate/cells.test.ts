import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyOfProject, fakeService } from '#test/support/node/index.ts';

type Replies = { [call: string]: { status?: number; message?: string; data?: unknown } };

/** What each cell behind the router replies to a call; all of it is unknown to it otherwise. */
let cells: { [name: string]: Replies };
let asked: string[];
const { fleet } = await fakeService(({ method, url, headers }) => {
  const cell = headers.get('fleet-cell') ?? '';
  const call = `${method} ${url.pathname.replace('/operator', '')}${url.search}`;
  if (!cells[cell]) return { status: 400, headers: { 'Fleet-Cell': Object.keys(cells).join(',') } };
  asked.push(`${cell} ${call}`);
  const key = cell === 'main' ? 'key' : `key of ${cell}`;
  if (headers.get('authorization') !== `Bearer ${key}`) return { status: 401 };
  return cells[cell]?.[call] ?? { status: 400, message: 'Unknown webhook' };
});

beforeEach(() => {
  vi.stubEnv('FLEET_OPERATOR_KEY_EU', 'key of eu');
  cells = { main: {}, eu: {} };
  asked = [];
});

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
      const { code, out } = await fleet(command);
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
    const { out } = await fleet('--json audit --limit 2');
    expect(JSON.parse(out)).toEqual([
      { cell: 'main', ...at(5) },
      { cell: 'eu', ...at(3) },
    ]);
  });

  it('an id is asked of cells one by one, and the rest of the one that knows it', async () => {
    const deletion = { step: 'records', stepsDone: 1, steps: 2 };
    const call = 'POST /connections/c/deletion';
    cells = {
      main: { [call]: down },
      us: { [call]: { status: 421 } },
      eu: {
        [call]: { data: { deletion } },
        'POST /deletions/c/continue': { data: { deletion: null } },
      },
    };
    vi.stubEnv('FLEET_OPERATOR_KEY_US', 'key of us');
    const { code, out } = await fleet('connection delete c --yes Vans');
    expect([code, out]).toEqual([0, expect.stringMatching(/^deleted +yes$/m)]);
    // Node itself repeats what is refused with 421.
    expect([...new Set(asked)]).toEqual([
      ...['main', 'us', 'eu'].map((cell) => `${cell} ${call}`),
      'eu POST /deletions/c/continue',
    ]);
  });

  const counts = { accounts: 7, bytes: 0, share: 0, eventsPerDay: 3, fullOn: null };
  const well = { 'GET /cell': { data: { name: 'main', ...counts } } };
  const ill = { 'GET /cell': down };
  const wrong = { status: 400, message: 'maxInFlight must be a number' };
  const noKey = 'us: Set FLEET_OPERATOR_KEY_US to the OPERATOR_KEY of the cell';
  it.each<[what: string, all: typeof cells, command: string, err: string, asks?: number]>([
    [
      'a cell that does not respond is named on stderr, and costs none of the others',
      { main: well, eu: ill, us: {} },
      'cell list',
      `eu: 503 ${down.message}\nfleet: ${noKey}`,
    ],
    [
      'all cells can be down',
      { main: ill, eu: ill },
      'cell list',
      `main: 503 ${down.message}; eu: 503 ${down.message}`,
    ],
    [
      'an id that no cell knows is unknown',
      { main: {}, eu: {} },
      'webhook pause w',
      '400 Unknown webhook',
    ],
    [
      'an id that a cell could not look up may be there',
      { main: { 'POST /webhooks/w/pause': down }, eu: {} },
      'webhook pause w',
      `main: 503 ${down.message}`,
    ],
    [
      'a refusal of the cell that knows an id is not asked of another',
      { main: { 'PATCH /webhooks/w/limits': wrong }, eu: {} },
      'webhook limit w --in-flight many',
      `400 ${wrong.message}`,
      1,
    ],
    [
      'nothing is created in a cell that nobody has named',
      { main: {}, eu: {} },
      'account create Acme',
      'Choose a cell with --cell or FLEET_CELL: main, eu',
      0,
    ],
  ])('%s', async (_, all, command, err, asks = 2) => {
    cells = all;
    const ran = await fleet(command);
    expect([ran.code, ran.err]).toEqual([1, `fleet: ${err}\n`]);
    expect(ran.out).toMatch(all.main === well ? /^main +7 /m : /^$/);
    expect(asked).toHaveLength(asks);
  });
});

it('a cell is chosen by --cell or FLEET_CELL, and asked alone', async () => {
  cells.eu = { 'POST /accounts': { data: { id: 'x' } }, 'GET /accounts': { data: [{ id: 'x' }] } };
  expect((await fleet('account create Acme --cell eu')).out).toBe('x\n');
  vi.stubEnv('FLEET_CELL', 'eu');
  expect((await fleet('account list')).out).not.toContain('cell');
  expect(asked).toEqual(['eu POST /accounts', 'eu GET /accounts']);
  const { err } = await fleet('account list --cell uk');
  expect(err).toContain('FLEET_OPERATOR_KEY_UK');
  vi.stubEnv('FLEET_OPERATOR_KEY_EU', 'another');
  const refused = await fleet('account list');
  expect(refused.err).toContain('Set FLEET_OPERATOR_KEY_EU to its OPERATOR_KEY');
});

describe('.local', () => {
  const copy = copyOfProject();
  const demo = { baseUrl: 'http://127.0.0.1:9', operatorKey: 'key' };
  const write = (name: string, content: string) => {
    rmSync(join(copy, '.local'), { recursive: true, force: true });
    mkdirSync(join(copy, '.local/deploy'), { recursive: true });
    writeFileSync(join(copy, '.local', name), content, { mode: 0o600 });
  };
  let serviceAt: typeof import('#src/cli/operate/context.ts').serviceAt;
  beforeAll(async () => {
    ({ serviceAt } = await import(join(copy, 'src/cli/operate/context.ts')));
  });

  it('of a version without cells has no key of one, and the tool says what to do', () => {
    write('demo.json', JSON.stringify(demo));
    expect(serviceAt()).toEqual(demo);
    expect(() => serviceAt(undefined, 'eu')).toThrow('npm start -- --fresh --cells main,eu');
  });

  it('holds keys in deploy/fleet.env, which others must not be able to read', () => {
    for (const name of ['FLEET_URL', 'FLEET_OPERATOR_KEY_MAIN']) vi.stubEnv(name, undefined);
    write('deploy/fleet.env', `FLEET_URL=${demo.baseUrl}\nFLEET_OPERATOR_KEY_MAIN=key\n`);
    expect(serviceAt()).toEqual(demo);
    chmodSync(join(copy, '.local/deploy/fleet.env'), 0o640);
    expect(() => serviceAt()).toThrow(/^Others can read .*fleet\.env.*chmod 600/);
  });
});
