import { join, relative } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { cellName, mainCell } from '../core/platform/cells.ts';
import { demoAccount, demoPath, demoSignIn, demoWebhook } from './demo/account.ts';
import { startDemoProvider } from './demo/provider.ts';
import { sendSampleEvents } from './demo/sample-events.ts';
import { endLeftOver } from './local/dev.ts';
import { type Demo, forgetRuns, readDemo, writeDemo } from './local/directory.ts';
import { emailsIn } from './local/emails.ts';
import { whatToRestart } from './local/migrate.ts';
import { lineOf, startReceiver } from './local/receiver.ts';
import { type Stack, startStack, stateIn } from './local/stack.ts';
import { operatorOf } from './operate/client.ts';
import { wholeNumber } from './operate/context.ts';
import { printable } from './operate/print.ts';
import { localDirectory } from './project/paths.ts';

const program = new Command('npm start --')
  .description(
    'Runs the whole service on this machine, with a demo account and a receiver for its webhook.',
  )
  .option(
    '--port <port>',
    'port of the API; the next two are used, too',
    wholeNumber(1024, 65_533),
    8787,
  )
  .option('--quiet', 'send no sample events: nothing happens until you send something')
  .option(
    '--isolates <count>',
    'run it in so many isolates, as Cloudflare does',
    wholeNumber(1, 9),
    1,
  )
  .addOption(
    new Option('--cells <names>', 'run a router and these cells behind it, separated by commas')
      .argParser(cellNames)
      .conflicts('isolates'),
  )
  .option('--fresh', 'delete all data of earlier runs first')
  .parse();
type Options = {
  port: number;
  quiet?: boolean;
  fresh?: boolean;
  isolates: number;
  cells?: string[];
};
const { port, quiet, fresh, isolates, cells } = program.opts<Options>();

const logFile = join(localDirectory, 'wrangler.log');
const stopped = new AbortController();
let stack: Stack | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop(0));
// npm passes no signal on: its end shows in our having another parent.
const parent = process.ppid;
setInterval(() => process.ppid === parent || void stop(0), 1000).unref();
try {
  await run();
} catch (error) {
  if (!stopped.signal.aborted) {
    console.error(`npm start: ${error instanceof Error ? error.message : error}`);
    await stop(1);
  }
}

async function stop(code: number): Promise<void> {
  if (stopped.signal.aborted) return;
  stopped.abort();
  if (stack) await stack.stop();
  else endLeftOver(localDirectory);
  process.exit(code);
}

async function run(): Promise<void> {
  if (fresh) forgetRuns();
  const before = readDemo();
  console.log('Starting the service with local D1, KV and Queues …');
  stack = await startStack({ directory: localDirectory, port, isolates, ...(cells && { cells }) });
  const { baseUrl, operatorKey, cells: keys, certificates, minute } = stack;
  void stack.ended.then(() => {
    if (!stopped.signal.aborted)
      console.error(`npm start: the service has ended by itself; see ${logFile}`);
    return stop(1);
  });
  const receiver = await startReceiver(certificates, port + 1, (received) =>
    console.log(printable(lineOf(received))),
  );
  const provider = await startDemoProvider(certificates, port + 2, quiet === true);
  const operator = operatorOf({ ...stack, ...(cells && { cell: mainCell }) });
  const account = await demoAccount(operator, before, provider);
  provider.callAt(`${baseUrl}/providers/${account.connections[1]?.id}/webhook`);
  const url = receiver.url + demoPath;
  await demoWebhook(baseUrl, account, url);
  const portalSignInUrl = await demoSignIn(operator, account.accountId);
  const service = { baseUrl, operatorKey, cells: keys, portalSignInUrl };
  const demo = { ...account, ...service, receiver: { url, ...certificates } };
  writeDemo(demo);
  console.log(welcome(demo));
  setInterval(printNews(), 1000);
  // Cloudflare's cron, a little faster, so that due work runs soon after a restart.
  setInterval(() => minute().catch(() => {}), 10_000);
  if (!quiet) await sendSampleEvents(baseUrl, account, provider, stopped.signal);
}

/** Makes a function that prints what has happened since its last call, beside deliveries. */
function printNews(): () => void {
  const emails = emailsIn(logFile);
  let said: string | undefined;
  return () => {
    for (const line of emails()) console.log(printable(line));
    const what = whatToRestart(stateIn(localDirectory));
    if (what && what !== said) console.log(`  ${what}`);
    said = what;
  };
}

function cellNames(text: string): string[] {
  const names = [...new Set(text.split(','))];
  if (!names.includes(mainCell) || !names.every((name) => cellName.test(name)))
    throw new InvalidArgumentError(
      `They must include ${mainCell}, and be lower-case letters and digits, such as ${mainCell},eu`,
    );
  return names;
}

function welcome(demo: Demo): string {
  const [first, second] = demo.connections;
  return `
  Fleet Data Service    ${demo.baseUrl}
  Docs                  ${demo.baseUrl}/docs
  API token             ${demo.apiToken}
  Connections           ${first?.id}  ${first?.name} (motive)
                        ${second?.id}  ${second?.name} (samsara, pulled from a fake provider)
  Portal                ${demo.portalSignInUrl}
  Receiver              ${demo.receiver.url}
  Everything else       ${relative(process.cwd(), localDirectory)}/demo.json: ingest keys, operator key, certificate
  Log                   ${relative(process.cwd(), localDirectory)}/wrangler.log

  Try it:
    curl -H 'x-api-key: ${demo.apiToken}' ${demo.baseUrl}/webhooks

  Operator's tool:      npm run fleet -- --help
  Ctrl-C stops everything and keeps the data. Start with --fresh to delete it.

  Deliveries and emails as they are sent${quiet ? '' : ', starting with sample events'}:
`;
}
