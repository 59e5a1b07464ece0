// @module-tag proof
// More than 15 s: each command is a process.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { fleetCommand } from '#src/cli/fleet.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { markdownFiles } from '#test/structure/source.ts';
import { fakeService, readJson, root, temporaryFolder } from '#test/support/node/index.ts';

// Blocks of bash are run by a reader, in `test/journey/reader.test.ts`.

const { scripts }: { scripts: Record<string, string> } = readJson(root, 'package.json');

const pages = [
  ...readGuides().map(({ path, markdown }) => ({ path: `guides/${path}`, text: markdown })),
  ...markdownFiles(root).filter(({ path }) => /^README|\/contributing\//.test(path)),
];

const folder = temporaryFolder();
/** What the commands read and write there, in place of what the pages name. */
const contents = {
  'rules.json': '{"Swerved":["Unsafe Lane Change"]}',
  FILE: '{"Swerved":["Unsafe Lane Change"]}',
  'fleet.ndjson': '{"kind":"vehicle","sourceId":"1","name":"Truck 1"}\n',
  ...{ 'token.txt': '', 'secret.txt': '', 'url.txt': '' }, // which the shell reads
};
for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content);
const files = Object.fromEntries(
  [...Object.keys(contents), 'acme'].map((name) => [name, join(folder, name)]),
);

/** A command that a page shows, in a block or within a sentence. */
type Command = { page: string; isInSentence: boolean; text: string; tool: string; args: string[] };

const tools = ['npm', 'npx', 'fleet', 'curl'];
/** A shell that knows nothing but these, of which it prints the arguments. */
const shell = [
  ...tools.map((tool) => `${tool}() { printf '%s\\0' ${tool} "$@" >&3; printf '\\1' >&3; }`),
  'command_not_found_handle() { :; }',
].join('\n');

/** The commands of these tools in a page: in its blocks without a name, and in its sentences as code. */
function commandsOf(page: string, markdown: string): Command[] {
  const tokens = new MarkdownIt().parse(markdown, {});
  const code = [...tokens, ...tokens.flatMap(({ children }) => children ?? [])].filter(
    ({ type, info, content }) =>
      (type === 'code_inline' || (type === 'fence' && /^(?:text|sh|bash|)$/.test(info))) &&
      tools.some((tool) => content.includes(tool)),
  );
  return code.flatMap(({ type, content }) => {
    const { output } = spawnSync('/bin/bash', ['-c', `${shell}\n${content}`], {
      cwd: folder,
      env: { PATH: '' },
      encoding: 'utf8',
      timeout: 5000,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const commands = output[3]?.split('\u0001').slice(0, -1) ?? [];
    return commands.map((command) => {
      const [tool = '', ...args] = command.split('\0').slice(0, -1);
      return {
        page,
        isInSentence: type === 'code_inline',
        text: [tool, ...args].join(' '),
        tool,
        args,
      };
    });
  });
}

/** Commands that are not run or parsed here, each with why. */
const exceptions: { [text: string]: string } = {
  'curl -sS https://api.cloudflare.com/client/v4/graphql -H Authorization: Bearer  -d @-':
    'asks Cloudflare itself',
  'npm install standardwebhooks': 'needs a registry; samples import the package as installed here',
  'npm install ../fleet-data-service/.local/client': 'needs a registry; `buildClient` makes it',
  'npm init -y': 'runs in test/cli/client/build.test.ts',
  'npm pkg set type=module': 'runs in test/cli/client/build.test.ts',
  'npm publish ./.local/client': 'runs dry in test/cli/client/build.test.ts',
  'npm pack ./.local/client': 'runs in test/cli/client/build.test.ts',
  'npm run rehearse -- backup': 'runs in test/journey/archive.proof.test.ts; it has no options',
};

const all = pages.flatMap(({ path, text }) => commandsOf(path, text));
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

/** What the tool prints for it, in a process of its own where it reads stdin or prints records. */
async function printedBy(words: string[]): Promise<string> {
  const [first = '', ...others] = words;
  if (!others.includes('-') && first !== 'generate') return (await fleet(first, ...others)).err;
  const tool = start(first, ...others);
  tool.child.stdin?.end('https://hooks.slack.com/services/1\n');
  await tool.ended;
  return tool.printed;
}

const { fleet, start } = await fakeService(() => ({
  status: 400,
  message: 'Unknown id',
}));

it.each(named(ofFleet))(
  '%s of %s is accepted: it asks the service, or whether one is sure, or is a name alone',
  async (_, __, { args, isInSentence }) => {
    const words = args.filter((arg) => arg !== '…').map((arg) => files[arg] ?? arg);
    let called: ReturnType<typeof fleetCommand> | undefined = fleetCommand();
    for (const word of words) called = called?.commands.find((one) => one.name() === word);
    if (isInSentence && called) return;
    for (const cell of ['EU', 'NAME']) process.env[`FLEET_OPERATOR_KEY_${cell}`] = 'key';
    expect(await printedBy(words)).toMatch(
      /Unknown id|stdin is not a terminal; pass --yes|^\{"kind"/,
    );
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
  const loose = tested.filter(({ tool }) => tool === 'curl');
  expect(loose.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
});
