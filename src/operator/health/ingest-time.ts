import { createAccount, operatorIn } from '../../core/accounts/accounts.ts';
import { newConnection } from '../../core/fleet/connections.ts';
import { ingest } from '../../core/ingest/service.ts';
import { asCaller } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { type Around, through } from '../../core/platform/db/through.ts';
import { addWithWebhooks } from '../../core/webhooks/add-connection.ts';
import { deleteAccount } from '../deletion/accept.ts';

/** How long D1 works on ingesting so many events, in ms by its own clock, in an account that is deleted again. */
export async function ingestTimes(env: Env, counts: number[]): Promise<number[]> {
  const name = `check ${newId()}`;
  const { id: accountId } = await createAccount(env, name);
  try {
    const caller = operatorIn(accountId);
    const connection = newConnection(caller, { provider: 'check' });
    await asCaller(env, caller, (db) => addWithWebhooks(db, caller, connection));
    const { id: connectionId, provider } = connection;
    const feed = { provider, tSP: provider, accountId, connectionId, requestId: newId() };
    let ms = 0;
    const around: Around = async (run) => {
      const done = await run();
      for (const { meta } of [done].flat() as D1Result[])
        ms += meta.timings?.sql_duration_ms ?? meta.duration;
      return done;
    };
    const timed = { ...env, DB: through(env.DB, around) };
    const send = async (...records: object[]) => {
      ms = 0;
      const source = { ...feed, now: Date.now() };
      const { rejected } = await ingest(
        timed,
        caller,
        source,
        { records, notify: true },
        { start: () => {} },
      );
      if (rejected[0]) throw new Error(rejected[0].message);
      return Math.round(ms);
    };
    await send({ kind: 'vehicle', sourceId: 'check' });
    const event = () => ({
      ...{
        kind: 'safetyEvent',
        sourceId: newId(),
        vehicle: 'check',
        incidentTypes: ['hard_brake'],
      },
      startedAt: new Date().toISOString(),
    });
    const times: number[] = [];
    for (const count of counts) times.push(await send(...Array.from({ length: count }, event)));
    return times;
  } finally {
    await deleteAccount(env, accountId, { name, now: true });
  }
}
