import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { certificates } from '#src/cli/local/certificates.ts';
import { lineOf, startReceiver } from '#src/cli/local/receiver.ts';
import { temporaryFolder } from '#test/support/node/index.ts';

test('the receiver of npm start shows whatever it gets, and survives what is no JSON', async () => {
  const directory = temporaryFolder();
  const made = await certificates(directory);
  const lines: string[] = [];
  const receiver = await startReceiver(made, 0, (received) => lines.push(lineOf(received)));
  const ca = readFileSync(made.caFile);
  const post = (body: string) =>
    new Promise((done) => {
      const options = { method: 'POST', ca };
      request(receiver.url, options, ({ statusCode }) => done(statusCode)).end(body);
    });
  const data = { eventRisk: 4, translatedIncidentTypes: ['Speeding'], vehicleName: 'Truck 1' };
  const event = { timestamp: '2026-11-20T20:00:00.000Z', type: 2, data };
  const others = ['{"kind":"test"}', 'null', '{"data":{}}'];
  for (const body of [JSON.stringify(event), ...others]) expect(await post(body)).toBe(204);
  for (const body of ['', '{', 'a=b']) expect(await post(body)).toBe(400);
  expect(lines.map((line) => line.trim())).toEqual([
    '20:00:00  POST  event    risk 4   Speeding  Truck 1  (Delivery-Id undefined)',
    ...others.map((body) => `POST  ${body}`),
  ]);
  receiver.stop();
});
