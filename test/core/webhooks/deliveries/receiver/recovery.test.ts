import { env } from 'cloudflare:workers';
import {
  accidentRetryMs,
  circuitAccidentOpenings,
  circuitFirstMs,
} from '#src/core/webhooks/deliveries/policy.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import {
  accident,
  attempted,
  deliveriesOf,
  healthOf,
  listenToLog,
  makeDue,
  minute,
  newId,
  pauseFor,
  rows,
  settled,
  story,
  tryAgain,
} from '#test/support.ts';

const { heard, send, register, happen } = story();
const crash = (sourceId: string) => send(accident({ sourceId }));
const pending = async (id: string) =>
  (await deliveriesOf(id)).filter(({ status }) => status === 'pending');
/** A webhook whose receiver has failed once, a minute ago. */
const fails = async (begin: () => Promise<unknown>, headers: Record<string, string> = {}) => {
  heard.responds(() => new Response('no', { status: 503, headers }));
  const hook = await register();
  await begin();
  await attempted(hook.id);
  await rows(
    `update deliveries set log = json_set(log, '$[#-1].at', (log->>'$[#-1].at') - 60000) where webhook_id = ?1`,
    hook.id,
  );
  return hook;
};
const postpone = (id: string, ms: number, which = '1') =>
  rows(
    `update deliveries set next_attempt_at = ?2 where webhook_id = ?1 and ${which}`,
    id,
    Date.now() + ms,
  );
const openMs = async (id: string) => Number((await healthOf(id))?.openUntil) - Date.now();
const isAbout = (ms: number, expected: number) => {
  expect(ms).toBeGreaterThan(expected - 5_000);
  expect(ms).toBeLessThanOrEqual(expected);
};

describe('the circuit of a receiver', () => {
  it('opens after five failures in a row: a probe alone is sent, which opens it for longer or closes it', async () => {
    heard.returns(500);
    const { id } = await register();
    await happen(5);
    await expect.poll(() => healthOf(id)).toMatchObject({ failures: 5, openings: 1 });
    isAbout(await openMs(id), circuitFirstMs);
    await happen(3, 'later');
    await minute();
    await scheduler.wait(200);
    expect((await pending(id)).filter(({ attempts }) => attempts === 0)).toHaveLength(3);
    expect(heard.got).toHaveLength(5);
    await tryAgain(id);
    await expect.poll(() => healthOf(id)).toMatchObject({ openings: 2 });
    expect(heard.got).toHaveLength(5 + 1);
    heard.returns(200);
    await tryAgain(id);
    const closed = { failures: 0, openings: 0, openUntil: 0 };
    await expect.poll(() => healthOf(id)).toMatchObject(closed);
    // The others follow at once.
    await settled(id, 8, 'delivered');
  });

  it('counts a failure that another worker was faster to report beside', async () => {
    const { id } = await register();
    heard.responds(async () => {
      await rows('insert or replace into webhook_health (webhook_id, failures) values (?1, 3)', id);
      return new Response('no', { status: 400 });
    });
    await happen();
    await expect.poll(() => healthOf(id)).toMatchObject({ failures: 4 });
  });
});

describe('when a receiver succeeds again', () => {
  it('what waits for a retry is sent at once', async () => {
    const hook = await fails(() => crash('waits'));
    heard.returns(200);
    await postpone(hook.id, 300_000);
    await happen(1, 'after');
    await settled(hook.id, 2, 'delivered');
  });

  it('what it asked to have later is sent then, which may be at once', async () => {
    for (const [seconds, isOver] of [
      [9, true],
      [120, false],
    ] as const) {
      const busy = { 'Retry-After': String(seconds) };
      const { id } = await fails(() => happen(1, `busy ${seconds}`), busy);
      heard.returns(200);
      await postpone(id, 300_000);
      await happen(1, `after ${seconds}`);
      await settled(id, isOver ? 2 : 1, 'delivered');
      for (const { nextAttemptAt } of await pending(id))
        isAbout(nextAttemptAt - Date.now(), (seconds - 60) * 1000);
    }
  });

  it('what is due much later waits for its time, unless the circuit was open', async () => {
    const { id } = await fails(() => happen(1, 'poison'));
    const later = () => postpone(id, 7e6, 'attempts > 0');
    await later();
    heard.returns(200);
    await happen(1, 'after');
    await settled(id, 1, 'delivered');
    expect(await pending(id)).toHaveLength(1);
    heard.returns(500);
    await happen(5, 'outage');
    await expect.poll(() => healthOf(id)).toMatchObject({ openings: 1 });
    const attempts = async () => (await pending(id)).map((one) => one.attempts);
    await expect.poll(attempts).toEqual([1, 1, 1, 1, 1, 1]);
    await makeDue(id);
    await later();
    await postpone(id, -1, 'id = (select max(id) from deliveries where webhook_id = ?1)');
    heard.returns(200);
    await minute();
    await settled(id, 7, 'delivered');
  });

  it('an accident that has just failed is not, nor what the receiver asked to have later', async () => {
    heard.responds(() => new Response('busy', { status: 503, headers: { 'Retry-After': '9' } }));
    const { id } = await register();
    await happen(1, 'busy');
    await attempted(id);
    heard.returns(500);
    await crash('just now');
    await expect
      .poll(async () => (await pending(id)).map(({ attempts }) => attempts))
      .toEqual([1, 1]);
    heard.returns(200);
    await happen(1, 'after');
    await settled(id, 1, 'delivered');
    expect((await pending(id)).every((one) => one.nextAttemptAt > Date.now())).toBe(true);
  });
});

describe('while an accident waits', () => {
  it('the circuit opens for a short time', async () => {
    const { id } = await fails(() => crash('outage'));
    const openings = circuitAccidentOpenings;
    await pauseFor(id, 900_000, openings - 1);
    await tryAgain(id);
    await expect.poll(() => healthOf(id)).toMatchObject({ openings });
    isAbout(await openMs(id), accidentRetryMs);
  });

  it('a circuit that is open for longer is probed sooner, once an accident comes in', async () => {
    const { id } = await register();
    await pauseFor(id, 900_000, 60);
    await happen(1, 'event');
    expect(await openMs(id)).toBeGreaterThan(800_000);
    await crash('new');
    await expect.poll(() => openMs(id)).toBeLessThanOrEqual(accidentRetryMs);
    expect(heard.got).toEqual([]);
  });
});

it('an accident that is late by five minutes is logged, even while the circuit is open', async () => {
  const hooks = [await fails(() => crash('late')), await fails(() => crash('late too'))];
  const late = async () => {
    const { lines } = listenToLog();
    await sweep(env);
    return lines('fault').filter(({ message }) => /^An accident has not/.test(String(message)));
  };
  for (const { id } of hooks) await pauseFor(id, 1e12);
  expect(await late()).toEqual([]);
  const expected = [];
  for (const { id: webhookId } of hooks) {
    const [one] = await pending(webhookId);
    const deliveryId = newId(Date.now() - 300_001);
    await rows('update deliveries set id = ?1 where id = ?2', deliveryId, one?.id);
    expected.push({ level: 'error', webhookId, deliveryId, webhooks: 2 });
  }
  expect(await late()).toMatchObject(expected);
});
