import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { root } from '#src/cli/project/paths.ts';
import { runToEnd } from './child.ts';
import { newAccount } from './cloudflare.ts';
import { temporaryFolder } from './folder.ts';
import { startNetwork } from './network.ts';

/** A copy of the project, which has what a deploy keeps; `copyProject` makes it. */
export const project = temporaryFolder();
/** The files below a folder; none if it is not there. */
export const filesOf = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

/** Every file of the project with when it was written. */
export const snapshot = () =>
  filesOf(project)
    .filter((file) => !file.includes('/node_modules/')) // its caches are of the test runner
    .map((file) => `${file} ${statSync(file).mtimeMs}`);

/** Has the copy there for the tests of a file, each of which begins with nothing kept. */
export function copyProject(): void {
  beforeAll(() => {
    mkdirSync(project, { recursive: true });
    for (const name of [
      'src',
      'migrations',
      'dist',
      'wrangler.toml',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(root, name), join(project, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  });
  afterAll(() => rmSync(project, { recursive: true }));
  afterEach(() => rmSync(join(project, '.local'), { recursive: true, force: true }));
}

/** Runs the deploy as its user would, without the credentials of whoever runs the tests. */
export async function deploy(env: Record<string, string>, ...args: string[]) {
  const home = temporaryFolder();
  const own = { HOME: home, XDG_CONFIG_HOME: home, WRANGLER_HIDE_BANNER: 'true' };
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const program = join(project, 'src/cli/deploy.ts');
  return runToEnd(program, args, {
    cwd: project,
    env: { PATH, NODE_COMPILE_CACHE, ...own, ...env },
  });
}

/** An account with nothing in it, and the service at `hosts` once it is deployed there. */
export async function cloud(hosts: string[], deployed: Hono) {
  const account = newAccount();
  const network = await startNetwork(account.api, hosts, deployed);
  const certificate = join(project, `${account.id}.pem`);
  writeFileSync(certificate, network.certificate);
  const env = {
    ...network.env,
    NODE_EXTRA_CA_CERTS: certificate,
    CLOUDFLARE_API_BASE_URL: network.baseUrl,
    CLOUDFLARE_API_TOKEN: 'token',
  };
  return { account, network, env };
}
