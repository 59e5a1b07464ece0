// More than 15 s: the whole stack is killed and started again.
import { startReceiver } from '#src/cli/local/receiver.ts';
import { addWebhook, api, journeyAccount, ownStack, until } from '#test/support/node/journey.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';

/** `npm run proof -- --full` runs it at full size. */
const full = process.env.FULL_PROOF === '1';
const kills = full ? 10 : 1;
const notifications = full ? 2000 : 100;
const perCall = 20;

const totalOf = (got: Map<string, string[]>) =>
  [...got.values()].reduce((sum, calls) => sum + calls.length, 0);

const stack = ownStack();

it(`SIGKILL × ${kills} loses none of ${notifications} notifications`, async () => {
  const us = await journeyAccount(stack);
  /** Of each event, the Delivery-Id and the data of each call. */
  const got = new Map<string, string[]>();
  let holds = true; // the calls that are under way at the first kill
  const receiver = await startReceiver(
    stack.certificates,
    0,
    async ({ headers, body }, response) => {
      const id = String(body.data.eventId);
      const call = `${headers['delivery-id']} ${JSON.stringify(body.data)}`;
      got.set(id, [...(got.get(id) ?? []), call]);
      if (holds) await new Promise((on) => response.on('close', on));
      else await new Promise((on) => setTimeout(on, Math.random() * 30));
    },
  );
  await addWebhook(stack, us, receiver.url);
  const calls = Array.from({ length: notifications / perCall }, (_, call) =>
    Array.from({ length: perCall }, (_, i) => safetyEvent({ sourceId: `e${call * perCall + i}` })),
  );

  // A connector sends each call until it is taken in; meanwhile the power fails, again and again.
  const untaken = new Set(calls);
  let takenInTime = 0;
  for (let kill = 0; kill < kills; kill++) {
    const share = Math.ceil(calls.length / kills);
    const now = [...untaken].slice(0, share);
    const sending = (async () => {
      for (const records of now) {
        const reply = await api(stack, us.ingestKey, 'POST', '/ingest', {
          records: [vehicle(), ...records],
        });
        if (reply.status !== 200) break;
        untaken.delete(records);
        takenInTime++;
      }
    })().catch(() => {});
    await new Promise((on) => setTimeout(on, 20 + Math.random() * 600));
    await until('a call is under way', () => got.size > 0);
    stack.kill();
    holds = false;
    await sending;
    await stack.restart();
  }
  for (const records of untaken) {
    const reply = await api(stack, us.ingestKey, 'POST', '/ingest', {
      records: [vehicle(), ...records],
    });
    expect(reply.status).toBe(200);
  }
  await until(
    'all have arrived',
    async () => {
      await stack.minute();
      await new Promise((on) => setTimeout(on, 1000));
      return got.size >= notifications && totalOf(got) > notifications; // what was under way comes again
    },
    110,
  );
  receiver.stop();
  const total = totalOf(got);
  console.log(
    `SIGKILL × ${kills}: ${notifications} notifications (${takenInTime * perCall} taken in between kills), ` +
      `${got.size} arrived, ${notifications - got.size} lost, ${total - got.size} repeats`,
  );
  expect(got.size).toBe(notifications);
  expect(total).toBeGreaterThan(notifications);
  for (const calls of got.values()) expect(new Set(calls).size).toBe(1);
}, 400_000);
