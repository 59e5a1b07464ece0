import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { pull } from '../../src/providers/pull.ts';
import { as, operator, type World } from './world.ts';

/** Connects a provider as operators do, without history unless `more` says so. Returns the connection's id. */
export async function connect(us: World, provider: string, credential: string, more: object = {}) {
  const reply = await operator.post<{ id: string }>(`/operator/accounts/${us.accountId}/connections`, {
    provider,
    credential,
    historyDays: 0,
    ...more,
  });
  if (reply.status !== 200) throw new Error(reply.message);
  return reply.data.id;
}

/** Gives a connection a turn now, whatever it waits for. Returns whether it has more to do at once. */
export async function turn(id: string): Promise<boolean> {
  // The queue gives it turns of its own.
  await vi.waitFor(async () => expect(await column(id, 'claimed_until')).toBe(0), { timeout: 20_000 });
  await env.DB.prepare(
    `update pulls set due_at = 0,
      feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt'))) from json_each(feeds))
    where connection_id = ?1 and paused_at is null and refused_at is null`,
  )
    .bind(id)
    .run();
  await pull(env, [id]);
  const dueAt = await column(id, 'due_at');
  return dueAt !== null && Number(dueAt) <= Date.now();
}

const column = (id: string, name: string) =>
  env.DB.prepare(`select ${name} from pulls where connection_id = ?1`).bind(id).first(name);

/** Gives a connection turns until it has nothing left to do at once. */
export async function pullAll(id: string): Promise<void> {
  for (let turns = 0; await turn(id); turns++) if (turns === 50) throw new Error('still due after 50 turns');
}

/** What customers read of a connection at a path. */
export const read = async <T = { [key: string]: unknown }>(us: World, connection: string, path: string) =>
  (await as(us.apiToken, { 'connection-id': connection }).get<T[]>(path)).data;
