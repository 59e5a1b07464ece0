import { env } from 'cloudflare:workers';
import type { Pull } from '#src/extras/providers/operations.ts';
import { pull } from '#src/extras/providers/pull.ts';
import {
  ago,
  as,
  dayMs,
  minuteMs,
  operator,
  receiver,
  register,
  rows,
  value,
  type World,
  world,
} from '#test/support.ts';

/** Tries to connect a provider as operators do, without history unless `more` says so. */
const tryToConnect = (us: World, provider: string, credential: string, more?: object) =>
  operator.post<{ id: string }>(`/operator/accounts/${us.accountId}/connections`, {
    provider,
    credential,
    historyDays: 0,
    ...more,
  });

/** Connects a provider, and returns the id of the connection. */
export async function connect(...connection: Parameters<typeof tryToConnect>) {
  const { status, message, data } = await tryToConnect(...connection);
  if (status !== 200) throw new Error(message);
  return data.id;
}

/** Time passes: what waited is due. */
export const makePullDue = (id: string) =>
  rows(
    `update pulls set due_at = 0, claimed_until = iif(claim is null, 0, claimed_until),
      feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt'))) from json_each(feeds))
    where connection_id = ?1 and paused_at is null and refused_at is null`,
    id,
  );

/** Waits for the turn that the queue gives a connection. */
export const untilNotPulling = (id: string) =>
  vi.waitFor(async () => {
    const claims = 'select 1 from pulls where connection_id = ?1 and claim is not null';
    expect(await rows(`${claims} and claimed_until > ?2`, id, Date.now())).toEqual([]);
  }, 30_000);

/** Gives a connection a turn now. Returns whether it has more to do at once. */
export async function pullRun(id: string) {
  await untilNotPulling(id);
  await makePullDue(id);
  await pull(env, [id]);
  await untilNotPulling(id);
  const dueAt = await pullColumn(id, 'due_at');
  return dueAt !== null && Number(dueAt) <= Date.now();
}

export const pullColumn = (id: string, name: string) =>
  value(`select ${name} from pulls where connection_id = ?1`, id);

/** Gives a connection turns until it has nothing left to do at once. */
export async function pullAll(id: string) {
  for (let turns = 0; await pullRun(id); turns++)
    if (turns === 50) throw new Error('still due after 50 turns');
}

const realNow = Date.now.bind(Date);

/** From now on it is so many minutes later than it is. */
export const aheadBy = (minutes: number) =>
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + minutes * minuteMs);

/** What customers read of a connection at a path. */
export const read = async (us: World, connection: string, path: string) =>
  (await as(us.apiToken, { 'connection-id': connection }).get<Record<string, unknown>[]>(path))
    .data;

export const pullStatus = async (id: string) =>
  (await operator.get<Pull>(`/operator/connections/${id}/pull`)).data;

/** All accounts keep evidence for a month. */
export const keepEvidence = () =>
  rows('insert or replace into evidence_days select id, 30, 0 from accounts');

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

/** Fresh for each test: an account, its receivers, a connection, and what tests of a provider do most with it. */
export function providerStory(provider: string, credentialNow: () => string) {
  const tale = {} as { us: World; hooks: ReturnType<typeof receiver>; id: string }; // filled in as it goes on
  beforeEach(async () => {
    tale.hooks = receiver();
    tale.us = await world();
  });
  const listed =
    (path: string, isOfTimes = true) =>
    (query: Record<string, string> = {}) => {
      const around = isOfTimes && { from: ago(40 * dayMs), to: ago(-60 * dayMs) };
      const asked = new URLSearchParams({ limit: '500', ...around, ...query });
      return read(tale.us, tale.id, `${path}?${asked}`);
    };
  const all = () => pullAll(tale.id);
  const arrived = (count: number) => expect.poll(() => tale.hooks.got).toHaveLength(count);
  const notified = () => tale.hooks.got.map(({ body }) => body.data);
  const vehicles = listed('/vehicles', false);
  /** Connects, with a webhook for these types of notifications, which is there before what is pulled at once. */
  async function connectNow(notificationTypes: number[] = [], more?: object) {
    if (notificationTypes.length > 0)
      await register(tale.us, { connectionIds: [], allConnections: true, notificationTypes });
    tale.id = await connect(tale.us, provider, credentialNow(), more);
  }
  return Object.assign(tale, {
    connect: connectNow,
    /** The same, and pulls all there is. */
    async connected(...options: Parameters<typeof connectNow>) {
      await connectNow(...options);
      await all();
    },
    /** Tries to connect, and returns what comes of it. */
    tryToConnect: (credential = credentialNow()) => tryToConnect(tale.us, provider, credential),
    pullAll: all,
    pullRun: () => pullRun(tale.id),
    pullStatus: () => pullStatus(tale.id),
    pullColumn: (name: string) => pullColumn(tale.id, name),
    /** What is wrong with its feeds, of which there is one each. */
    problems: async () => (await pullStatus(tale.id)).feeds.flatMap(({ problem }) => problem ?? []),
    evidence: () =>
      rows('select kind, camera, source from evidence where connection_id = ?1', tale.id),
    /** The sourceIds of what a table has of it. */
    sourceIds: async (table: string) =>
      (await rows(`select source_id from ${table} where connection_id = ?1`, tale.id))
        .map(({ source_id }) => String(source_id))
        .sort(),
    /** Waits until so many notifications have come in all. */
    arrived,
    /** Pulls all there is, and waits for them. */
    async pulled(count: number) {
      await all();
      await arrived(count);
    },
    /** Pulls all there is so many minutes later. */
    async pullAfter(minutes: number) {
      aheadBy(minutes);
      await all();
    },
    notified,
    /** The notifications of an accident: level, isAccurate and reportReady of each. */
    levels: (vin: unknown) =>
      notified()
        .filter((one) => one.vin === vin)
        .map((one) => [one.notificationLevel, one.isAccurate, one.reportReady]),
    vehicles,
    names: async (query?: Record<string, string>) =>
      (await vehicles(query)).map(({ name }) => name).sort(),
    drivers: listed('/drivers', false),
    trips: listed('/trips'),
    events: listed('/safety-events'),
    accidents: listed('/accidents'),
  });
}
