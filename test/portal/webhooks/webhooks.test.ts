import { newId } from '#src/core/platform/db/ids.ts';
import { retries } from '#src/core/webhooks/deliveries/policy.ts';
import { attempted, deliveriesOf, settled } from '#test/support/deliveries.ts';
import { signIn, visitor } from '#test/support/portal.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { as } from '#test/support/world.ts';

const tale = story();

/** A webhook whose receiver answers so, and its pages as somebody who is signed in sees them. */
async function hookThat(status: number, zone = 'UTC', changes = {}) {
  tale.heard.responds(() => new Response('said so', { status }));
  const { id } = await tale.register(changes);
  const { cookie } = await signIn(tale.us);
  const { page, textAt, outcome } = visitor(
    () => `${cookie}; timezone=${encodeURIComponent(zone)}`,
  );
  const path = `/portal/webhooks/${id}`;
  return {
    id,
    page: (below = '') => page(path + below),
    show: (page = '') => textAt(path + page),
    list: () => textAt('/portal/webhooks'),
    delivery: (deliveryId = '') => textAt(`${path}/deliveries/${deliveryId}`),
    press: (action: string, fields: Parameters<typeof outcome>[1] = {}) =>
      outcome(`${path}/${action}`, fields),
  };
}

/** The same with so many deliveries that it missed; it would take them now. */
async function missed(count: number, zone?: string) {
  const hook = await hookThat(410, zone);
  await tale.happen(count);
  await settled(hook.id, count, ['failed']);
  tale.heard.responds(() => new Response('ok'));
  return hook;
}

describe('a webhook that fails', () => {
  it('shows failing attempts everywhere, and is tried at the press of a button', async () => {
    const { id, show, list, delivery, press } = await hookThat(503);
    await tale.happen(6);
    await expect.poll(() => show()).toContain('Paused after');
    const page = await show();
    for (const said of [
      /Paused until \d\d:\d\d/,
      /Paused after \d failures in a row\. Its receiver returns 503 Service Unavailable\./,
      /6 deliveries are waiting, and no attempt is spent on them\. Next attempt at \d\d:\d\d/,
      /Failed attempts, 24 h [56] 0 deliveries given up/,
    ])
      expect(page).toMatch(said);
    expect(await show('?state=retrying')).toMatch(
      /Retry at \d\d:\d\d 503 Service Unavailable in \d+ ms/,
    );
    expect(await show('?state=failed')).toMatch(
      /No delivery has been given up\. [56] deliveries failed and will be attempted again\./,
    );
    expect(await list()).toMatch(/Paused until \d\d:\d\d/);
    expect(await press('test-event')).toContain('It is waiting, because the webhook is paused.');
    const retried = (await deliveriesOf(id)).find(({ attempts }) => attempts === 1);
    expect(await delivery(retried?.id)).toMatch(
      new RegExp(
        `1 attempt has failed\\. Your receiver returned 503 Service Unavailable in \\d+ ms\\. Attempt 2 of ${retries.maxAttempts} follows`,
      ),
    );
    expect(await press('try')).toMatch(/Tried again\. .*503/);
    tale.heard.returns(200);
    expect(await press('try')).toMatch(/Tried again\. .*200/);
    await settled(id, 7, ['delivered']);
    expect(await show()).not.toContain('Try now');
    expect(await press('try')).toContain('Nothing is waiting for this webhook');
  });

  it('shows the whole request of a delivery without secrets, also as a command', async () => {
    const secret = { headers: { 'X-Secret': "s3cr'et" }, signing: true };
    const { id, delivery } = await hookThat(503, undefined, secret);
    await tale.us.send(vehicle({ name: "Driver's truck" }), safetyEvent());
    const sent = await attempted(id);
    // The attempt is recorded with the time just before that of its body.
    const page = (await delivery(sent.id)).replaceAll(/("timestamp": ?)"[^"]+"/g, '$1"now"');
    const [got] = tale.heard.got;
    for (const name of Object.keys(got?.headers ?? {}))
      expect(page.toLowerCase()).toContain(`${name}: `);
    expect(page).toContain(`POST ${got?.url} User-Agent: FleetDataService/`);
    expect(page).toContain(`X-Secret: … Content-Type: application/json Delivery-Id: ${sent.id}`);
    expect(page).toContain('webhook-signature: v1,…');
    expect(page).not.toContain('s3cr');
    const { eventId } = got?.body.data ?? {};
    expect(page).toContain(`{ "timestamp": "now", "type": 2, "data": { "eventId": "${eventId}"`);
    const command = JSON.stringify({ ...got?.body, timestamp: 'now' }).replaceAll("'", "'\\''");
    expect(page).toContain(`curl -i -X POST '${got?.url}' \\`);
    expect(page).toContain(`--data-raw '${command}'`);
  });

  it('tells deliveries apart, and finds them', async () => {
    const { id, show } = await hookThat(200);
    const { ingestKey } = tale.us.connection;
    await as(ingestKey).send(
      vehicle({ sourceId: 'a', name: 'Truck 114', vin: 'VIN114' }),
      vehicle({ sourceId: 'b', name: 'Truck 207', vin: 'VIN207' }),
      safetyEvent({ sourceId: 'e1', vehicle: 'a', incidentTypes: ['Speeding'], eventRisk: 2 }),
      safetyEvent({ sourceId: 'e2', vehicle: 'b', incidentTypes: ['Drowsiness'], eventRisk: 5 }),
    );
    await settled(id, 2);
    const page = await show();
    expect(page).toMatch(/Speeding Risk 2 Truck 114, VIN114 Delivered 200 in \d+ ms/);
    expect(page).toMatch(/Drowsiness Risk 5 Truck 207, VIN207 Delivered/);
    const found = await show('?q=VIN207');
    expect([found.includes('Drowsiness'), found.includes('Speeding')]).toEqual([true, false]);
    expect(await show('?q=nothing')).toContain('Nothing was found for “nothing”');
  });

  it('shows what it did by day, too', async () => {
    const { id, show } = await hookThat(200);
    await tale.happen(2);
    await settled(id, 2);
    const earlier = 'update webhook_hours set hour = hour - 240, slot = (slot + 480) % 720';
    await rows(`${earlier} where webhook_id = ?1`, id);
    expect(await show()).toContain('Delivered, 24 h 0');
    expect(await show('?by=day')).toContain('2 delivered');
  });
});

it('a webhook is paused and resumed on its page, which says what waits', async () => {
  const { id, show, list, press, delivery } = await hookThat(200);
  expect(await press('pause')).toContain('Webhook paused. Deliveries wait until you resume it.');
  await tale.happen(1);
  const page = await show();
  expect(page).toMatch(
    /Paused since .*\. Nothing is sent\. 1 delivery is waiting\..* Waiting 1 until you resume it/,
  );
  expect(page).toContain('Waiting, webhook paused');
  expect(await list()).toContain('Paused by your account');
  expect(await delivery((await deliveriesOf(id))[0]?.id)).toContain('Waiting, webhook paused');
  expect(await press('test-event')).toContain('This webhook is paused, resume it first.');
  expect(await press('resume')).toContain(
    'Webhook resumed. Pending deliveries are being sent, accidents first.',
  );
  await settled(id, 1, ['delivered']);
  expect(await show()).not.toContain('aused');
});

it.each([
  ['test-event', 200, /Test event sent\. Your receiver returned 200 in \d+ ms\./],
  ['test-event', 404, /Test event sent\. Your receiver returned 404 Not Found in \d+ ms\./],
  [
    'test-accident',
    200,
    /Level 1 of a test accident sent, levels 2 and 3 follow within six seconds\. Your receiver returned 200/,
  ],
  ['delete', 200, /Webhook "receiver.example.com" was deleted\./],
])('a page says what %s to a receiver that returns %d led to', async (action, status, said) => {
  const { press } = await hookThat(status);
  expect(await press(action)).toMatch(said);
});

it('shows the query of a URL to those who may change it, and not to viewers', async () => {
  const { id } = await tale.register({ url: 'https://receiver.example.com/hook?key=s3cret&t0ken' });
  await signIn(tale.us); // an account's first user is its admin
  for (const [role, shown] of [
    ['member', '/hook?key=s3cret&t0ken'],
    ['viewer', '/hook?key=…&…'],
  ] as const) {
    const { textAt } = await signIn(tale.us, role);
    for (const path of ['/portal/webhooks', `/portal/webhooks/${id}`]) {
      const text = await textAt(path);
      expect(text).toContain(shown);
      if (role === 'viewer') expect(text).not.toMatch(/s3cret|t0ken/);
    }
  }
});

describe('what a webhook missed', () => {
  it('is counted, sent by a button, and once more only if chosen, with a warning', async () => {
    const { id, show, page, press, delivery } = await missed(3);
    const question = await page('/replay');
    expect(question.text).toContain('3 deliveries can be replayed. Each keeps its Delivery-Id.');
    const [{ id: deliveryId } = { id: '' }] = await deliveriesOf(id);
    expect(await delivery(deliveryId)).not.toContain('will see a repeat');
    expect((await question.press('Replay 3 deliveries')).text).toContain(
      '3 deliveries queued again.',
    );
    await settled(id, 3, ['delivered']);
    expect(await show('/replay')).toContain('There is nothing to replay.');
    const all = await show('/replay?which=all&since=&until=');
    expect(all).toContain('Your receiver will see a repeat of each that it has already received.');
    expect(await press('replay?which=all')).toContain('3 deliveries queued again.');
    await settled(id, 3, ['delivered']);
    const replayed = await press(`deliveries/${deliveryId}/replay`);
    expect(replayed).toMatch(/Replayed: [^.]+\. Your receiver returned 200 in \d+ ms\./);
    expect(replayed).toContain('your receiver will see a repeat, with the same Delivery-Id');
  });

  it('is chosen by times in the zone of the reader, which is named', async () => {
    const { show } = await missed(1, 'Asia/Kolkata');
    const inIndia = (ms: number) =>
      new Date(Date.now() + 5.5 * 3_600_000 + ms).toISOString().slice(0, 16);
    const page = await show(`/replay?since=${inIndia(-600_000)}&until=${inIndia(60_000)}`);
    expect(page).toContain('1 delivery can be replayed.');
    expect(page).toContain('Both in India Standard Time (Kolkata).');
    expect(await show(`/replay?since=${inIndia(60_000)}`)).toContain('There is nothing to replay.');
    const turned = await show('/replay?since=2026-11-20T14:30&until=2026-11-20T14:00');
    expect(turned).toContain('must be before until');
  });

  it('is left for the next call if it does not fit into one, until all is sent once', async () => {
    const { id, page } = await hookThat(410); // so that they fail again at once
    const of = { account_id: tale.us.accountId, event_id: id };
    const { id: connection_id } = tale.us.connection;
    await addRows('notifications', 1, () => ({ ...of, connection_id, type: 2, data: '{}' }));
    const failed = { ...of, webhook_id: id, status: 'failed', next_attempt_at: 0 };
    await addRows('deliveries', 6000, () => ({ ...failed, id: newId(Date.now() - 1000) }));
    const first = await page('/replay');
    expect(first.text).toContain('5,000 deliveries can be replayed, and perhaps more after them.');
    const rest = await first.press('Replay the first 5,000');
    expect(rest.text).toContain('1,000 deliveries can be replayed.');
    expect((await rest.press('Replay 1,000 deliveries')).text).toContain(
      '1,000 deliveries queued again.',
    );
  });
});
