import { getCookie, setCookie } from 'hono/cookie';
import { by, type Context, seeOther } from '../../core/platform/http/context.ts';
import { maxTimed, percentile, type Waits } from '../../extras/delivery-log/times.ts';
import { percent, waitInWords } from '../../texts/words.ts';
import { added } from '../../ui/added.ts';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { Live } from '../../ui/parts.tsx';
import { type Column, TablePanel } from '../../ui/table.tsx';
import { Ago, longDay } from '../../ui/time.tsx';
import { readOverview } from '../read/read-overview.ts';
import { LatestArrivals, UnattendedAccidents } from './latest.tsx';
import { Problems } from './problems.tsx';
import { isSetUp, SetupList } from './setup.tsx';

/** The cookie of people who have skipped steps of the setup: an account's id, and the steps. */
const skipping = 'setup-skipped';

/** What needs attention, trends, and the latest events; for a new account, what to do next. */
export async function overview(c: Context) {
  const { account, attention, user } = c.get('session');
  const [of, ...steps] = (getCookie(c, skipping) ?? '').split('.');
  const skipped = of === user.accountId ? steps : [];
  const asked = c.req.query('skip')?.slice(0, 100);
  if (asked !== undefined) {
    const kept = { path: '/portal', httpOnly: true, sameSite: 'Lax', maxAge: 31_536_000 } as const;
    const all = new Set([user.accountId, ...skipped, ...asked.split('.')].slice(0, 20));
    setCookie(c, skipping, [...all].join('.'), kept);
    return seeOther(c, '/portal');
  }
  const now = Date.now();
  const zone = timeZoneOf(c);
  const [found, more] = await Promise.all([
    readOverview(...by(c)),
    Promise.all(added(c, 'overview').map((part) => part(c))),
  ]);
  const problems = (
    <Live id="problems-now">
      <Problems {...found.problems} />
    </Live>
  );
  const isNew = !found.setup.sent;
  const setup = !isSetUp(found.setup, skipped) && (
    <Live id="setup-now">
      <SetupList setup={found.setup} skipped={skipped} />
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
  const lastData = found.changedAt > 0 && [
    'Last data ',
    <Ago at={Math.min(found.changedAt, now)} />,
    '.',
  ];
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
      <Live id="delivery-times-now">
        <DeliveryTimes waits={found.waits} />
      </Live>
    </>,
  );
}

const DeliveryTimes = ({ waits }: { waits: { accidents: Waits; events: Waits } }) => {
  const shown: Kind[] = [
    { name: 'Accidents', ...waits.accidents },
    { name: 'Events', ...waits.events },
  ];
  if (shown.every(({ count }) => count === 0)) return null;
  return (
    <TablePanel
      title="Delivery times"
      side={<p>50th · 95th · 99th percentile of the last {maxTimed.toLocaleString('en')}</p>}
      caption="Time from receipt to the first attempt and to success"
      stacked
      columns={timeColumns}
      items={shown}
    />
  );
};

type Kind = Waits & { name: string };

const timeColumns: Column<Kind>[] = [
  { head: 'Deliveries', look: 'card-title', cell: ({ name }) => name },
  { head: 'Count', cell: ({ count }) => count.toLocaleString('en') },
  { head: 'Attempted in 5 s', cell: ({ inTime }) => (inTime === null ? '–' : percent(inTime, 1)) },
  { head: 'First attempt', cell: ({ firstAttempt }) => percentiles(firstAttempt) },
  { head: 'Success', cell: ({ delivered }) => percentiles(delivered) },
];

function percentiles(times: number[]): string {
  const found = [0.5, 0.95, 0.99].flatMap((share) => percentile(times, share) ?? []);
  return found.map(waitInWords).join(' · ') || '–';
}
