import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Variables } from '#src/cli/project/wrangler.ts';
import { runHere } from './child.ts';
import { newAccount } from './cloudflare.ts';
import { copyOfProject, temporaryFolder } from './folder.ts';
import { startProvider } from './provider.ts';

/** A copy of the project, which has what a deploy keeps. */
export const project = copyOfProject();

// The copy's deploy never waits.
vi.doMock('node:timers/promises', () => ({ setTimeout: async () => {} }));
const { runDeploy }: typeof import('#src/cli/deploy.ts') = await import(
  join(project, 'src/cli/deploy.ts')
);
vi.doUnmock('node:timers/promises');

/** Has each test of a file begin with nothing kept. */
export const keepNothing = () =>
  afterEach(() => rmSync(join(project, '.local'), { recursive: true, force: true }));

/** Unsets what would tell a deploy of whoever runs the tests: that it runs in CI, credentials, settings. */
function withoutOwn(): Variables {
  const own = Object.keys(process.env).filter((name) => /^(?:CI$|CLOUDFLARE_|FLEET_)/.test(name));
  return Object.fromEntries(own.map((name) => [name, undefined]));
}

/** What is asked of a Worker that is deployed: of a router, for a cell. */
type Asked = {
  path: string;
  host: string;
  cell: string | null;
  key: string;
  origin: string | undefined;
};

/**
 * An account with nothing in it, and the Workers that are deployed to it: at `hosts` they respond, well but for those that
 * are `ill`. A router names its cells.
 */
export async function cloud(...hosts: string[]) {
  const account = newAccount();
  const ill = new Set<string>();
  const asked: Asked[] = [];
  const workers = async (request: Request) => {
    const { host, pathname: path, protocol } = new URL(request.url);
    if (protocol === 'http:') return new Response('', { status: 403 });
    const cell = request.headers.get('fleet-cell');
    const [name, serving] = [...account.workers].find(([name, { domains }]) =>
      [...domains, `${name}.acme.workers.dev`].includes(host),
    ) ?? [''];
    const cells = serving?.bindings.filter(({ type }) => type === 'service') ?? [];
    const named = new Map(cells.map(({ name, service }) => [name.slice(5).toLowerCase(), service]));
    const worker = account.workers.get((cell && named.get(cell)) || name);
    const origin = worker?.bindings.find((one) => one.name === 'ORIGIN')?.text;
    const key = request.headers.get('authorization')?.slice('Bearer '.length) ?? '';
    asked.push({ path, host, cell, key, origin });
    const own = { 'X-Request-Id': 'r', 'Worker-Version': worker?.version ?? '' };
    const init = {
      status: ill.has(name) && path === '/health' ? 503 : 200,
      headers: { ...own, ...(cells.length > 0 && { 'Fleet-Cell': [...named.keys()].join(', ') }) },
    };
    if (request.method === 'GET')
      return Response.json({ message: 'Database does not respond' }, init);
    const { schema } = await request.json();
    expect(schema.join()).toMatch(/trigger event_came: [0-9a-f]{16}/);
    const found = ill.has(name)
      ? { name: 'database', result: 'fault' }
      : { name: 'queue', result: 'ok' };
    const data = [{ ...found, ms: 7, detail: 'seen' }];
    return Response.json({ status: 200, message: 'Checked', data }, init);
  };
  // Wrangler, a process of its own, reaches the account and nothing else.
  const refused: (string | undefined)[] = [];
  const { server, url, stop } = await startProvider((request) => account.api.fetch(request));
  onTestFinished(stop);
  server.on('connect', ({ url }, socket) => {
    refused.push(url);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    const request = new Request(address, init);
    if (address.startsWith(url)) return account.api.fetch(request);
    if (hosts.includes(new URL(address).host)) return workers(request);
    refused.push(address);
    throw new TypeError(`${address} is not there`);
  });
  const home = temporaryFolder();
  const env = {
    ...withoutOwn(),
    ...{ HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: 'localhost' },
    ...{ HOME: home, XDG_CONFIG_HOME: home },
    ...{ CLOUDFLARE_API_BASE_URL: url, CLOUDFLARE_API_TOKEN: 'token' },
  };
  /** Runs the deploy as its user would, wherever the tests run. */
  const deploy = (options = '', variables: Variables = {}) =>
    runHere(() => runDeploy(options.split(' ').filter(Boolean)), { ...env, ...variables });
  return { account, deploy, env, ill, asked, refused };
}
