// @module-tag proof
// More than 15 s: each sample is a process, which waits for what it gets.
import { Webhook } from 'standardwebhooks';
import { freePort } from '#src/cli/local/dev.ts';
import { accident, readText, until } from '#test/support/node/index.ts';
import {
  event,
  kept,
  type Running,
  type Settings,
  startReader,
} from '#test/support/node/reader.ts';
import { isOfReceivers, samples } from '#test/support/node/samples.ts';

const reader = await startReader();

describe.each(['ts', 'py'])('receiver.%s', (language) => {
  const cwd = reader.folderFor(`receiver-${language}`);
  let settings: Settings;
  let receiver: Running;
  let webhookId: string;

  beforeAll(async () => {
    const PORT = String(await freePort());
    const { certFile, keyFile } = reader.stack.certificates;
    settings = {
      PORT,
      TLS_CERT: certFile,
      TLS_KEY: keyFile,
      RECEIVER_URL: `https://localhost:${PORT}/fleet`,
      WEBHOOK_SECRET: `secret of ${language}`,
    };
    receiver = await listen(settings, cwd);
  });
  afterAll(() => receiver?.child.kill('SIGKILL'));

  const listen = async (settings: Settings, cwd: string) => {
    const running = reader.start(`receiver.${language}`, settings, cwd);
    await until('the receiver listens', () => running.printed.includes('listening'));
    return running;
  };
  const knock = async (settings: Settings) => (await reader.run('knock.sh', settings, cwd)).out;
  const printed = () =>
    receiver.printed.split('\n').filter((line) => /^(?:event|accident) /.test(line));

  it('takes a delivery once, though it comes twice, and also after a restart', async () => {
    expect(await knock(settings)).toBe('204\n204\n');
    await until('it is printed', () => printed().length > 0);
    expect(printed()).toEqual([
      'event 294aeb9d-4040-5e5d-b215-b1bab9373196 risk 3 Harsh Braking Truck 7',
    ]);
    receiver.child.kill('SIGKILL');
    await receiver.ended;
    receiver = await listen(settings, cwd);
    expect(await knock(settings)).toBe('204\n204\n');
    expect(kept(cwd, 'deliveries.ndjson')).toHaveLength(1);
    expect(printed()).toEqual([]);
  });

  it('refuses a wrong secret, and keeps nothing of it', async () => {
    expect(await knock({ ...settings, WEBHOOK_SECRET: 'wrong' })).toBe('401\n401\n');
    expect(kept(cwd, 'deliveries.ndjson')).toHaveLength(1);
  });

  it('is not misled by levels that come out of order and again, nor by a restart', async () => {
    const { TLS_CERT, TLS_KEY, ...plain } = settings;
    const PORT = String(await freePort());
    const RECEIVER_URL = `http://localhost:${PORT}/fleet`;
    const inbox = reader.folderFor(`accident-${language}`);
    const first = await listen({ ...plain, PORT }, inbox);
    const { out } = await reader.run('knock-accident.sh', { ...plain, RECEIVER_URL }, cwd);
    const calls = ['2, attempt 1', '1, attempt 1', '3, attempt 1', '3, attempt 2', '1, attempt 2'];
    expect(out).toBe(calls.map((call) => `level ${call}: 204\n`).join(''));
    const told = ({ printed }: Running) =>
      printed.split('\n').filter((line) => line.includes('accident '));
    await until('all are printed', () => told(first).length === 3);
    const id = '0d8bd8c6-8f5b-5a43-a0a5-9d1a6c1c8f52';
    expect(told(first)).toEqual([
      `accident ${id} level 2 vin 1FUJGLDR5CLBP8834 of Motive`,
      `late: accident ${id} level 1, level 2 is known`,
      `accident ${id} level 3 vin 1FUJGLDR5CLBP8834 of Motive`,
    ]);
    expect(kept(inbox, 'deliveries.ndjson')).toHaveLength(3);

    first.child.kill('SIGKILL');
    await first.ended;
    const second = await listen({ ...plain, PORT }, inbox);
    const again = { eventId: id, vin: '1FUJGLDR5CLBP8834', tSP: 'Motive', notificationLevel: 2 };
    const headers = { 'X-Fleet-Secret': settings.WEBHOOK_SECRET ?? '', 'Delivery-Id': 'another' };
    const body = JSON.stringify({ timestamp: new Date().toISOString(), type: 1, data: again });
    expect((await fetch(RECEIVER_URL, { method: 'POST', headers, body })).status).toBe(204);
    await until('it is printed', () => told(second).length > 0);
    expect(told(second)).toEqual([`late: accident ${id} level 2, level 3 is known`]);
  });

  it('gets an event and the levels of an accident, once register has run', async () => {
    const { out } = await reader.run(`register.${language}`, settings);
    [, webhookId = ''] = /^Webhook created ([0-9a-f-]{36})\n$/.exec(out) ?? [];
    const again = await reader.run(`register.${language}`, settings);
    expect(again.out).toContain('400 Webhook with this URL already exist');
    expect(again.code).toBe(1);

    const sent = await reader.run('provider.sh', { ...settings, INGEST_KEY: reader.us.ingestKey });
    expect(JSON.parse(sent.out).data.accepted).toBeGreaterThan(0);
    await until('the event is printed', () => printed().length === 1);
    expect(printed()[0]).toMatch(/^event [0-9a-f-]{36} risk 3 Harsh Braking Truck 7$/);

    const sourceId = `crash of ${language}`;
    await reader.us.send(
      [1, 2, 3].map((notificationLevel) => accident({ sourceId, notificationLevel })),
    );
    await until('three levels are printed', () => printed().length === 4);
    const told = printed().slice(1);
    expect(told.map((line) => line.replace(/[0-9a-f-]{36} /, '')).sort()).toEqual(
      [1, 2, 3].map((level) => `accident level ${level} vin 1FUJGLDR5CLBP8834 of Samsara`),
    );
  });

  it('is reconciled with what changed: what was not delivered is written down, once', async () => {
    const undelivered = event(`history of ${language}`, 5);
    await reader.us.send([undelivered], false);
    const { code, out } = await reader.run(`reconcile.${language}`, settings, cwd);
    expect(code).toBe(0);
    const gap = kept(cwd, 'gap.ndjson');
    expect(gap.map(({ sourceId }) => sourceId)).toContain(undelivered.sourceId);
    expect(out).toMatch(new RegExp(`^\\d+ events, ${gap.length} of them not delivered\n$`));
    const delivered = readText(cwd, 'deliveries.ndjson');
    expect(gap.filter(({ id }) => delivered.includes(id))).toEqual([]);
    const again = await reader.run(`reconcile.${language}`, settings, cwd);
    expect(again.out).toBe('0 events, 0 of them not delivered\n');
  });

  it('that was down lists what it missed, and no more', async () => {
    receiver.child.kill('SIGKILL');
    await receiver.ended;
    await reader.us.send([event(`missed by ${language}`, 0)]);
    const missed = async () => {
      const [FROM = '', TO = ''] = [-10, 1].map((minutes) =>
        new Date(Date.now() + minutes * 60_000).toISOString(),
      );
      const asked = { ...settings, FROM, TO, WEBHOOK_ID: webhookId };
      return (await reader.run(`missed.${language}`, asked, cwd)).out;
    };
    await until('it was tried', async () => (await missed()).includes('last response: connection'));
    expect(await missed()).toMatch(
      /^pending [0-9a-f-]{36} event [0-9a-f-]{36} last response: connection\n5 deliveries, 1 of them missed\n$/,
    );
    receiver = await listen(settings, cwd);
    // Its second retry comes half a minute later, where starting the receiver takes longer than the first one waits.
    const hasCome = async () => (await missed()).endsWith('5 deliveries, 0 of them missed\n');
    await until('it has come', hasCome, 60);
  });
});

const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const signedBody =
  '{"timestamp":"2026-11-20T20:00:02.114Z","type":2,"data":{"vehicleName":"Łódź"}}';

it.each(['ts', 'py'])(
  'signed-receiver.%s of the guide verifies a delivery, and refuses others',
  async (language) => {
    const PORT = String(await freePort());
    const receiver = reader.start(`signed-receiver.${language}`, {
      PORT,
      SIGNING_SECRET: signingSecret,
    });
    await until('it listens', () => receiver.printed.includes('listening'));
    const call = async (by: string, at: Date, sent = signedBody) => {
      const headers = {
        'webhook-id': 'd1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(by).sign('d1', at, signedBody),
      };
      return (await fetch(`http://localhost:${PORT}`, { method: 'POST', headers, body: sent }))
        .status;
    };
    const now = new Date();
    expect(await call(signingSecret, now)).toBe(204);
    await until('it is printed', () => receiver.printed.includes('Łódź'));
    expect(await call('whsec_b3RoZXI=', now)).toBe(401);
    expect(await call(signingSecret, now, signedBody.replace('2026', '2027'))).toBe(401);
    expect(await call(signingSecret, new Date(now.getTime() - 600_000))).toBe(401);
  },
);

it('every sample of receivers and webhooks in TypeScript and Python has been run', () => {
  const others = samples.filter((sample) => sample.language !== 'bash' && isOfReceivers(sample));
  expect([...reader.ran]).toEqual(expect.arrayContaining(others.map(({ name }) => name)));
});
