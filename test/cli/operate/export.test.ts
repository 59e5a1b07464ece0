import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fakeService, readText, temporaryFolder } from '#test/support/node/index.ts';

/** A service that prepares exports at the third look, and sends a file at the second try. */
let looks: number;
let tries: number;
let state: string;
let truncated: boolean;
let deletions: (object | null)[];
let posted: { path: string; body?: unknown }[];
const { fleet } = await fakeService(({ method, url: { pathname: path }, body }) => {
  if (method === 'GET') {
    if (/\.csv$/.test(path)) return tries++ === 0 ? { status: 503 } : { data: 'records' };
    const files = [{ name: 'trips.csv', records: 2, bytes: 9 }];
    const found = { id: 'e', files, state: looks++ < 2 ? 'preparing' : state };
    return { data: [{ ...found, records: 2_000_000, truncated }] };
  }
  posted.push({ path, ...(body && { body }) });
  if (path.endsWith('/exports')) return { data: { id: 'e' } };
  return { data: { deletion: deletions.shift() ?? null } };
});
let folder: string;
beforeEach(() => {
  [looks, tries, state, truncated, posted, deletions] = [0, 0, 'ready', false, [], []];
  folder = temporaryFolder();
});

const exported = () => fleet(`export --account a --lists trips,\tdrivers --output ${folder}`);

it('fleet export waits for the files, and writes them where nobody else reads them', async () => {
  const file = join(folder, 'trips.csv');
  writeFileSync(file, 'old', { mode: 0o644 });
  expect((await exported()).out).toMatch(/trips\.csv +2 +1 KB/);
  expect(posted).toEqual([
    { path: '/operator/accounts/a/exports', body: { lists: ['trips', 'drivers'], format: 'csv' } },
  ]);
  expect(readText(file)).toContain('records');
  expect([statSync(file).mode & 0o777, readdirSync(folder)]).toEqual([0o600, ['trips.csv']]);
});

it('fleet export asks for nothing if the folder cannot be made', async () => {
  writeFileSync(join(folder, 'file'), '');
  const output = join(folder, 'file', 'in');
  const { code, err } = await fleet('export --account a --output', output);
  expect([code, err]).toEqual([1, `fleet: ENOTDIR: not a directory, mkdir '${output}'\n`]);
  expect(posted).toEqual([]);
});

it('fleet export says that it has failed', async () => {
  state = 'failed';
  expect((await exported()).err).toBe('fleet: The export has failed. Try again\n');
  expect(readdirSync(folder)).toEqual([]);
});

it('fleet export says that records are missing, beside the files', async () => {
  truncated = true;
  const { code, out, err } = await exported();
  expect([code, out]).toEqual([1, expect.stringContaining('trips.csv')]);
  expect(err).toMatch(/^fleet: Records are missing: an export has 2000000 at most\. Choose fewer/);
});

it('fleet connection delete sends the name, and goes on until nothing is left', async () => {
  const step = { id: 'c', step: 'records', stepsDone: 3, steps: 5 };
  deletions = [step, step];
  const { out } = await fleet('connection delete c --yes', 'City vans');
  expect(out).toMatch(/^deleted +yes$/m);
  expect(posted).toEqual([
    { path: '/operator/connections/c/deletion', body: { name: 'City vans' } },
    { path: '/operator/deletions/c/continue' },
    { path: '/operator/deletions/c/continue' },
  ]);
});

it('fleet driver erase tries a deletion again that has failed, and says why it fails', async () => {
  const failed = { id: 'd', step: 'references', stepsDone: 3, steps: 5, problem: 'no file' };
  deletions = [failed, { ...failed, problem: null }, null];
  expect((await fleet('driver erase d --yes')).out).toMatch(/^deleted +yes$/m);
  [posted, deletions] = [[], [failed, { ...failed, problem: 'still none' }]];
  const { code, err } = await fleet('driver erase d --yes');
  expect([code, err]).toEqual([1, expect.stringContaining('every ten minutes: still none')]);
  expect(posted.map(({ path }) => path)).toEqual([
    '/operator/drivers/d/erasure',
    '/operator/deletions/d/continue',
  ]);
});

it.each(['connection delete c', 'account delete a --now', 'driver erase d'])(
  'Ctrl-D is no answer to what fleet %s asks',
  async (command) => {
    const typed = Object.assign(new PassThrough(), { isTTY: true });
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(typed as never); // all that is read of it
    vi.spyOn(process.stderr, 'write').mockReturnValue(true); // the question
    typed.end();
    expect(await fleet(command)).toMatchObject({ code: 1, err: 'fleet: Nothing has changed\n' });
    expect(posted).toEqual([]);
    vi.restoreAllMocks();
  },
);

it.each(['connection delete c', 'account delete a --now', 'driver erase d'])(
  'fleet connection delete asks, and does nothing without a terminal: %s',
  async (command) => {
    const { code, err } = await fleet(command);
    expect([code, err]).toEqual([1, expect.stringContaining('stdin is not a terminal')]);
    expect(posted).toEqual([]);
  },
);
