import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import { maxEvidence, type NewEvidence } from '../../core/fleet/lists/field-objects.ts';
import { receiverProblem } from '../../core/platform/address.ts';
import { config } from '../../core/platform/config.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { recordId } from '../../core/platform/db/ids.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { identityOf } from './link.ts';
import { evidence } from './tables.ts';

/** Whether a link leads to a public address, as those of receivers must. */
export function isAllowed(env: Env, link: string): boolean {
  const { origin, allowLoopbackReceivers: allowLoopback } = config(env);
  return !receiverProblem(link, { ownHost: origin && new URL(origin).hostname, allowLoopback });
}

/** How many files of an account are taken, and how much of them is copied, in 24 hours. */
export const maxDayFiles = 5_000;
export const maxDayBytes = 50_000_000_000;

/** How many files an accident has in all, with those that are gone. */
export const maxEver = 100;

/** How much of a server's name its lane has. */
const maxHost = 253;

/** How long after a file was missed its link is tried again, if it is sent again. */
const reviveMs = hourMs;

/** Which files of an account came in the last 24 hours, in any state, by index. */
export const ofLastDay = (accountId: string, now: number) =>
  and(
    eq(evidence.accountId, accountId),
    gt(evidence.createdAt, now - dayMs),
    inArray(evidence.state, evidence.state.enumValues),
  );

/**
 * The statement that adds the files of accidents, if the account keeps evidence, within limits; a new link replaces an
 * older one until the file is stored, and the same one revives a file that was missed. None is added for a driver who
 * was erased, and none that is gone comes back.
 */
export function addEvidence(
  db: Database,
  { accountId, connectionId, now }: { accountId: string; connectionId: string; now: number },
  accidents: { id: string; driverId: string | null; evidence: NewEvidence[] }[],
) {
  const files = accidents.flatMap(({ id: accidentId, driverId, evidence }) =>
    evidence.map((file) => {
      const id = recordId(connectionId, 'evidence', `${accidentId} ${identityOf(file)}`);
      const lane = `${connectionId} ${new URL(file.url).host.slice(0, maxHost)}`;
      return { ...file, id, lane, accidentId, driverId };
    }),
  );
  const json = JSON.stringify([...new Map(files.map((file) => [file.id, file])).values()]);
  // Set-based: it counts what each accident has.
  return db.run(sql`
    insert into evidence (id, account_id, connection_id, accident_id, kind, camera, taken_at, source, lane, next_at,
      created_at)
    select f->>'id', ${accountId}, ${connectionId}, f->>'accidentId', f->>'kind', f->>'camera', f->>'takenAt',
      f->>'url', f->>'lane', ${now}, ${now}
    from (
      select f.value as f, e.id is not null as known,
        row_number() over (partition by accident order by e.id is null, f.key) + (
          select count(*) from evidence o where o.accident_id = accident and o.state <> 'gone'
            and o.id not in (select value->>'id' from json_each(${json}))) as nth,
        sum(e.id is null) over (partition by accident order by f.key)
          + (select count(*) from evidence o where o.accident_id = accident) as ever,
        sum(e.id is null) over (order by f.key)
          + (select count(*) from evidence where ${ofLastDay(accountId, now)}) as today
      from (select key, value, value->>'accidentId' as accident from json_each(${json})) f
      left join evidence e on e.id = f.value->>'id'
      where exists (select 1 from evidence_days where account_id = ${accountId})
        and e.state is not 'gone'
        and not exists (select 1 from erased_drivers where id = f.value->>'driverId'))
    where nth <= ${maxEvidence} and (known or (ever <= ${maxEver} and today <= ${maxDayFiles}))
    on conflict (id) do update set source = excluded.source, state = 'waiting', reason = null, attempts = 0,
        next_at = iif(evidence.source is excluded.source, max(evidence.ended_at + ${reviveMs}, ${now}), ${now})
      where evidence.state = 'missed' or (evidence.state <> 'stored' and evidence.source is not excluded.source)`);
}
