import { retries } from '#src/core/webhooks/deliveries/policy.ts';
import {
  addRow,
  addRows,
  attempted,
  deliveriesOf,
  newId,
  rows,
  safetyEvent,
  settled,
  signIn,
  story,
  vehicle,
  visitor,
} from '#test/support.ts';

const { us, heard, register, happen } = story();

/** A webhook whose receiver returns this, and its pages as somebody who is signed in sees them. */
async function hookThat(
  status: number,
  { zone = 'UTC', ...changes }: { zone?: string } & object = {},
) {
  heard.responds(() => new Response('said so', { status }));
  const { id } = await register(changes);
  const { cookie } = await signIn(us);
  const { page, textAt, outcome } = visitor(
    () => `${cookie}; timezone=${encodeURIComponent(zone)}`,
  );
  const path = `/portal/webhooks/${id}`;
  return {
    id,
    page: (below = '') => page(path + below),
    show: (below = '') => textAt(path + below),
    list: () => textAt('/portal/webhooks'),
    press: (action: string, key = '') => outcome(`${path}/${action}`, { key }),
  };
}

/** The same with so many deliveries that it missed; it would take them now. */
async function missed(count: number, zone?: string) {
  const hook = await hookThat(410, { ...(zone && { zone }) });
  await happen(count);
  await settled(hook.id, count, 'failed');
  heard.returns(200);
  return hook;
}

it('a webhook that fails shows that everywhere, and is tried at the press of a button', async () => {
  const { id, show, list, press } = await hookThat(503);
  await happen(6);
  await expect.poll(() => show()).toContain('Paused after');
  for (const [page, said] of [
    [
      await show(),
      /Paused until \d\d:\d\d.* Paused after \d failures in a row\. Its receiver returns 503 Service Unavailable\. 6 deliveries are waiting, and no attempt is spent on them\. Next attempt at \d\d:\d\d/,
    ],
    [await show(), /Failed attempts, 24 h [56] 0 deliveries given up/],
    [await show('?state=retrying'), /Retry at \d\d:\d\d 503 Service Unavailable in \d+ ms/],
    [
      await show('?state=failed'),
      /No delivery has been given up\. [56] deliveries failed and will be attempted again\./,
    ],
    [await list(), /Paused until \d\d:\d\d/],
    [await press('test-event'), /It is waiting, because the webhook is paused\./],
  ] as const)
    expect(page).toMatch(said);
  const retried = (await deliveriesOf(id)).find(({ attempts }) => attempts === 1);
  expect(await show(`/deliveries/${retried?.id}`)).toMatch(
    new RegExp(
      `1 attempt has failed\\. Your receiver returned 503 Service Unavailable in \\d+ ms\\. Attempt 2 of ${retries.maxAttempts} follows`,
    ),
  );
  expect(await press('try')).toMatch(/Tried again\. .*503/);
  heard.returns(200);
  expect(await press('try')).toMatch(/Tried again\. .*200/);
  await settled(id, 7, 'delivered');
  expect(await show()).not.toContain('Try now');
  expect(await press('try')).toContain('Nothing is waiting for this webhook');
});

it('a delivery has its whole request without secrets, also as a command', async () => {
  const secret = { headers: { 'X-Secret': "s3cr'et" }, signing: true };
  const { id, show } = await hookThat(503, secret);
  await us.send(vehicle({ name: "Driver's truck" }), safetyEvent());
  const sent = await attempted(id);
  // The attempt is recorded with the time just before that of its body.
  const page = (await show(`/deliveries/${sent.id}`)).replaceAll(
    /("timestamp": ?)"[^"]+"/g,
    '$1"now"',
  );
  const [got] = heard.got;
  for (const name of Object.keys(got?.headers ?? {}))
    expect(page.toLowerCase()).toContain(`${name}: `);
  const command = JSON.stringify({ ...got?.body, timestamp: 'now' }).replaceAll("'", "'\\''");
  for (const said of [
    `POST ${got?.url} User-Agent: FleetDataService/`,
    `X-Secret: … Content-Type: application/json Delivery-Id: ${sent.id}`,
    'webhook-signature: v1,…',
    `{ "timestamp": "now", "type": 2, "data": { "eventId": "${got?.body.data.eventId}"`,
    `curl -i -X POST '${got?.url}' \\`,
    `--data-raw '${command}'`,
  ])
    expect(page).toContain(said);
  expect(page).not.toContain('s3cr');
});

it('deliveries are told apart and found, and counted by day, too', async () => {
  const { id, show } = await hookThat(200);
  await us.send(
    vehicle({ name: 'Truck 114', vin: 'VIN114' }),
    safetyEvent({ incidentTypes: ['Speeding'], eventRisk: 2 }),
    safetyEvent({ sourceId: 'other', incidentTypes: ['Drowsiness'], eventRisk: 5 }),
  );
  const [first] = await settled(id, 2);
  const page = await show();
  expect(page).toMatch(/Speeding Risk 2 Truck 114, VIN114 Delivered 200 in \d+ ms/);
  expect(page).toMatch(/Drowsiness Risk 5 Truck 114, VIN114 Delivered/);
  expect((await show(`?q=${first?.id}`)).match(/Risk \d/g)).toHaveLength(1);
  expect(await show('?q=nothing')).toContain('Nothing was found for “nothing”');
  const earlier = 'update webhook_hours set hour = hour - 240, slot = (slot + 480) % 720';
  await rows(`${earlier} where webhook_id = ?1`, id);
  expect(await show()).toContain('Delivered, 24 h 0');
  expect(await show('?by=day')).toContain('2 delivered');
});

it('a webhook is paused and resumed on its page, which says what waits', async () => {
  const { id, show, list, press } = await hookThat(200);
  expect(await press('pause')).toContain('Webhook paused. Deliveries wait until you resume it.');
  await happen(1);
  expect(await show()).toMatch(
    /Paused since .*\. Nothing is sent\. 1 delivery is waiting\..* Waiting 1 until you resume it.* Waiting, webhook paused/,
  );
  expect(await list()).toContain('Paused by your account');
  const [waiting] = await deliveriesOf(id);
  expect(await show(`/deliveries/${waiting?.id}`)).toContain('Waiting, webhook paused');
  expect(await press('test-event')).toContain('This webhook is paused, resume it first.');
  // What was refused did not take effect: somebody who goes back may send it again.
  const key = crypto.randomUUID();
  for (const [action, said] of [
    ['replay', 'This delivery is pending, send it now instead.'],
    ['send', 'This webhook is paused, resume it first.'],
    ['replay', 'This delivery is pending, send it now instead.'],
  ])
    expect(await press(`deliveries/${waiting?.id}/${action}`, key)).toContain(said);
  expect(await press('resume')).toContain(
    'Webhook resumed. Pending deliveries are being sent, accidents first.',
  );
  await settled(id, 1, 'delivered');
  expect(await show()).not.toContain('aused');
});

it.each([
  ['test-event', 404, /Test event sent\. Your receiver returned 404 Not Found in \d+ ms\./],
  [
    'test-accident',
    200,
    /Level 1 of a test accident sent, levels 2 and 3 follow within six seconds\. Your receiver returned 200/,
  ],
])('a page says what %s to a receiver that returns %d led to', async (action, status, said) => {
  const { press } = await hookThat(status);
  expect(await press(action)).toMatch(said);
});

describe('what a webhook missed', () => {
  it('is counted, sent by a button, and once more only if chosen, with a warning', async () => {
    const { id, show, page, press } = await missed(3);
    const question = await page('/replay');
    expect(question.text).toContain('3 deliveries can be replayed. Each keeps its Delivery-Id.');
    const sent = await question.press('Replay 3 deliveries');
    expect(sent.text).toContain('3 deliveries queued again.');
    const [one] = await settled(id, 3, 'delivered');
    expect(await show('/replay')).toContain('There is nothing to replay.');
    const all = await show('/replay?which=all&since=&until=');
    expect(all).toContain('Your receiver will see a repeat of each that it has already received.');
    expect(await press('replay?which=all')).toContain('3 deliveries queued again.');
    await settled(id, 3, 'delivered');
    expect(await press(`deliveries/${one?.id}/replay`)).toMatch(
      /Replayed: [^.]+\. Your receiver returned 200 in \d+ ms\..*your receiver will see a repeat, with the same Delivery-Id/,
    );
  });

  it('is chosen by times in the zone of the reader, which is named', async () => {
    const { show } = await missed(1, 'Asia/Kolkata');
    const inIndia = (minutes: number) =>
      new Date(Date.now() + (330 + minutes) * 60_000).toISOString().slice(0, 16);
    const page = await show(`/replay?since=${inIndia(-10)}&until=${inIndia(1)}`);
    expect(page).toContain('1 delivery can be replayed.');
    expect(page).toContain('Both in India Standard Time (Kolkata).');
    expect(await show(`/replay?since=${inIndia(1)}`)).toContain('There is nothing to replay.');
    const turned = await show('/replay?since=2026-11-20T14:30&until=2026-11-20T14:00');
    expect(turned).toContain('must be before until');
  });

  it('is left for the next call if it does not fit into one, until all is sent once', async () => {
    const { id, page } = await hookThat(410); // so that they fail again at once
    const of = { account_id: us.accountId, event_id: id };
    const { id: connection_id } = us.connection;
    await addRow('notifications', { ...of, connection_id, type: 2, data: '{}' });
    const failed = { ...of, webhook_id: id, status: 'failed', next_attempt_at: 0 };
    await addRows('deliveries', 6000, () => ({ ...failed, id: newId(Date.now() - 1000) }));
    const first = await page('/replay');
    expect(first.text).toContain('5,000 deliveries can be replayed, and perhaps more after them.');
    const rest = await first.press('Replay the first 5,000');
    expect(rest.text).toContain('1,000 deliveries can be replayed.');
    const last = await rest.press('Replay 1,000 deliveries');
    expect(last.text).toContain('1,000 deliveries queued again.');
  });
});
