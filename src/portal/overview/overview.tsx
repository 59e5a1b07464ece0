import { getCookie, setCookie } from 'hono/cookie';
import { by, type Context, seeOther } from '../../core/platform/http/context.ts';
import { added, connectionSql } from '../../ui/added.ts';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { Live } from '../../ui/parts.tsx';
import { Ago, longDay } from '../../ui/time.tsx';
import { connectingOf } from '../connections/connections.tsx';
import { readOverview } from '../read/read-overview.ts';
import { LatestArrivals, UnattendedAccidents } from './latest.tsx';
import { Problems } from './problems.tsx';
import { isSetUp, SetupList, stepsOf } from './setup.tsx';

/** The cookie of people who have skipped steps of the setup: an account's id, and the steps. */
const skipping = 'setup-skipped';

/** What needs attention, trends, and the latest events; for a new account, what to do next. */
export async function overview(c: Context) {
  const { account, attention, user } = c.get('session');
  const [of, ...stored] = (getCookie(c, skipping) ?? '').split('.');
  const skipped = of === user.accountId ? stored : [];
  const asked = c.req.query('skip')?.slice(0, 100);
  if (asked !== undefined) {
    const kept = { path: '/portal', httpOnly: true, sameSite: 'Lax', maxAge: 31_536_000 } as const;
    const all = new Set([user.accountId, ...skipped, ...asked.split('.')].slice(0, 20));
    setCookie(c, skipping, [...all].join('.'), kept);
    return seeOther(c, '/portal');
  }
  const now = Date.now();
  const zone = timeZoneOf(c);
  const [notified] = added(c, 'notified');
  const [found, more] = await Promise.all([
    readOverview(...by(c), connectionSql(c), notified),
    Promise.all(added(c, 'overview').map((part) => part(c))),
  ]);
  const besides = found.notified && notified?.show(found.notified);
  const problems = (
    <Live id="problems-now">
      <Problems {...found.problems} others={besides?.problems ?? []} />
    </Live>
  );
  const isNew = !found.setup.sent;
  const steps = stepsOf(found.setup, skipped, connectingOf(c), besides?.steps ?? []);
  const setup = !isSetUp(steps) && (
    <Live id="setup-now">
      <SetupList steps={steps} />
    </Live>
  );
  if (isNew)
    return page(
      c,
      { title: `Set up ${account}`, narrow: true, lead: 'Steps are checked off automatically.' },
      <>
        {problems}
        {setup}
      </>,
    );
  const changedAt = Math.max(...more.map((one) => one.changedAt ?? 0));
  const lastData = changedAt > 0 && ['Last data ', <Ago at={Math.min(changedAt, now)} />, '.'];
  return page(
    c,
    { title: 'Overview', lead: [longDay(zone, now), '. ', lastData] },
    <>
      {problems}
      {setup}
      <div class="cols cols-3-2 cols-stretch">
        <UnattendedAccidents accidents={found.accidents} count={attention.accidents} />
        {more.map(({ beside }) => beside)}
      </div>
      {more.map(({ middle }) => middle)}
      <div class="cols cols-2 cols-stretch">
        {more.map(({ among }) => among)}
        <LatestArrivals events={found.arrivals} />
      </div>
      {more.map(({ last }) => last)}
    </>,
  );
}
