import { dayMs as day, hourMs as hour, minuteMs as minute } from '#src/core/platform/durations.ts';
import worker, { type QueueMessage } from '#src/index.ts';
import { asking } from './ask.ts';
import { bindings } from './bindings.ts';
import { customers } from './customers.ts';
import { type Kernel, kernel } from './kernel.ts';
import { type Account, type Hook, type Mood, receivers, Violation } from './model.ts';
import { operators } from './operators.ts';
import { readers } from './readers.ts';
import { workerRuntime } from './runtime.ts';

/** Each seed has 1,000 days of its own, so that what modules remember of an earlier one is over; years have four digits. */
const daysOfSeed = 1000;
const startOf = (seed: number) => Date.UTC(2030, 0, 1, 12, 10) + (seed % 2500) * daysOfSeed * day;

/** How much of what happened before a failure is shown. */
const shownSteps = 60;

/** A few thousand are enough. */
const mostToRest = 50_000;

/**
 * Runs the service for some steps as the seed decides, and then, without faults, until nothing is left to do. Returns how
 * many steps that took, and a fingerprint of all that happened.
 *
 * @throws Error, with the seed, the step and what happened before, when a promise of the service is broken
 */
export async function run(seed: number, steps: number, migrations: string[]) {
  const trace: string[] = [];
  let [step, fingerprint] = [0, 0];
  const note = (what: string) => {
    trace.push(`${step} ${new Date(sim.now()).toISOString()} ${what}`);
    if (trace.length > Number(process.env.TRACE ?? shownSteps)) trace.shift();
    for (const character of `${sim.now()} ${what}`)
      fingerprint = (Math.imul(fingerprint, 31) + character.charCodeAt(0)) | 0;
  };
  const sim = kernel(seed, startOf(seed), note);
  const world = simulated(sim, migrations);
  const one = async (healing = false) => {
    step++;
    if (step > steps + mostToRest) throw new Violation('it does not come to rest');
    await world.step(healing);
  };
  const until = async <T>(work: Promise<T>): Promise<T> => {
    const results: T[] = [];
    world.start(work.then((result) => void results.push(result)));
    for (;;) {
      await one(true);
      for (const result of results) return result;
    }
  };
  const pass = async (time: number) => {
    while (sim.now() < time) await one(true);
  };
  const { accounts, people, got } = world;
  try {
    for (let i = 0; i < 2; i++) accounts.push(await until(people.open()));
    sim.faults.rate = sim.pick([0, 0.02, 0.05]);
    while (step < steps) await one();

    sim.faults.rate = 0;
    world.messages.length = 0; // lost, so that the sweep has to find all that was under way
    for (const hook of accounts.flatMap(({ hooks }) => hooks)) hook.mood = 'up';
    while (world.working() > 0) await one(true);
    const left = accounts.filter(({ gone }) => !gone);
    for (const account of left)
      while (await until(people.waits(account))) {
        await pass(sim.now() + minute);
        if (sim.now() > startOf(seed) + (daysOfSeed - 10) * day)
          throw new Violation('deliveries stay pending');
      }
    // What came in late for the archive is put together with it on the hour.
    for (let i = 0; i < 2; i++) await pass((Math.floor(sim.now() / hour) + 1) * hour + minute);
    for (const account of left) {
      // What was refused in the end may have been deleted by an earlier try.
      const isThere = ({ id, changes }: Hook) => id && changes.every(({ config }) => config);
      for (const hook of account.hooks.filter(isThere))
        got.check(hook, await until(people.deliveriesOf(hook)));
      await until(people.check(account));
    }
    return { steps: step, fingerprint };
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    throw new Error(`Seed ${seed}, step ${step}: ${reason}\n${trace.join('\n')}`);
  }
}

/** The service with those who use it, and what may happen next. */
function simulated(sim: Kernel, migrations: string[]) {
  const { now, random, note } = sim;
  const { env, messages, everything } = bindings(sim, migrations);
  const accounts: Account[] = [];
  const got = receivers(sim, accounts);
  const ask = asking(sim, env);
  const clients = customers(sim, ask);
  const people = {
    ...clients,
    ...operators(sim, ask, everything, clients.connect),
    ...readers(sim, ask),
  };
  const problems: unknown[] = [];
  let [working, started] = [0, 0];
  let nextMinute = Math.ceil(now() / minute) * minute;
  const start = (work: Promise<unknown>) => {
    working++;
    void work.catch((error) => problems.push(error)).finally(() => working--);
  };
  const isAtWork = workerRuntime(sim, async (url, init) => {
    try {
      return await got.respond(url, init);
    } catch (error) {
      if (error instanceof Violation) problems.push(error);
      throw error;
    }
  });

  const act = () => {
    const left = accounts.filter(({ gone }) => !gone);
    const idle = left.filter(({ isBusy }) => !isBusy);
    const account = sim.pick(idle.length > 0 && random() < 0.9 ? idle : left);
    const withHook = (work: (account: Account, hook: Hook) => unknown) => async () => {
      const free = account.hooks.filter(({ id, isBusy }) => id && !isBusy);
      const busiest = free
        .toSorted((a, b) => b.calledAt - a.calledAt)
        .slice(0, random() < 0.5 ? 1 : free.length);
      if (free.length > 0) await work(account, sim.pick(busiest));
    };
    const alone = (work: (account: Account) => Promise<unknown>) => async () => {
      if (account.isBusy) return;
      account.isBusy = true;
      await work(account);
      account.isBusy = false;
    };
    const replace = async () => {
      await people.erase(account);
      accounts.push(await people.open());
    };
    const moods: Mood[] = ['up', 'up', 'slow', 'slow', 'down', 'gone', 'hangs'];
    const turn = withHook((_, hook) => Object.assign(hook, { mood: sim.pick(moods) }));
    const actions: [number, () => Promise<unknown>][] = [
      [40, () => people.send(account)],
      [8, () => people.create(account)],
      [3, withHook((account, hook) => people.update(account, hook))],
      [1, () => people.revise(account)],
      [2, withHook(people.remove)],
      [3, withHook(people.pause)],
      [4, turn],
      [4, () => people.read(account)],
      [4, () => people.follow(account)],
      [1, alone(people.suspend)],
      [0.5, alone(people.disconnect)],
      [0.2, alone(replace)],
    ];
    note('a client acts');
    start(sim.choose(actions)());
  };
  const due = () => messages.filter(({ at }) => at <= now());
  const deliver = () => {
    const message = sim.pick(due());
    if (random() >= sim.faults.rate) messages.splice(messages.indexOf(message), 1);
    const name = `message ${started++}`;
    note(`${name} is ${JSON.stringify(message.body)}`);
    const batch = { messages: [{ body: message.body }] } as unknown as MessageBatch<QueueMessage>; // what is used of one
    void sim.invoke(name, (context) => worker.queue(batch, env, context));
  };
  const tick = () => {
    const scheduledTime = Math.floor(now() / minute) * minute;
    nextMinute = scheduledTime + minute;
    if (random() < sim.faults.rate) return;
    const controller = { scheduledTime } as ScheduledController; // as above
    void sim.invoke('the cron', (context) => worker.scheduled(controller, env, context));
  };
  /** Up to whatever comes next; sometimes for hours in which nothing happens. */
  const passTime = (healing: boolean) => {
    const next = Math.min(sim.nextTimer(), ...messages.map(({ at }) => at));
    const nextHour = (Math.floor(now() / hour) + 1) * hour;
    const jumps = sim.invocations().length === 0 && (healing || random() < 0.02);
    const later = healing
      ? Math.min(now() + hour, next, nextHour)
      : nextHour + sim.below(20) * hour;
    sim.passTo(Math.max(now() + 1, jumps ? later : Math.min(nextMinute, next)));
  };

  return {
    accounts,
    messages,
    people,
    got,
    start,
    working: () => working,
    step: async (healing: boolean) => {
      const { rate } = sim.faults;
      const waits = sim.nextTimer() - now();
      const isQuiet = sim.waiting() === 0 && due().length === 0;
      const isFull = working >= 20 || sim.waiting() >= 10;
      const canAct = !healing && !isFull && accounts.some(({ gone }) => !gone);
      if (now() >= nextMinute) tick();
      else
        sim.choose([
          [sim.waiting() > 0 ? 8 : 0, sim.carryOutOne],
          [due().length > 0 ? 3 : 0, deliver],
          [canAct ? 3 : 0, act],
          // A timer may also go off while calls are slow.
          [waits <= 50 ? 3 : waits <= 2000 ? 0.3 : waits < 20_000 ? rate : 0, sim.wakeOne],
          [isQuiet ? 1 : 0, () => passTime(healing)],
          [
            sim.invocations().length > 0 ? 4 * rate : 0,
            () => sim.kill(sim.pick(sim.invocations())),
          ],
        ])();
      await sim.settle(isAtWork);
      for (const problem of problems) throw problem;
    },
  };
}
