import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DevServer, startDev } from '../../src/cli/local/dev.ts';
import { type Received, startReceiver } from '../../src/cli/local/receiver.ts';
import type { Stack } from '../../src/cli/local/stack.ts';
import { root } from '../../src/cli/project/paths.ts';
import { api, fleetJson, journeyAccount, stackFolder, until } from '../support/node/journey.ts';

/** What a provider documents that it posts, as if it had happened now: nobody is told of what is years old. */
const fixture = (name: string) =>
  readFileSync(join(root, 'test/examples/connector', name), 'utf8').replaceAll(
    /20(19|25)-\d\d-\d\dT[\d:]+Z/g,
    new Date().toISOString(),
  );
const samsaraSecret = Buffer.from('a secret of thirty-two bytes, or so').toString('base64');
const motiveSecret = 'd9d36bea41c44ae49d1bfc4a48ba2abe';

const folder = stackFolder();
let stack: Stack;
let connector: DevServer;
let us: Awaited<ReturnType<typeof journeyAccount>>;
beforeAll(async () => {
  stack = await folder.start();
  us = await journeyAccount(stack);
  const key = await fleetJson<{ value: string }>(
    stack,
    ...['ingest-key', 'issue', '--connection', us.connectionId, '--name', 'motive'],
  );
  connector = await startConnector({
    SAMSARA_SECRET: samsaraSecret,
    SAMSARA_INGEST_KEY: us.ingestKey,
    MOTIVE_SECRET: motiveSecret,
    MOTIVE_INGEST_KEY: key.value,
  });
});
afterAll(async () => {
  await connector?.stop();
  await stack.stop();
  folder.remove();
});

/** Runs the example beside the service, as a separate Worker that is bound to it. */
function startConnector(secrets: { [name: string]: string }): Promise<DevServer> {
  const directory = dirname(stack.certificates.caFile);
  const secretsFile = join(directory, 'connector.env');
  writeFileSync(
    secretsFile,
    Object.entries(secrets)
      .map((pair) => pair.join('='))
      .join('\n'),
  );
  return startDev(join(directory, 'connector'), {
    config: join(root, 'src/dev/examples/connector/wrangler.toml'),
    port: 0,
    env: { WRANGLER_REGISTRY_PATH: join(directory, 'registry') },
    args: ['--env-file', secretsFile, '--persist-to', join(directory, 'connector/state')],
  });
}

const post = (path: string, body: string, headers: Record<string, string>) =>
  fetch(connector.baseUrl + path, { method: 'POST', body, headers });

const samsaraHeaders = (body: string, secret = samsaraSecret) => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret, 'base64');
  const signature = createHmac('sha256', key).update(`v1:${timestamp}:${body}`).digest('hex');
  return { 'X-Samsara-Timestamp': timestamp, 'X-Samsara-Signature': `v1=${signature}` };
};
const motiveHeaders = (body: string) => ({
  'X-KT-Webhook-Signature': createHmac('sha1', motiveSecret).update(body).digest('hex'),
});

it('what Samsara and Motive post, signed, ends as deliveries; what is signed wrongly does not', async () => {
  const got: Received[] = [];
  const receiver = await startReceiver(stack.certificates, 0, (received) => got.push(received));
  await api(stack, us.token, 'POST', '/webhook', {
    connectionIds: [us.connectionId],
    url: receiver.url,
    httpVerb: 'POST',
    notificationTypes: [2],
  });
  const speeding = fixture('samsara-severe-speeding.json');
  const swerving = fixture('motive-lane-swerving.json');

  expect((await post('/samsara', speeding, samsaraHeaders(speeding, btoa('another')))).status).toBe(401);
  expect((await post('/motive', swerving, motiveHeaders('{}'))).status).toBe(401);
  const told = await post('/samsara', speeding, samsaraHeaders(speeding));
  expect(await told.json()).toMatchObject({ accepted: 2, rejected: [] });
  expect((await post('/motive', swerving, motiveHeaders(swerving))).status).toBe(200);
  expect((await post('/motive', swerving, motiveHeaders(swerving))).status).toBe(200); // its second try
  const ping = '{"eventId":"1","eventType":"Ping"}';
  expect((await post('/samsara', ping, samsaraHeaders(ping))).status).toBe(200);

  await until('both are delivered', () => got.length >= 2);
  const data = got.map(({ body }) => body.data);
  expect(data).toContainEqual(
    expect.objectContaining({
      vehicleName: 'Fleet Truck #1',
      translatedIncidentTypes: ['Speeding'],
      eventRisk: 5,
    }),
  );
  expect(data).toContainEqual(expect.objectContaining({ vehicleName: 'Vehicle 1300181' }));
  expect(got).toHaveLength(2);
  receiver.stop();
});
