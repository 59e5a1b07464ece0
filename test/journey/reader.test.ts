import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '#src/cli/local/dev.ts';
import type { Demo } from '#src/cli/local/directory.ts';
import { readGuides } from '#src/docs/pages/guides.ts';
import { cloneSource, npmStart } from '#test/support/node/clone.ts';
import {
  accident,
  api,
  dayMs,
  fleetJson,
  readJson,
  readText,
  temporaryFolder,
  until,
} from '#test/support/node/index.ts';
import { type Block, blocksOf, isSample, samples } from '#test/support/node/samples.ts';
import { openTerminal, type Printed } from '#test/support/node/terminal.ts';

// One reader, service and account: the README's tour, then the guides, block by block.

const readme = blocksOf(readText(resolve(import.meta.dirname, '../../README.md')));
const guides = new Map(readGuides().map(({ path, markdown }) => [path, blocksOf(markdown)]));
const clone = cloneSource();
const folder = temporaryFolder();
const terminals: ReturnType<typeof openTerminal>[] = [];
const ports = new Map<string, string>();
let service: Awaited<ReturnType<typeof npmStart>>;
/** Where the receiver of the quick start runs, and where everything else does. */
const [receiver, shell] = [terminalIn(folder), terminalIn(folder)];

beforeAll(async () => {
  for (const port of ['8787', '9443', '9444']) ports.set(port, String(await freePort()));
  service = await npmStart(clone.folder, Number(ports.get('8787')));
});
afterAll(async () => {
  for (const terminal of terminals) terminal.close();
  await service?.stop();
  clone.remove();
});

function terminalIn(cwd: string) {
  const terminal = openTerminal(cwd);
  terminals.push(terminal);
  return terminal;
}

/** A page's text on the ports of this run. */
const here = (text: string): string =>
  text.replace(/\b(?:8787|9443|9444)\b/g, (port) => ports.get(port) ?? port);

/** Text without what differs from run to run. */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/fd[si]_[\w-]+/g, '<token>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/\b\d\d:\d\d:\d\d\b/g, '<clock>');

const block = (blocks: Block[], name: string): string => {
  const found = blocks.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`No block is called ${name}`);
  return here(found.code);
};

/** What a page shows right below a sample; undefined if it shows nothing. */
const shownBelow = (blocks: Block[], name: string): Block | undefined => {
  const next = blocks[blocks.findIndex((candidate) => candidate.name === name) + 1];
  return next && !next.name && ['json', 'text'].includes(next.language) ? next : undefined;
};

const worked = new Set<string>();

/** Checks that a block worked, and printed what the page shows below it, or more JSON. */
function expectShown(blocks: Block[], name: string, { out, code }: Printed): void {
  worked.add(name);
  expect(code, `${name}: ${out}`).toBe(0);
  expect(out.match(/(?:^|\})\{"status":(?!200\b)\d+/gm), `${name}: ${out}`).toBe(null); // of replies
  const shown = shownBelow(blocks, name);
  if (shown?.language === 'text') expect(out.trim(), name).toBe(shown.code.trim());
  if (shown?.language === 'json')
    expect(JSON.parse(masked(out)), name).toMatchObject(JSON.parse(masked(shown.code)));
}

it('npm start prints what the README shows', async () => {
  for (const line of block(readme, 'tour-start').split('\n').filter(Boolean)) {
    const [beginning = ''] = masked(line).split(/\w*…/);
    await until(`it prints ${beginning}`, () =>
      masked(service.printed()).includes(beginning.trimEnd()),
    );
  }
});

it("the README's tour leads to a delivery, and to the same event in the list", async () => {
  const second = terminalIn(clone.folder);
  second.start(block(readme, 'tour-receiver.sh'));
  const third = terminalIn(clone.folder);
  for (const name of ['tour-register.sh', 'tour-ingest.sh', 'tour-list.sh'])
    expectShown(readme, name, await third.paste(block(readme, name)));
  const delivery = masked(block(readme, 'tour-delivery').trim());
  await until('the delivery is printed', () => masked(second.screen()).includes(delivery));

  const again = await third.paste(block(readme, 'tour-ingest.sh'));
  expect(JSON.parse(again.out).data).toEqual({ accepted: 0, unchanged: 2, rejected: [] });
  expect(masked(second.screen()).split(delivery)).toHaveLength(2);
});

it('the quick start follows the tour, in a folder of its own', async () => {
  const blocks = guides.get('quick-start') ?? [];
  for (const terminal of [receiver, shell])
    await terminal.paste(`SERVICE_FOLDER=${clone.folder}\n${block(blocks, 'local.sh')}`);

  for (const name of ['connections.sh', 'vehicles.sh'])
    expectShown(blocks, name, await shell.paste(block(blocks, name)));
  writeFileSync(join(folder, 'receiver.ts'), block(blocks, 'receiver.ts'));
  receiver.start(`node receiver.ts`);
  await until('the receiver listens', () => receiver.screen().includes('listening on'));
  expectShown(blocks, 'knock.sh', await shell.paste(block(blocks, 'knock.sh')));
  const told = masked(block(blocks, 'receiver').trim());
  const timesTold = () => masked(receiver.screen()).split(told).length - 1;
  await until('the call is printed', () => timesTold() === 1);

  const registered = await shell.paste(block(blocks, 'register.sh'));
  expectShown(blocks, 'register.sh', registered);
  await shell.paste(`export WEBHOOK_ID=${JSON.parse(registered.out).data.id}`);
  expectShown(blocks, 'provider.sh', await shell.paste(block(blocks, 'provider.sh')));
  await until('the event is printed', () => timesTold() === 2);
  let listed: Printed = { out: '', code: 1 };
  await until('it is recorded', async () => {
    listed = await shell.paste(block(blocks, 'deliveries.sh')); // the demo's own events come in meanwhile
    return listed.out.includes('"delivered"');
  });
  expectShown(blocks, 'deliveries.sh', listed);

  await shell.paste(`RECORDS='${JSON.stringify({ records: [accident()] })}'
    curl "$BASE_URL/ingest" -H "x-api-key: $INGEST_KEY" -H 'Content-Type: application/json' -d "$RECORDS"`);
  await until('the accident is printed', () =>
    receiver.screen().includes('level 1 vin 1FUJGLDR5CLBP8834'),
  );
});

it('deliveries look as the guide shows them', () => {
  const examples = (guides.get('receiving') ?? []).filter(({ language }) => language === 'json');
  const shown = examples.map(({ code }) => JSON.parse(code)).filter(({ data }) => data);
  const lines = readText(folder, 'deliveries.ndjson').trim().split('\n');
  const deliveries = lines.map((line) => JSON.parse(line));
  expect(shown).toHaveLength(2);
  for (const example of shown) {
    const { data } = deliveries.findLast(({ type }) => type === example.type);
    expect(shapeOf(data)).toEqual(shapeOf(example.data));
  }
});

const shapeOf = (data: object) => Object.entries(data).map(([key, value]) => [key, typeof value]);

// The receivers of signed deliveries have a test of their own.
it.each([...guides.keys()].filter((path) => !['', 'quick-start', 'signatures'].includes(path)))(
  'the samples of /docs/%s work in that same terminal, and print what the page shows',
  async (path) => {
    const [FROM, TO] = [-dayMs, dayMs].map((ms) =>
      new Date(Date.now() + ms).toISOString().slice(0, 10),
    );
    await shell.paste(`export FROM=${FROM} TO=${TO}`);
    const blocks = guides.get(path) ?? [];
    for (const [at, sample] of blocks.entries()) {
      const before = blocks[at - 1];
      const sameInAnotherLanguage = before && stem(before) === stem(sample);
      const ofTypedClient = sample.code.includes('fleet-data-client'); // which `samples.proof.test.ts` builds
      if (!isSample(sample) || sameInAnotherLanguage || ofTypedClient) continue;
      if (sample.language === 'ts') writeFileSync(join(folder, sample.name), here(sample.code));
      const command = sample.language === 'ts' ? `node ${sample.name}` : here(sample.code);
      expectShown(blocks, sample.name, await shell.paste(command));
    }
  },
);

it('every sample of curl has worked', () => {
  // `samples.proof.test.ts` has the settings of a service that is not local.
  const elsewhere = ['local.sh', 'settings.sh'];
  const names = samples.filter(({ language }) => language === 'bash').map(({ name }) => name);
  expect(names.filter((name) => !worked.has(name)).sort()).toEqual(elsewhere);
});

/** What samples that do the same in other languages have in common. */
const stem = ({ name }: Block) => name.split('.')[0];

const demo = (): Demo => readJson(clone.folder, '.local/demo.json');

it('nothing of all this shows up in git status', () => {
  expect(clone.changes()).toBe('');
});

it('a failure looks as the guide shows it', async () => {
  const [, failure] = (guides.get('errors') ?? []).filter(({ language }) => language === 'json');
  const body = { connectionIds: [], url: 'https://claims.example.com', httpVerb: 'GET' };
  const wrong = { ...body, notificationTypes: [1] };
  const reply = await api(demo(), demo().apiToken, 'POST', '/webhook', wrong);
  const shown = JSON.parse(masked(failure?.code ?? ''));
  expect(JSON.parse(masked(JSON.stringify(reply)))).toEqual(shown);
});

it('an email is printed, with its link', async () => {
  const { baseUrl, portalSignInUrl } = demo();
  const body = new URLSearchParams({ email: 'demo@fleet.example' });
  await fetch(`${baseUrl}/portal/sign-in`, { method: 'POST', headers: { origin: baseUrl }, body });
  const link = portalSignInUrl.replace(/secret=.*/, 'secret=');
  await until('it is printed', () =>
    service.printed().includes(`EMAIL  to demo@fleet.example: Your sign-in link  ${link}`),
  );
});

it('a new migration asks for a restart', async () => {
  writeFileSync(join(clone.folder, 'migrations/9999_new.sql'), 'create table new (id text);\n');
  await until('it is printed', () =>
    service.printed().includes('The database lacks 9999_new.sql. Restart to migrate.'),
  );
});

it('the service ends with npm, and the next start migrates and keeps the data', {
  tags: ['proof'],
}, async () => {
  const before = demo();
  await service.stop();
  service = await npmStart(clone.folder, Number(ports.get('8787')), '--quiet');
  await until('it has printed where everything is', () => service.printed().includes('Ctrl-C'), 60);
  const accounts = await fleetJson<object[]>(demo(), 'account list');
  expect(accounts).toMatchObject([{ id: before.accountId }]);
  expect(service.printed()).not.toContain('Restart to migrate');
});

it('the service is said to have ended when it ends by itself', async () => {
  process.kill(-Number(readText(join(clone.folder, '.local/wrangler.pid'))));
  await until('it is printed', () =>
    service.printed().includes('npm start: the service has ended by itself; see '),
  );
});
