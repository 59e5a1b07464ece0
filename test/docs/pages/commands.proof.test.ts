// More than 15 s: each command is a process.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fleetCommand } from '#src/cli/fleet.ts';
import { root } from '#src/cli/project/paths.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { markdownFiles } from '#test/structure/source.ts';
import { type Command, commandsOf } from '#test/support/node/commands.ts';
import { fakeService } from '#test/support/node/fake-service.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import { fleet, startFleet } from '#test/support/node/journey.ts';

// Blocks of bash are run by a reader, in `test/journey/reader.test.ts`.

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

const pages = [
  ...readGuides().map(({ path, markdown }) => ({ path: `guides/${path}`, text: markdown })),
  ...markdownFiles(root).filter(({ path }) => /^README|\/contributing\//.test(path)),
];
const all = pages.flatMap(({ path, text }) => commandsOf(path, text));

/** Commands that are not run or parsed here, each with why. */
const exceptions: { [text: string]: string } = {
  'curl -sS https://api.cloudflare.com/client/v4/graphql -H "Authorization: Bearer $ANALYTICS_TOKEN" -d @-':
    'asks Cloudflare itself',
  'npm install standardwebhooks': 'needs a registry; samples import the package as installed here',
  'npm install ../fleet-data-service/.local/client': 'needs a registry; `buildClient` makes it',
  'npm init -y': 'runs in test/cli/client/build.test.ts',
  'npm pkg set type=module': 'runs in test/cli/client/build.test.ts',
  'npm publish ./.local/client': 'runs dry in test/cli/client/build.test.ts',
  'npm pack ./.local/client': 'runs in test/cli/client/build.test.ts',
  'npm run rehearse -- backup': 'runs in test/journey/archive.test.ts; it has no options',
};

const shown = [...new Map(all.map((one) => [one.text, one])).values()];
const tested = shown.filter(({ text }) => !(text in exceptions));
const named = (commands: Command[]) =>
  commands.map((one): [text: string, page: string, one: Command] => [one.text, one.page, one]);

it('each exception is a command of a page', () => {
  const texts = shown.map(({ text }) => text);
  expect(Object.keys(exceptions).filter((text) => !texts.includes(text))).toEqual([]);
  expect(shown.length).toBeGreaterThan(100);
});

/** `npm run -s fleet -- status` is `fleet status`. */
const asFleet = (one: Command): Command =>
  one.tool === 'npm' && /^run (?:-s )?fleet -- /.test(one.args.join(' '))
    ? { ...one, tool: 'fleet', args: one.args.slice(one.args.indexOf('--') + 1) }
    : one;
const ofFleet = tested.map(asFleet).filter(({ tool }) => tool === 'fleet');

/** The command of `fleet` that words begin with, and how many of them name it. */
function commandIn(args: string[]) {
  let command = fleetCommand();
  let depth = 0;
  for (const arg of args) {
    const next = command.commands.find((one) => one.name() === arg);
    if (!next) break;
    [command, depth] = [next, depth + 1];
  }
  return { command, depth };
}

/** Whether a sentence names a command without saying how it is called. */
const isName = ({ args, block }: Command): boolean =>
  block === undefined && commandIn(args).depth === args.filter((arg) => arg !== '…').length;

const folder = temporaryFolder();
/** What the commands read and write, in place of what the pages name. */
const files: Record<string, string> = Object.fromEntries(
  Object.entries({
    'rules.json': '{"Swerved":["Unsafe Lane Change"]}',
    FILE: '{"Swerved":["Unsafe Lane Change"]}',
    'fleet.ndjson': '{"kind":"vehicle","sourceId":"1","name":"Truck 1"}\n',
    'token.txt': 'samsara_api_1\n',
    'secret.txt': 's3cret\n',
    'url.txt': 'https://hooks.slack.com/services/1\n',
    acme: '',
  }).map(([name, content]) => {
    const path = join(folder, name);
    if (content) writeFileSync(path, content);
    return [name, path];
  }),
);

let asked: string[] = [];
const service = await fakeService(({ method, url }) => {
  asked.push(`${method} ${url.pathname}`);
  return { status: 400, message: 'Unknown id' };
});

it.each(named(ofFleet.filter(isName)))('%s of %s is a command', (_, __, { args }) => {
  const { command, depth } = commandIn(args);
  expect(depth).toBe(args.filter((arg) => arg !== '…').length);
  expect(command.name()).toBe(args.findLast((arg) => arg !== '…') ?? 'fleet');
});

/** The command that makes up records asks nobody. */
const asks = (one: Command) => !isName(one) && one.args[0] !== 'generate';

it.each(named(ofFleet.filter(asks)))(
  '%s of %s is accepted, and asks the service, or whether one is sure',
  async (_, __, { args, stdin }) => {
    asked = [];
    const typed = args.map((arg) => files[arg] ?? arg);
    for (const cell of ['EU', 'NAME']) process.env[`FLEET_OPERATOR_KEY_${cell}`] = 'key';
    const { err } = stdin ? await withInput(typed, stdin) : await fleet(service, ...typed);
    if (err.includes('stdin is not a terminal; pass --yes')) return;
    expect(asked, err).not.toEqual([]);
    expect(err).toContain('Unknown id');
  },
);

async function withInput(args: string[], file: string) {
  const tool = startFleet(service, ...args);
  tool.child.stdin?.end(readFileSync(files[file] ?? file));
  await tool.ended;
  return { err: tool.printed };
}

it.each(named(ofFleet.filter(({ args }) => args[0] === 'generate')))(
  '%s of %s makes up records',
  (_, __, { args }) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, 'src/cli/fleet.ts'), ...args],
      { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
    );
    expect(status, stderr).toBe(0);
  },
);

const ofNpm = tested.filter((one) => one.tool === 'npm' && asFleet(one) === one);

it.each(named(ofNpm))('%s of %s is a script, which accepts its arguments', (_, __, { args }) => {
  const [first = '', ...others] =
    args[0] === 'run' ? args.slice(1).filter((arg) => arg !== '-s') : args;
  const script = scripts[first];
  expect(script, `a script called ${first}`).toBeDefined();
  if (others.length === 0) return;
  expect(others[0]).toBe('--');
  const [, program = ''] = /^node (src\S+\.ts)$/.exec(script ?? '') ?? [];
  const preload = join(root, 'test/support/node/parse-only.ts');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', preload, program, ...others.slice(1)],
    { cwd: root, encoding: 'utf8', timeout: 60_000 },
  );
  expect(status, stderr).toBe(0);
});

const ofNpx = tested.filter(({ tool }) => tool === 'npx');
const bin = (name: string) => join(root, 'node_modules/.bin', name);

it.each(named(ofNpx.filter(({ args }) => args[0] === 'vitest')))(
  '%s of %s finds its tests',
  (_, __, { args: [, run, ...args] }) => {
    expect(run).toBe('run');
    const { stdout, stderr } = spawnSync(bin('vitest'), ['list', '--filesOnly', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, npm_lifecycle_event: '' }, // by hand, which also finds proofs
    });
    expect(stdout, stderr).toMatch(/\.test\.ts$/m);
  },
);

it.each(named(ofNpx.filter(({ args }) => args[0] !== 'vitest')))(
  '%s of %s names a command of Wrangler and its options',
  (_, __, { args: [tool = '', ...args] }) => {
    expect(tool).toBe('wrangler');
    const first = args.findIndex((arg) => arg.startsWith('-'));
    const words = first < 0 ? args : args.slice(0, first);
    const { stdout } = spawnSync(bin('wrangler'), [...words, '--help'], { encoding: 'utf8' });
    const usage = stdout.split('\n')[0] ?? '';
    expect(`${stdout}\n`).toContain('GLOBAL FLAGS');
    expect(stdout).not.toContain('COMMANDS\n');
    expect(usage).toMatch(/^wrangler /);
    for (const option of args.filter((arg) => arg.startsWith('--')))
      expect(stdout).toContain(` ${option} `);
  },
);

it('calls with curl are samples, which the reader runs', () => {
  const loose = tested.filter(({ tool, block }) => tool === 'curl' && !block?.endsWith('.sh'));
  expect(loose.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
});
