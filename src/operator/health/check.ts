import { sql } from 'drizzle-orm';
import { bucketOf } from '../../core/platform/bucket.ts';
import { config } from '../../core/platform/config.ts';
import { repeatsRefusals, transaction } from '../../core/platform/db/database.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { inTime } from '../../core/platform/in-time.ts';
import { deleteTimes, recordTime, selectTimes } from '../../core/platform/jobs/lease.ts';
import { described } from '../../core/platform/log.ts';
import { callOnce } from '../../core/webhooks/deliveries/send/call-once.ts';
import { sendMail } from '../../people/mail/send.ts';
import { fingerprint, schemaSql, subjectOf } from '../api/schema.ts';
import type { Check, ServiceCheck } from '../api/service.ts';
import { ingestTimes } from './ingest-time.ts';
import { askD1, checkHealth, problemOf } from './service.ts';

type Found = Pick<Check, 'result' | 'detail'> & { ms?: number };
type Probes = { [name in Check['name']]?: () => Promise<Found> };

/** How long a probe may take, how long the consumer holds a message, and how long one may take to arrive. */
const usual = { probeMs: 10_000, holdMs: 20_000, messagesMs: 20_000 };
type Times = typeof usual;

/** Checks all that the service depends on, and its schema by fingerprints. Never throws. */
export async function checkService(env: Env, asked: ServiceCheck, times = usual): Promise<Check[]> {
  const parts = [probesOf(env, asked, times), otherProbes(env, asked.email)];
  return (await Promise.all(parts.map((probes) => run(probes, times)))).flat();
}

/** One after the other, so that they do not slow each other down. */
async function run(probes: Probes, { probeMs, holdMs, messagesMs }: Times): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [name, probe] of Object.entries(probes) as [Check['name'], () => Promise<Found>][]) {
    const began = Date.now();
    const failed = (error: unknown): Found => fault(described(error).error.slice(0, 200));
    const longest = name === 'queue' ? 2 * messagesMs + holdMs + 2 * probeMs : probeMs;
    const found = await inTime(probe(), longest).catch(failed);
    checks.push({ name, ms: Date.now() - began, ...found });
  }
  return checks;
}

const ok = (detail: string): Found => ({ result: 'ok', detail });
const off = (detail: string): Found => ({ result: 'off', detail });
const warning = (detail: string): Found => ({ result: 'warning', detail });
const fault = (detail: string): Found => ({ result: 'fault', detail });

function probesOf(env: Env, { schema, writes }: ServiceCheck, times: Times): Probes {
  let messages: ReturnType<typeof sendMessages> | undefined;
  return {
    schema: () => compareSchema(env, schema),
    database: async () => {
      const db = openDatabase(env);
      return ok(regionOf(await transaction(db, askD1(db))));
    },
    refusals: async () =>
      (await repeatsRefusals(openDatabase(env)))
        ? ok('D1 repeats their words')
        : fault('D1 does not repeat their words: every 401 is a 503'),
    'scheduled jobs': () => findSweep(env),
    replicas: async () => {
      if (!config(env).readReplicas) return off('lists are read from the primary');
      return ok(
        regionOf(await env.DB.withSession('first-unconstrained').prepare('select 1').run()),
      );
    },
    archive: () => useBucket(bucketOf(env)),
    queue: async () => {
      messages = sendMessages(env, times);
      // The first ones of a new queue may be late.
      if ((await messages).came.length < 2) messages = sendMessages(env, times);
      const { sent = 0, came } = await messages;
      const [first, second] = came;
      if (first === undefined || second === undefined)
        return fault(
          `${came.length} of 2 messages came within ${times.messagesMs / 1000} s, tried twice`,
        );
      return {
        ...ok('2 of 2 messages came; the time is that of the first'),
        ms: Math.max(0, first - sent),
      };
    },
    'background work': async () => {
      const { came, done } = (await messages) ?? { came: [], done: 0 };
      const [first, second] = came;
      if (first === undefined || second === undefined)
        return fault('unknown: the queue brings no messages');
      if (config(env).awaitDeliveries) return off('the consumer awaits its work: AWAIT_DELIVERIES');
      const seconds = times.holdMs / 1000;
      if (done < came.length)
        return fault(`work of ${seconds} s behind the consumer's handler was cut off`);
      const seen = `work of ${seconds} s continues behind the handler, and the next message came after ${second - first} ms`;
      return second - first < times.holdMs ? ok(seen) : warning(seen);
    },
    ingest: async () => {
      if (!writes) return off('npm run deploy -- --check measures it');
      const [one, fifty] = await ingestTimes(env, [1, 50]);
      return ok(`D1 works ${one} ms on one event, and ${fifty} ms on fifty`);
    },
    plan: async () => {
      const five = () => Promise.all([1, 2, 3, 4, 5].map(() => env.DB.prepare('select 1').run()));
      for (let n = 0; n < freeQueries; n += 5) await five();
      return ok(`an invocation may make more than ${freeQueries} queries`);
    },
    'queries of a batch': () => exceedQueries(env),
  };
}

/** How many queries an invocation may make on Workers Free. */
const freeQueries = 50;

/** Whether each query of a batch counts. It comes last: if each does, no query works afterwards. */
async function exceedQueries(env: Env): Promise<Found> {
  if (config(env).allowLoopbackReceivers)
    return off('only a deployment can show whether each counts');
  const queries = Array.from({ length: 1001 }, () => env.DB.prepare('select 1'));
  return env.DB.batch(queries).then(
    () => ok('1,001 may be in one: a batch counts once, or its queries have no limit'),
    (error: unknown) => ok(`each counts as one of 1,000: ${described(error).error.slice(0, 100)}`),
  );
}

const otherProbes = (env: Env, address: string | undefined): Probes => ({
  KV: async () => {
    const key = `check/${newId()}`;
    await env.TOKENS.put(key, key, { expirationTtl: 60 });
    return (await env.TOKENS.get(key)) === key
      ? ok('written and read')
      : warning('written, but not read yet');
  },
  'outgoing calls': async () => {
    const call = { method: 'POST', headers: {}, body: '' };
    const { result } = await callOnce('https://no-such-host.invalid/', call);
    return (result === 'dns' ? ok : warning)(`to a host that does not exist: ${result}`);
  },
  // A data point cannot be read back here.
  'Analytics Engine': async () =>
    env.ATTEMPTS ? ok('bound') : off('attempts are in the log alone'),
  email: async () => {
    const { emailFrom } = config(env);
    if (!env.EMAIL || !emailFrom) return off('operators hand out sign-in links');
    if (!address) return ok(`bound, from ${emailFrom}; --check --email ADDRESS sends one`);
    const text = 'Emails of this deployment of the Fleet Data Service arrive.';
    await sendMail(env, {
      to: address,
      subject: 'Fleet Data Service: a test',
      text,
      html: `<p>${text}</p>`,
    });
    return ok(`accepted from ${emailFrom}; see whether it arrives`);
  },
});

async function compareSchema(env: Env, schema: string[]): Promise<Found> {
  const db = openDatabase(env);
  // Raw: of the tables of SQLite itself, and the same text as in the deployment.
  const entries = await transaction(db, db.all<{ name: string }>(sql.raw(schemaSql)));
  const found = new Set(await Promise.all(entries.map(({ name }) => fingerprint(name))));
  const differing = schema.filter((one) => !found.has(one)).map(subjectOf);
  if (differing.length > 0)
    return fault(`missing or different: ${differing.slice(0, 10).join(', ')}`);
  return ok(`all ${schema.length} tables, indexes, triggers and migrations are as they should be`);
}

/** Where a query ran, which D1 returns in production. */
function regionOf({ meta }: D1Result): string {
  const { served_by_region: region, served_by_primary: primary } = meta;
  return region
    ? `in ${region}${primary === false ? ', on a replica' : ''}`
    : 'D1 does not say in which region';
}

async function findSweep(env: Env): Promise<Found> {
  const health = await checkHealth(env);
  const problem = problemOf(health);
  if (problem) return fault(problem);
  if (health.sweptSecondsAgo === null) return warning('have not run yet');
  return ok(`ran ${health.sweptSecondsAgo} s ago`);
}

async function useBucket(bucket: R2Bucket | undefined): Promise<Found> {
  if (!bucket) return off('nothing is archived');
  const key = `check/${newId()}`;
  await bucket.put(key, key);
  const read = await bucket.get(key);
  const text = await read?.text();
  await bucket.delete(key);
  return text === key ? ok('written and read') : fault('what was written cannot be read');
}

/** A queue message that only records when it arrived. */
export type ProbeMessage = { check: `check/${string}` };

/** Sends two messages. Returns when, when they came by D1's clock, and how many were held. */
async function sendMessages(env: Env, { probeMs, holdMs, messagesMs }: Times) {
  const db = openDatabase(env);
  const id = newId();
  const ours = `check/${id}/*`;
  await record(env, `check/${id}/sent`, 'sent');
  await env.DELIVERIES.sendBatch(
    [1, 2].map((n) => ({ body: { check: `check/${id}/${n}` } satisfies ProbeMessage })),
  );
  const end = Date.now() + messagesMs;
  try {
    for (;;) {
      const notes = await transaction(db, selectTimes(db, ours));
      const timesOf = (wanted: string) =>
        notes.flatMap(({ what, at }) => (what === wanted ? [at] : []));
      const found = {
        sent: timesOf('sent')[0],
        came: timesOf('came'),
        done: timesOf('done').length,
      };
      const until = found.came.length === 2 ? Math.max(...found.came) + holdMs + probeMs : end;
      if (found.done === 2 || Date.now() > until) return found;
      await scheduler.wait(500);
    }
  } finally {
    // Includes the notes of messages that arrived late.
    await transaction(db, deleteTimes(db, ours));
  }
}

/** Records when a probe arrived, and that it was held for so long. */
export async function recordProbe(
  env: Env,
  { check }: ProbeMessage,
  holdMs = usual.holdMs,
): Promise<void> {
  try {
    await record(env, `${check}/came`, 'came');
    await scheduler.wait(holdMs);
    await record(env, `${check}/done`, 'done');
  } catch {
    // The check that waits for it reports this.
  }
}

function record(env: Env, name: `check/${string}`, what: string) {
  const db = openDatabase(env);
  return transaction(db, recordTime(db, name, what), { repeatable: true });
}
