import { env } from 'cloudflare:workers';
import { dayMs, minuteMs } from '#src/core/platform/durations.ts';
import type { Pull } from '#src/extras/providers/operations.ts';
import { pull } from '#src/extras/providers/pull.ts';
import { receiver } from './receiver.ts';
import { rows, value } from './rows.ts';
import { as, operator, type World, webhookBody, world } from './world.ts';

/** Connects a provider as operators do, without history unless `more` says so. Returns its id. */
export async function connect(us: World, provider: string, credential: string, more: object = {}) {
  const reply = await operator.post<{ id: string }>(
    `/operator/accounts/${us.accountId}/connections`,
    {
      provider,
      credential,
      historyDays: 0,
      ...more,
    },
  );
  if (reply.status !== 200) throw new Error(reply.message);
  return reply.data.id;
}

/** Time passes: what waited is due. */
export const makePullDue = (id: string) =>
  rows(
    `update pulls set due_at = 0,
      feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt'))) from json_each(feeds))
    where connection_id = ?1 and paused_at is null and refused_at is null`,
    id,
  );

/** Gives a connection a turn now. Returns whether it has more to do at once. */
export async function pullRun(id: string): Promise<boolean> {
  // The queue gives it turns of its own.
  await vi.waitFor(async () => expect(await pullColumn(id, 'claimed_until')).toBe(0), {
    timeout: 20_000,
  });
  await makePullDue(id);
  await pull(env, [id]);
  const dueAt = await pullColumn(id, 'due_at');
  return dueAt !== null && Number(dueAt) <= Date.now();
}

export const pullColumn = (id: string, name: string) =>
  value(`select ${name} from pulls where connection_id = ?1`, id);

/** Gives a connection turns until it has nothing left to do at once. */
export async function pullAll(id: string): Promise<void> {
  for (let turns = 0; await pullRun(id); turns++)
    if (turns === 50) throw new Error('still due after 50 turns');
}

const realNow = Date.now.bind(Date);

/** From now on it is so many minutes later than it is. */
export const aheadBy = (minutes: number) =>
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + minutes * minuteMs);

/** What customers read of a connection at a path. */
export const read = async <T = { [key: string]: unknown }>(
  us: World,
  connection: string,
  path: string,
) => (await as(us.apiToken, { 'connection-id': connection }).get<T[]>(path)).data;

export const pullStatus = async (id: string) =>
  (await operator.get<Pull>(`/operator/connections/${id}/pull`)).data;

/** Which records were refused and why, in order. */
export const refusalsOf = async (id: string) =>
  (await pullStatus(id)).refusals.map(({ kind, reason }) => `${kind}: ${reason}`).sort();

/** What `levels` has of an accident dismissed after its first level, and of one with a report. */
export const dismissed = [
  [1, false, false],
  [2, false, false],
];
export const reported = [
  [1, false, false],
  [2, true, false],
  [3, true, true],
];

/** Fresh for each test: an account, its receivers, and what tests of a provider do most. */
export function providerStory(provider: string, credentialNow = () => '') {
  const tale = {} as { us: World; hooks: ReturnType<typeof receiver> }; // filled in before each test
  beforeEach(async () => {
    tale.hooks = receiver();
    tale.us = await world();
  });
  const listed =
    (path: string, more: () => Record<string, string> = () => ({})) =>
    (id: string, query: Record<string, string> = {}) =>
      read(tale.us, id, `${path}?${new URLSearchParams({ limit: '500', ...more(), ...query })}`);
  /** The last forty days and the next sixty. */
  const around = () => {
    const [from = '', to = ''] = [-40, 60].map((days) =>
      new Date(Date.now() + days * dayMs).toISOString(),
    );
    return { from, to };
  };
  const notified = () => tale.hooks.got.map(({ body }) => body.data);
  const vehicles = listed('/vehicles');
  /** Connects, with a webhook for these types of notifications. */
  async function connectWith(credential: string, notificationTypes: number[] = [], more?: object) {
    const id = await connect(tale.us, provider, credential, more);
    const body = webhookBody(tale.us, { connectionIds: [id], notificationTypes });
    if (notificationTypes.length > 0) await tale.us.api.post('/webhook', body);
    return id;
  }
  return Object.assign(tale, {
    connectWith,
    /** Connects, with a webhook for these types of notifications, and pulls all there is. */
    async connected(notificationTypes?: number[], more?: object) {
      const id = await connectWith(credentialNow(), notificationTypes, more);
      await pullAll(id);
      return id;
    },
    /** Tries to connect, and returns what comes of it. */
    tryToConnect: (credential = credentialNow()) =>
      operator.post(`/operator/accounts/${tale.us.accountId}/connections`, {
        provider,
        credential,
      }),
    /** Waits until so many notifications have come in all. */
    arrived: (count: number) =>
      vi.waitFor(() => expect(tale.hooks.got).toHaveLength(count), { timeout: 20_000 }),
    notified,
    /** The notifications of an accident: level, isAccurate and reportReady of each. */
    levels: (vin: unknown) =>
      notified()
        .filter((one) => one.vin === vin)
        .map((one) => [one.notificationLevel, one.isAccurate, one.reportReady]),
    vehicles,
    names: async (id: string, query?: Record<string, string>) =>
      (await vehicles(id, query)).map(({ name }) => name).sort(),
    drivers: listed('/drivers'),
    trips: listed('/trips', around),
    events: listed('/safety-events', around),
    accidents: listed('/accidents', around),
  });
}
