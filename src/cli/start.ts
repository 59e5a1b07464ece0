import { relative } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { demoAccount, demoPath, demoSignIn, demoWebhook, trickle } from './demo/account.ts';
import { type Demo, forgetRuns, localDirectory, readDemo, writeDemo } from './local/directory.ts';
import { type Received, startReceiver } from './local/receiver.ts';
import { startStack } from './local/stack.ts';
import { operatorOf } from './operate/client.ts';

const program = new Command('npm start --')
  .description('Runs the whole service on this machine, with a demo account and a receiver of its webhook.')
  .option('--port <port>', 'where the API listens; the receiver takes the next port', asPort, 8787)
  .option('--quiet', 'no made-up events: nothing happens until you send something')
  .option('--fresh', 'forget all data of earlier runs')
  .parse();
const { port, quiet, fresh } = program.opts<{ port: number; quiet?: boolean; fresh?: boolean }>();

function asPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1024 || port > 65_534)
    throw new InvalidArgumentError('a port is a whole number from 1024 to 65534');
  return port;
}

try {
  await run();
} catch (error) {
  console.error(`npm start: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function run(): Promise<void> {
  if (fresh) forgetRuns();
  const before = readDemo();
  console.log('Starting the service on local D1, KV and Queues …');
  const stack = await startStack({ directory: localDirectory, port });
  const stopped = new AbortController();
  const stop = async (code: number) => {
    stopped.abort();
    await stack.stop();
    process.exit(code);
  };
  process.on('SIGINT', () => void stop(0));
  process.on('SIGTERM', () => void stop(0));
  try {
    const receiver = await startReceiver(stack.certificates, port + 1, ({ ...received }) =>
      console.log(line(received)),
    );
    const account = await demoAccount(operatorOf(stack.baseUrl, stack.operatorKey), before);
    const url = receiver.url + demoPath;
    await demoWebhook(stack.baseUrl, account, url);
    const portalSignInUrl = await demoSignIn(operatorOf(stack.baseUrl, stack.operatorKey), account);
    const demo: Demo = {
      baseUrl: stack.baseUrl,
      accountId: account.accountId,
      apiToken: account.apiToken,
      operatorKey: stack.operatorKey,
      connections: account.connections,
      portalSignInUrl,
      receiver: { url, ...stack.certificates },
    };
    writeDemo(demo);
    console.log(welcome(demo));
    // Cloudflare's clock, by hand and a little faster, so that what was due wakes soon after a restart.
    setInterval(() => stack.minute().catch(() => {}), 10_000);
    if (!quiet) await trickle(stack.baseUrl, account, stopped.signal);
  } catch (error) {
    if (stopped.signal.aborted) return;
    console.error(`npm start: ${error instanceof Error ? error.message : error}`);
    await stop(1);
  }
}

function welcome(demo: Demo): string {
  const [first, second] = demo.connections;
  return `
  Fleet Data Service    ${demo.baseUrl}
  API token             ${demo.apiToken}
  Connections           ${first?.id}  ${first?.name} (motive)
                        ${second?.id}  ${second?.name} (samsara)
  Portal                ${demo.portalSignInUrl}
  Receiver              ${demo.receiver.url}
  Everything else       ${relative(process.cwd(), localDirectory)}/demo.json: ingest keys, operator key, certificate

  Try it:
    curl -H 'x-api-key: ${demo.apiToken}' ${demo.baseUrl}/webhooks

  The operator's tool:  npm run fleet -- --help
  Ctrl-C stops everything; the data stays. --fresh begins anew.

  Deliveries as they arrive${quiet ? '' : ', first of made-up events'}:
`;
}

function line({ method, headers, body }: Received): string {
  const time = body.timestamp.slice(11, 19);
  const { data } = body;
  const what =
    body.type === 1
      ? `ACCIDENT level ${data.notificationLevel}  ${data.tSP}  VIN ${data.vin}`
      : `event    risk ${data.eventRisk}   ${(data.translatedIncidentTypes as string[]).join(', ')}  ${data.vehicleName}`;
  return `  ${time}  ${method}  ${what}  (Delivery-Id ${headers['delivery-id']})`;
}
