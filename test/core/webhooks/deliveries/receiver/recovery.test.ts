import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { minuteMs } from '#src/core/platform/durations.ts';
import {
  accidentRetryMs,
  circuitAccidentOpenings,
  circuitFirstMs,
} from '#src/core/webhooks/deliveries/policy.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import { attempted, deliveriesOf, makeDue, pauseFor, settled } from '#test/support/deliveries.ts';
import { listenToLog } from '#test/support/log.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { minute } from '#test/support/service.ts';
import { story } from '#test/support/story.ts';

const { us, heard, send, register, happen } = story();
const fail = () => new Response('no', { status: 500 });
const ok = () => new Response('ok');
const crash = (sourceId: string) => send(accident({ sourceId }));
const pending = async (id: string) =>
  (await deliveriesOf(id)).filter(({ status }) => status === 'pending');
/** The latest attempts were made some time ago. */
const timePasses = (id: string, seconds = 60) =>
  rows(
    `update deliveries set log = json_set(log, '$[#-1].at', (log->>'$[#-1].at') - ?2) where webhook_id = ?1`,
    id,
    seconds * 1000,
  );
const fails = async (begin: () => Promise<unknown>) => {
  heard.responds(fail);
  const hook = await register();
  await begin();
  await attempted(hook.id);
  await timePasses(hook.id);
  return hook;
};
const opens = async (id: string) => {
  const [row] = await rows<{ failures: number; openings: number; openUntil: number }>(
    'select failures, openings, open_until as openUntil from webhook_health where webhook_id = ?1',
    id,
  );
  return { ...row, ms: Number(row?.openUntil) - Date.now() };
};
const count = (url: string) => heard.got.filter((got) => got.url === url).length;

const withOpenCircuit = async () => {
  heard.responds(fail);
  const hook = await register();
  await happen(5);
  await expect.poll(() => opens(hook.id)).toMatchObject({ failures: 5, openings: 1 });
  return hook;
};

describe('the circuit of a receiver', () => {
  it('opens after five failures in a row, and then nothing is sent nor spent', async () => {
    const hook = await withOpenCircuit();
    const { ms, openUntil } = await opens(hook.id);
    expect(ms).toBeGreaterThan(circuitFirstMs - 5000);
    expect(ms).toBeLessThanOrEqual(circuitFirstMs);
    await happen(3, 'later');
    await minute();
    await scheduler.wait(200);
    expect((await deliveriesOf(hook.id)).filter(({ attempts }) => attempts === 0)).toHaveLength(3);
    expect(count(hook.url)).toBe(5);
    expect((await us.api.get(`/webhook/${hook.id}?include=state`)).data).toMatchObject({
      state: {
        status: 'waiting',
        failures: 5,
        nextAttemptAt: new Date(Number(openUntil)).toISOString(),
      },
    });
    expect(JSON.stringify((await us.api.get('/webhooks')).data)).not.toContain('failures');
  });

  it('lets one probe through, which opens it for longer or closes it', async () => {
    const hook = await withOpenCircuit();
    await makeDue(hook.id);
    await minute();
    await expect.poll(() => opens(hook.id)).toMatchObject({ openings: 2 });
    expect(count(hook.url)).toBe(5 + 1);
    heard.returns(200);
    await makeDue(hook.id);
    await minute();
    await expect
      .poll(() => opens(hook.id))
      .toMatchObject({ failures: 0, openings: 0, openUntil: 0 });
    // The others follow at once.
    await settled(hook.id, 5, ['delivered']);
  });

  it('counts a failure that another worker was faster to report beside', async () => {
    const hook = await register();
    heard.responds(async () => {
      await rows(
        'insert or replace into webhook_health (webhook_id, failures) values (?1, 3)',
        hook.id,
      );
      return new Response('no', { status: 400 });
    });
    await happen();
    await expect.poll(() => opens(hook.id)).toMatchObject({ failures: 4 });
  });
});

describe('when a receiver succeeds again', () => {
  it('what waits for a retry is sent at once', async () => {
    const hook = await fails(() => crash('waits'));
    heard.responds(ok);
    await rows(
      `update deliveries set next_attempt_at = ?2 where webhook_id = ?1`,
      hook.id,
      Date.now() + 300_000,
    );
    await happen(1, 'after');
    await settled(hook.id, 2, ['delivered']);
  });

  it('what is due much later waits for its time, unless the circuit was open', async () => {
    const hook = await fails(() => happen(1, 'poison'));
    const later = () =>
      rows(
        `update deliveries set next_attempt_at = ?2 where attempts > 0 and webhook_id = ?1`,
        hook.id,
        Date.now() + 7e6,
      );
    await later();
    heard.responds(ok);
    await happen(1, 'after');
    await settled(hook.id, 1, ['delivered']);
    expect(await pending(hook.id)).toHaveLength(1);
    heard.responds(fail);
    await happen(5, 'outage');
    await expect.poll(() => opens(hook.id)).toMatchObject({ openings: 1 });
    await makeDue(hook.id);
    await later();
    await rows(
      `update deliveries set next_attempt_at = ?2 where webhook_id = ?1
        and id = (select max(id) from deliveries where webhook_id = ?1)`,
      hook.id,
      Date.now() - minuteMs,
    );
    heard.responds(ok);
    await minute();
    await settled(hook.id, 7, ['delivered']);
  });

  it('an accident that has just failed is not, nor what the receiver asked to have later', async () => {
    heard.responds(() => new Response('busy', { status: 503, headers: { 'Retry-After': '9' } }));
    const hook = await register();
    await happen(1, 'busy');
    await attempted(hook.id);
    heard.responds(fail);
    await crash('just now');
    await expect
      .poll(async () => (await pending(hook.id)).filter((one) => one.attempts > 0))
      .toHaveLength(2);
    heard.responds(ok);
    await happen(1, 'after');
    await settled(hook.id, 1, ['delivered']);
    expect((await pending(hook.id)).every((one) => one.nextAttemptAt > Date.now())).toBe(true);
  });
});

describe('while an accident waits', () => {
  it('the circuit opens for a short time', async () => {
    const hook = await fails(() => crash('outage'));
    await pauseFor(hook.id, 900_000, circuitAccidentOpenings - 1);
    await makeDue(hook.id);
    await minute();
    await expect.poll(() => opens(hook.id)).toMatchObject({ openings: circuitAccidentOpenings });
    expect((await opens(hook.id)).ms).toBeGreaterThan(accidentRetryMs - 5_000);
    expect((await opens(hook.id)).ms).toBeLessThanOrEqual(accidentRetryMs);
  });

  it('a circuit that is open for longer is probed sooner, once an accident comes in', async () => {
    heard.responds(fail);
    const hook = await register();
    await pauseFor(hook.id, 900_000, 60);
    await happen(1, 'event');
    expect((await opens(hook.id)).ms).toBeGreaterThan(800_000);
    await crash('new');
    await expect.poll(async () => (await opens(hook.id)).ms).toBeLessThanOrEqual(accidentRetryMs);
    const [health] = await rows(
      'select timer_at as at from webhook_health where webhook_id = ?1',
      hook.id,
    );
    await expect.poll(() => Number(health?.at) - Date.now()).toBeLessThanOrEqual(accidentRetryMs);
    expect(
      await env.DB.prepare(
        'select count(*) as n from deliveries where attempts > 0 and webhook_id = ?1',
      )
        .bind(hook.id)
        .first('n'),
    ).toBe(0);
  });
});

it('an accident that is late by five minutes is logged, even while the circuit is open', async () => {
  const hooks = [await fails(() => crash('late')), await fails(() => crash('late too'))];
  const late = async () => {
    const listening = listenToLog();
    await sweep(env);
    return listening
      .lines('fault')
      .filter(({ message }) => /^An accident has not/.test(String(message)));
  };
  for (const { id } of hooks) await pauseFor(id, 1e12);
  expect(await late()).toEqual([]);
  const lines = [];
  for (const { id: webhookId } of hooks) {
    const [{ id } = { id: '' }] = await pending(webhookId);
    const deliveryId = newId(Date.now() - 300_001);
    await rows('update deliveries set id = ?1 where id = ?2', deliveryId, id);
    lines.push({ level: 'error', webhookId, deliveryId, webhooks: 2 });
  }
  expect(await late()).toMatchObject(lines);
});
