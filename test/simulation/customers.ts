import { recordId } from '#src/core/platform/db/ids.ts';
import { dayMs, minuteMs } from '#src/core/platform/durations.ts';
import { accident, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import type { Asking } from './ask.ts';
import { type Kernel, longestMs } from './kernel.ts';
import {
  type Account,
  type Config,
  type Connection,
  type Hook,
  keyOf,
  type Mood,
  type News,
  type Silence,
  Violation,
} from './model.ts';

const trucks = [0, 1].map((at) => ({ sourceId: `truck-${at}`, vin: `1FUJGLDR5CLBP883${at}` }));
type Truck = (typeof trucks)[number];

const isPause = ({ reason }: Silence) => reason === 'paused';

export const by = ({ token }: Account) => ({ 'x-api-key': token.value });

/** Customers: their connectors send records, and they keep webhooks. */
export function customers(
  { now, below, random, pick, sleep }: Kernel,
  { insist, operate }: Asking,
) {
  let made = 0;

  const connect = async (accountId: string, provider: string): Promise<Connection> => {
    const body = { provider, name: provider };
    const { id } = (await operate(`/accounts/${accountId}/connections`, body)).data;
    const key = await operate(`/connections/${id}/ingest-keys`, { name: 'connector' });
    return { id, provider, key: key.data.value };
  };
  const open = async (): Promise<Account> => {
    const name = `Account ${made++}`;
    const { id } = (await operate('/accounts', { name })).data;
    return {
      id,
      name,
      isBusy: false,
      gone: false,
      hooks: [],
      silences: [],
      connections: [await connect(id, 'motive'), await connect(id, 'samsara')],
      token: (await operate(`/accounts/${id}/tokens`, { name: 'main' })).data,
      news: new Map(),
      records: new Map(),
      disconnected: new Map(),
      follower: { cursor: undefined, copy: new Map() },
    };
  };

  /** Mostly just now, sometimes so long ago that it is archived. */
  const someTime = () => now() - below(random() < 0.8 ? 30 * minuteMs : 60 * dayMs);
  const trips = new Map<string, { sourceId: string; startedAt: string }[]>();
  const events: typeof trips = new Map();
  const accidents = new Map<string, { sourceId: string; at: number; truck: Truck }>();
  /** The next level of an accident, once the connector knows that the one before was taken in; or a new one. */
  const nextLevel = ({ news }: Account, connectionId: string) => {
    const last = [...news.values()].find(
      (one) =>
        one.type === 1 &&
        one.level < 3 &&
        one.connectionId === connectionId &&
        one.accepted < now() &&
        !news.has(keyOf(one.eventId, one.level + 1)),
    );
    const known = last && random() < 0.7 ? accidents.get(last.eventId) : undefined;
    const begun = known ?? { sourceId: `r${made++}`, at: someTime(), truck: pick(trucks) };
    accidents.set(recordId(connectionId, 'accident', begun.sourceId), begun);
    return { ...begun, level: last && known ? last.level + 1 : 1 };
  };

  const send = async (account: Account, connection = pick(account.connections)) => {
    const records: object[] = trucks.map((truck) =>
      vehicle({ ...truck, name: `Truck ${below(9)}` }),
    );
    const taken: { accepted: number }[] = [];
    const news = (one: Pick<News, 'eventId' | 'level' | 'type' | 'at'>) => {
      const sent = { ...one, connectionId: connection.id, sent: now(), accepted: Infinity };
      account.news.set(keyOf(one.eventId, one.level), sent);
      taken.push(sent);
    };
    const add = (path: string, kind: string, record: { sourceId: string }) => {
      const id = recordId(connection.id, kind, record.sourceId);
      const one = account.records.get(id) ?? {
        path,
        connectionId: connection.id,
        accepted: Infinity,
      };
      account.records.set(id, one);
      taken.push(one);
      records.push(record);
      return id;
    };
    for (let i = 0; i <= below(6); i++) {
      const sourceId = `r${made++}`;
      const at = someTime();
      const of = { sourceId, startedAt: new Date(at).toISOString() };
      const kind = below(3);
      if (kind === 0) {
        const known = trips.get(connection.id) ?? [];
        const again = random() < 0.2 && known.length > 0 ? pick(known) : of;
        trips.set(connection.id, [...known, again]);
        add('/trips', 'trip', { ...trip({ distanceKm: below(1000) }), ...again });
      } else if (kind === 1) {
        const event = safetyEvent({ eventRisk: 1 + below(5), vehicle: pick(trucks).sourceId });
        const known = events.get(connection.id) ?? [];
        const again = random() < 0.3 && known.length > 0 ? pick(known) : undefined;
        const eventId = add('/safety-events', 'safetyEvent', { ...event, ...(again ?? of) });
        if (again) continue; // nobody is notified of what changes
        events.set(connection.id, [...known, of]);
        news({ eventId, level: 0, type: 2, at });
      } else {
        const { level, sourceId, at, truck } = nextLevel(account, connection.id);
        const eventTime = new Date(at).toISOString();
        const record = accident({ sourceId, vin: truck.vin, eventTime, notificationLevel: level });
        news({ eventId: add('/accidents', 'accident', record), level, type: 1, at });
      }
    }
    const reply = await insist('POST', '/ingest', { 'x-api-key': connection.key }, { records });
    if (reply.status !== 200) return;
    if (reply.data.rejected.length > 0) throw new Violation(JSON.stringify(reply.data.rejected));
    for (const one of taken) one.accepted = Math.min(one.accepted, now());
  };

  const someConfig = ({ connections: [first, second] }: Account): NonNullable<Config> => ({
    types: pick([[1], [2], [1, 2], [1, 2]]),
    connectionIds: pick([[first], [second], [first, second]]).flatMap((one) => one?.id ?? []),
  });
  const bodyOf = (url: string, { types, ...config }: NonNullable<Config>) => ({
    url,
    httpVerb: 'POST',
    headers: {},
    notificationTypes: types,
    ...config,
  });
  /** Changes a webhook. What was refused may have been done by an earlier try. */
  const change = async (
    hook: Hook,
    config: Config,
    done: RegExp,
    ...call: Parameters<typeof insist>
  ) => {
    const change = { sent: now(), done: Infinity, config };
    hook.changes.push(change);
    hook.isBusy = true;
    const reply = await insist(...call);
    if (done.test(`${reply.status} ${reply.message}`)) change.done = now();
    else if (reply.tries === 1) hook.changes.splice(hook.changes.indexOf(change), 1);
    // D1 may still run what an earlier try asked for.
    if (reply.tries !== 1) await sleep(longestMs);
    hook.isBusy = false;
    return { ...reply, isDone: change.done < Infinity };
  };
  const create = async (account: Account) => {
    if (account.hooks.filter(({ silences }) => silences.every(isPause)).length >= 4) return;
    const url = `https://receiver.example.com/${made++}`;
    const config = someConfig(account);
    const hook: Hook = {
      account,
      url,
      mood: 'up',
      isBusy: true,
      calledAt: 0,
      changes: [],
      silences: [],
    };
    account.hooks.push(hook);
    const [body, done] = [bodyOf(url, config), /^200|already exist/];
    const created = await change(hook, config, done, 'POST', '/webhook', by(account), body);
    const all = created.isDone ? await insist('GET', '/webhooks', by(account)) : undefined;
    const isOurs = (one: { url: string }) => one.url === url;
    hook.id = created.data?.id ?? all?.data?.find(isOurs)?.id;
  };
  const update = async (account: Account, hook: Hook, config = someConfig(account)) => {
    const body = bodyOf(hook.url, config);
    await change(hook, config, /^200/, 'PUT', `/webhook/${hook.id}`, by(account), body);
  };
  const remove = async (account: Account, hook: Hook) => {
    const done = /^200|Invalid webhook id/;
    const path = `/webhook/${hook.id}`;
    const { status, isDone } = await change(hook, null, done, 'DELETE', path, by(account));
    if (!isDone) return;
    // An earlier try may have deleted it, and was cut off before it had waited for the calls under way.
    const ended = Infinity;
    hook.silences.push({ reason: 'deleted', done: now() + (status === 200 ? 0 : 5000), ended });
    hook.isBusy = true;
  };
  /** Webhooks that somebody pauses, until they have resumed them. */
  const pausing = new Set<Hook>();
  const pause = async (account: Account, hook: Hook) => {
    if (pausing.has(hook) || hook.silences.some(({ ended }) => ended === Infinity)) return;
    pausing.add(hook);
    const silence: Silence = { reason: 'paused', done: Infinity, ended: Infinity };
    hook.silences.push(silence);
    const { status, tries } = await insist('POST', `/webhook/${hook.id}/pause`, by(account));
    if (status === 200) silence.done = now();
    await sleep(below(random() < 0.9 ? minuteMs / 2 : 8 * 60 * minuteMs));
    silence.ended = now();
    // A suspended account cannot resume it yet.
    let isFirst = tries === 1;
    for (let resumed = 0; ![200, 400].includes(resumed) && !account.gone; await sleep(1000)) {
      const reply = await insist('POST', `/webhook/${hook.id}/resume`, by(account));
      isFirst &&= reply.tries === 1;
      resumed = reply.status;
    }
    // As above: a late try must not end the next pause.
    if (!isFirst) await sleep(longestMs);
    pausing.delete(hook);
  };
  /** Has events revised whose calls have failed, while their connection is taken from all webhooks for a moment. */
  const revise = async (account: Account) => {
    const [revised, other] =
      random() < 0.5 ? account.connections : account.connections.toReversed();
    if (!revised || !other) return;
    const free = () => account.hooks.filter((hook) => hook.id && !hook.isBusy);
    const subscribe = async ({ id }: Connection, mood: Mood) => {
      for (const hook of free()) hook.mood = mood;
      const config = { types: [1, 2], connectionIds: [id] };
      await Promise.all(free().map((hook) => update(account, hook, config)));
    };
    await subscribe(revised, 'down');
    await send(account, revised);
    const paused = free().map((hook) => pause(account, hook)); // or a retry would be cancelled meanwhile
    await subscribe(other, 'down');
    const records = (events.get(revised.id) ?? []).slice(-5).map((of) => ({
      ...safetyEvent({ eventRisk: 1 + below(5), vehicle: pick(trucks).sourceId }),
      ...of,
    }));
    if (records.length > 0)
      await insist('POST', '/ingest', { 'x-api-key': revised.key }, { records });
    await subscribe(revised, 'up');
    await Promise.all(paused);
  };
  return { open, connect, send, create, update, revise, remove, pause };
}
