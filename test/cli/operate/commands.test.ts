import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { fleetCommand } from '#src/cli/fleet.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { fakeService, temporaryFolder } from '#test/support/node/index.ts';

const folder = temporaryFolder();
const rules = join(folder, 'rules.json');
writeFileSync(rules, '{"Swerved":["Unsafe Lane Change"]}');

let asked: unknown[] = [];
let status = 200;
const { fleet, start } = await fakeService(({ method, url, body }) => {
  asked = [`${method} ${url.pathname.replace('/operator', '')}${url.search}`, body];
  return { status, data: method === 'GET' ? [{ id: 'x', email: 'x' }] : { id: 'x' } };
});

it.each<[command: string, call: string, body?: object]>([
  ['account suspend a', 'PATCH /accounts/a', { status: 'suspended' }],
  [
    `connection create --account a --provider acme --incident-types ${rules}`,
    'POST /accounts/a/connections',
    { provider: 'acme', incidentTypeMap: { Swerved: ['Unsafe Lane Change'] } },
  ],
  ['connection update c --external-id POL-1', 'PATCH /connections/c', { externalId: 'POL-1' }],
  ['vehicle update v --external-id=', 'PATCH /vehicles/v', { externalId: null }],
  [
    'token issue --account a --name n --read-only',
    'POST /accounts/a/tokens',
    { name: 'n', readOnly: true },
  ],
  [
    'webhook limit w --in-flight 3 --per-second many',
    'PATCH /webhooks/w/limits',
    { maxInFlight: 3, maxPerSecond: 'many' },
  ],
  [
    'token issue --account a --name n --connections x,\ty',
    'POST /accounts/a/tokens',
    { name: 'n', connectionIds: ['x', 'y'] },
  ],
  ['delivery find --event e', 'GET /deliveries/find?eventId=e'],
  ['sign-in-link ann@example.com', 'POST /sign-in-links', { email: 'ann@example.com' }],
])('fleet %s makes its call', async (command, call, body) => {
  const ran = await fleet(command);
  expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/\bx\b/) });
  expect(asked).toEqual([call, body]);
});

it('each command is in an operating guide', () => {
  const commandsOf = (command: Command): string[] =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.flatMap(commandsOf).map((one) => `${command.name()} ${one}`);
  const commands = commandsOf(fleetCommand());
  const guides = readGuides().filter(({ path }) => path.startsWith('operating'));
  const lines = guides.flatMap(({ markdown }) => markdown.match(/\bfleet [a-z][^\n`]*/g) ?? []);
  const isOf = (command: string) => (line: string) => `${line} `.startsWith(`${command} `);
  expect(commands.filter((command) => !lines.some(isOf(command)))).toEqual([]);
});

it('no command has an option of all commands, which would take its value', () => {
  const { options, commands } = fleetCommand();
  const ofAll = options.map(({ long }) => long);
  const within = (command: Command): Command[] => [command, ...command.commands.flatMap(within)];
  const taken = commands
    .flatMap(within)
    .filter(({ options }) => options.some(({ long }) => ofAll.includes(long)));
  expect(taken.map((command) => command.name())).toEqual([]);
});

it.each([
  'connection create --account a --provider samsara --credential -',
  'connection credential c --credential -',
  'connection webhook-secret c --secret -',
  'channel add --account a --kind slack --name n --address -',
])('fleet %s reads the secret from stdin', async (command) => {
  asked = [];
  const tool = start(command);
  tool.child.stdin?.end('s3cret\n');
  await tool.ended;
  expect(Object.values(Object(asked[1]))).toContain('s3cret');
  const help = await fleet(`${command} --help`);
  expect(help.out.replace(/\s+/g, ' ')).toContain('- reads it from stdin.');
});

it('an empty secret is refused, such as that of a command before it that failed', async () => {
  asked = [];
  const tool = start('connection create --account a --provider samsara --credential -');
  tool.child.stdin?.end('\n');
  await tool.ended;
  expect(tool.err).toContain('stdin has no credential');
  expect(asked).toEqual([]);
});

it('a service that cannot be reached, and why, is a line', async () => {
  const { err } = await fleet('--url http://localhost:2 status');
  expect(err).toMatch(/^fleet: Cannot reach http:\/\/localhost:2: .*ECONNREFUSED.*\. Is the .*\n$/);
});

it('a wrong operator key is called that', async () => {
  status = 401;
  const { err } = await fleet('status');
  expect(err).toMatch(/^fleet: The service does not accept this operator key\. Set FLEET/);
});
