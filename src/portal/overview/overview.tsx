import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Span } from '../../fleet/trends/read.ts';
import { type App, type Context, seeOther } from '../../platform/http/context.ts';
import { needs } from '../session/rights.ts';
import { dayMs, startOfDay } from '../ui/days.ts';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Live } from '../ui/parts.tsx';
import { Ago, dayIn, longDay } from '../ui/time.tsx';
import { LatestArrivals, OpenAccidents, RiskToday } from './latest.tsx';
import { Problems } from './problems.tsx';
import { type Overview, readOverview } from './read.ts';
import { isDone, SetupList } from './setup.tsx';
import { Affected, IncidentTypes, Trend } from './trends.tsx';

/** What needs somebody, how the fleet does, and what came in last; for a new account, what to do next. */
export const overviewPages = new Hono<App>()
  .get('/', needs('viewer'), overview)
  .post('/setup/hide', needs('viewer'), hideSetup);

/** Spans that can be compared with as much time before. */
const spans = [7, 30, 90];

async function overview(c: Context) {
  const { user, account } = c.get('session');
  const now = Date.now();
  const zone = timeZoneOf(c);
  const days = Number(c.req.query('days'));
  const span: Span = { today: Math.floor(now / dayMs), days: spans.includes(days) ? days : 30 };
  const found = await readOverview(c.env, c.get('caller'), {
    span,
    since: startOfDay(zone, dayIn(zone, now)),
  });
  const isNew = !found.setup.sent;
  const showsSetup = !isDone(found.setup) && (isNew || getCookie(c, hidden) !== user.accountId);
  return page(
    c,
    {
      title: isNew ? `Set up ${account}` : 'Overview',
      narrow: isNew,
      lead: isNew ? (
        'Each step ticks itself off, and the list disappears once all are done.'
      ) : (
        <>
          {longDay(zone, now)}.{' '}
          {found.changedAt > 0 && (
            <>
              Last data <Ago at={Math.min(found.changedAt, now)} />.
            </>
          )}
        </>
      ),
    },
    <>
      <Live id="problems-now">
        <Problems {...found.problems} />
      </Live>
      {showsSetup && (
        <Live id="setup-now">
          <SetupList setup={found.setup} canHide={!isNew} />
        </Live>
      )}
      {isNew ? <NothingYet found={found} /> : <Everything found={found} span={span} zone={zone} />}
    </>,
  );
}

const Everything = ({ found, span, zone }: { found: Overview; span: Span; zone: string }) => (
  <>
    <Live id="open-now" class="cols cols-3-2 cols-stretch">
      <OpenAccidents accidents={found.accidents} />
      <RiskToday today={found.today} zone={zone} />
    </Live>
    <Live id="trend-now">
      <Trend span={span} spans={spans} days={found.days} due={found.due} />
    </Live>
    <Live id="tables-now" class="cols cols-2 cols-stretch">
      <IncidentTypes span={span} types={found.types} />
      <Affected which="vehicle" span={span} affected={found.vehicles} />
    </Live>
    <Live id="latest-now" class="cols cols-2 cols-stretch">
      <Affected which="driver" span={span} affected={found.drivers} />
      <LatestArrivals events={found.arrivals} />
    </Live>
  </>
);

/** What will stand here once something comes in. */
const NothingYet = ({ found }: { found: Overview }) => (
  <>
    <Live id="open-now">
      <OpenAccidents accidents={found.accidents} />
    </Live>
    <p class="sub">
      Building against the API?{' '}
      <a class="underline" href="/portal/settings/tokens">
        Create an API token
      </a>{' '}
      or{' '}
      <a class="underline" href="/docs">
        read the documentation
      </a>
      .
    </p>
  </>
);

/** Says that somebody does not want to see the list of an account, which they need not follow. */
const hidden = 'setup-hidden';

function hideSetup(c: Context) {
  const { accountId } = c.get('session').user;
  setCookie(c, hidden, accountId, { path: '/portal', httpOnly: true, sameSite: 'Lax', maxAge: 31_536_000 });
  return seeOther(c, '/portal');
}
