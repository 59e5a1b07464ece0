// @module-tag proof
// More than 15 s: the whole stack is killed and started again.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  journeyAccount,
  ownStack,
  safetyEvent,
  startReceiver,
  times,
  until,
  vehicle,
} from '#test/support/node/index.ts';

/** `npm run proof -- --full` runs it at full size. */
const full = process.env.FULL_PROOF === '1';
const kills = full ? 10 : 1;
const notifications = full ? 2000 : 100;
const perCall = 20;

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
      await (holds ? once(response, 'close') : wait(Math.random() * 30));
    },
  );
  await us.register(receiver.url);
  const total = () => [...got.values()].flat().length;
  const send = (events: object[]) => us.send([vehicle(), ...events]);
  const calls = times(notifications / perCall, (call) =>
    times(perCall, (i) => safetyEvent({ sourceId: `e${call * perCall + i}` })),
  );

  // A connector sends each call until it is taken in; meanwhile the power fails, again and again.
  const untaken = new Set(calls);
  for (let kill = 0; kill < kills; kill++) {
    const share = Math.ceil(calls.length / kills);
    const now = [...untaken].slice(0, share);
    const sending = (async () => {
      for (const records of now) {
        if ((await send(records)).status !== 200) break;
        untaken.delete(records);
      }
    })().catch(() => {});
    await wait(20 + Math.random() * 600);
    await until('a call is under way', () => got.size > 0);
    stack.kill();
    holds = false;
    await sending;
    await stack.restart();
  }
  for (const records of untaken) expect((await send(records)).status).toBe(200);
  await until(
    'all have arrived',
    async () => {
      await stack.minute();
      await wait(1000);
      return got.size >= notifications && total() > notifications; // what was under way comes again
    },
    110,
  );
  receiver.stop();
  expect(got.size).toBe(notifications);
  expect(total()).toBeGreaterThan(notifications);
  for (const calls of got.values()) expect(new Set(calls).size).toBe(1);
}, 400_000);
