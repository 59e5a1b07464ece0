import { selectLatest } from '../../fleet/changes/feed.ts';
import {
  asDay,
  type Span,
  selectAffected,
  selectDays,
  selectDue,
  selectToday,
  selectTypes,
} from '../../fleet/trends/read.ts';
import { recountLive } from '../../fleet/trends/recount.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { selectLatestEvents, selectLatestHigh, selectOpenAccidents } from './latest.tsx';
import { selectConnectionProblems, selectWebhookProblems } from './problems.tsx';
import { selectSetup } from './setup.tsx';

/** What the overview shows. */
export type Overview = Awaited<ReturnType<typeof readOverview>>;

const hourMs = 3_600_000;

/**
 * Everything that the overview shows, in one round trip. Counts what has not been counted yet of the last hours, so that
 * the page is of now; what came in late for earlier hours, the minute's job counts. `since` is when the reader's day
 * began (milliseconds since 1970); the days of `span` are UTC days.
 */
export async function readOverview(env: Env, caller: Caller, { span, since }: { span: Span; since: number }) {
  const now = Date.now();
  const today = Math.ceil(since / hourMs);
  const [
    ,
    ,
    ,
    [setup],
    connections,
    webhooks,
    accidents,
    [high],
    latestHigh,
    days,
    types,
    vehicles,
    drivers,
    arrivals,
    [due],
    [changed],
  ] = await asCaller(
    env,
    caller,
    (db) =>
      [
        ...recountLive(db, caller.accountId),
        selectSetup(db, caller),
        selectConnectionProblems(db, caller),
        selectWebhookProblems(db, caller, now),
        selectOpenAccidents(db, caller),
        selectToday(db, caller, today, Math.floor(now / hourMs)),
        selectLatestHigh(db, caller, today),
        selectDays(db, caller, span),
        selectTypes(db, caller, span),
        selectAffected(db, caller, 'vehicles', span),
        selectAffected(db, caller, 'drivers', span),
        selectLatestEvents(db, caller),
        selectDue(db, caller),
        selectLatest(db, caller),
      ] as const,
    { countsOnly: true },
  );
  return {
    setup: setup ?? { connection: null, sent: 0, vehicles: 0, webhook: 0, token: 0 },
    problems: { connections, webhooks },
    accidents,
    today: { ...(high ?? { risk4: 0, risk5: 0, typical: 0 }), latest: latestHigh },
    days: days.map(asDay),
    types,
    vehicles,
    drivers,
    arrivals,
    /** Days that are still to be counted. */
    due: due?.days ?? 0,
    /** When something last changed; 0: not within 30 days. */
    changedAt: changed?.seq ?? 0,
  };
}
