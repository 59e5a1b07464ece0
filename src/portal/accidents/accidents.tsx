import { accidents } from '../../fleet/lists/accidents.ts';
import { accidentsWithVehicles, readNamed } from '../../fleet/named.ts';
import { matchFleet } from '../../fleet/names.ts';
import { type Context, seeOther } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { levelNames } from '../../webhooks/notifications/types.ts';
import { DayFields, FilterBox, FleetFields, problemsOfDays, rangeOfDays } from '../events/filters.tsx';
import { Accidents } from '../ui/accidents.tsx';
import { csvFile } from '../ui/csv.ts';
import { LinkButton, Select } from '../ui/forms.tsx';
import { page, timeZoneOf } from '../ui/layout.tsx';
import { Empty, Pager, Segment } from '../ui/parts.tsx';

const path = '/portal/accidents';

/** The states, each with the accidents that are in it. */
const states: { [state: string]: { name: string; means: string; query: Record<string, string[]> } } = {
  all: { name: 'All', means: 'All accidents, newest first.', query: {} },
  open: {
    name: 'Open',
    means: 'Open: detected or verified, without a report yet, not a false alarm, and not closed.',
    query: { maxLevel: ['2'], dismissed: ['false'], closed: ['false'] },
  },
  report: {
    name: 'Report ready',
    means: 'Report ready: level 3 has been reached.',
    query: { minLevel: ['3'], dismissed: ['false'], closed: ['false'] },
  },
  false: {
    name: 'False alarm',
    means: 'False alarm: the provider has dismissed the accident.',
    query: { dismissed: ['true'], closed: ['false'] },
  },
  closed: {
    name: 'Closed',
    means: 'Closed: somebody of your account has closed the accident.',
    query: { closed: ['true'] },
  },
};

/** The days of accidents that are shown, unless others are asked for: all. */
const always = { from: '1970-01-02', to: '9999-12-30' };

/** What the address asks for, and what to ask the list for, unless something is wrong with it. */
async function requested(c: Context) {
  const zone = timeZoneOf(c);
  const typed = (name: string) => (c.req.query(name) ?? '').trim().slice(0, 200);
  const asked = {
    state: Object.hasOwn(states, typed('state')) ? typed('state') : 'all',
    level: /^[123]$/.test(typed('level')) ? typed('level') : '',
    from: typed('from'),
    to: typed('to'),
    vehicle: typed('vehicle'),
    driver: typed('driver'),
  };
  const { state, level, vehicle, driver } = asked;
  const [from, to] = [asked.from || always.from, asked.to || always.to];
  const problems = problemsOfDays(from, to);
  const matched = await matchFleet(c.env, c.get('caller'), { vehicle, driver });
  const { minLevel = ['1'], maxLevel = ['3'], ...others } = states[state]?.query ?? {};
  const query = {
    ...others,
    minLevel: [String(Math.max(Number(minLevel[0]), Number(level || 1)))],
    maxLevel: [String(Math.min(Number(maxLevel[0]), Number(level || 3)))],
    ...(vehicle && { vehicles: [vehicle.toUpperCase(), ...(matched.vehicles ?? []).map(({ id }) => id)] }),
    ...(driver && { driver: [matched.drivers?.[0]?.id ?? driver] }),
    ...((asked.from || asked.to) && problems.length === 0 && rangeOfDays(zone, from, to)),
  };
  const set = Object.entries(asked).filter(
    ([name, value]) => value !== '' && (name !== 'state' || value !== 'all'),
  );
  const request = problems.length === 0 ? { connectionId: undefined, descending: true, query } : undefined;
  return { asked, matched, problems, request, set: Object.fromEntries(set) };
}

/** The address with these filters. */
const addressOf = (set: Record<string, string>, to = path): string => {
  const query = new URLSearchParams(set).toString();
  return query ? `${to}?${query}` : to;
};

/** The accidents of the account by their state, newest first. */
export async function list(c: Context) {
  const { asked, matched, problems, request, set } = await requested(c);
  const { cursor } = c.req.query();
  const { items, next } = request
    ? await readNamed(c.env, c.get('caller'), accidentsWithVehicles, {
        ...request,
        query: { ...request.query, limit: ['50'], ...(cursor && { cursor: [cursor] }) },
      })
    : { items: [] };
  const older = next && addressOf({ ...set, cursor: next });
  const { state: _, ...filters } = set;
  return page(
    c,
    {
      title: 'Accidents',
      lead: states[asked.state]?.means,
      actions: (
        <div class="actions" data-fresh="actions">
          {problems.length === 0 && (
            <LinkButton href={addressOf(set, `${path}.csv`)} name="Export CSV" icon="download" />
          )}
        </div>
      ),
    },
    <section class="panel" aria-label="Accidents">
      <div class="panel-body pt-4" data-fresh="states">
        <Segment
          label="State"
          choices={Object.entries(states).map(([state, { name }]) => ({
            href: addressOf({ ...(state !== 'all' && { state }), ...filters }),
            name,
            current: state === asked.state,
          }))}
        />
      </div>
      <FilterBox path={path} set={Object.keys(filters).length} open={problems.length > 0}>
        {asked.state !== 'all' && <input type="hidden" name="state" value={asked.state} />}
        <DayFields {...asked} problems={problems} />
        <Select
          name="level"
          label="Level"
          value={asked.level}
          options={[
            ['', 'Any'],
            ...levelNames.map((name, i): [string, string] => [String(i + 1), `${i + 1} ${name}`]),
          ]}
        />
        <FleetFields {...asked} matched={matched} vehicleBy="Name, plate or VIN" />
      </FilterBox>
      <div id="accidents-now" data-fresh="accidents" data-live>
        {items.length > 0 && <Accidents accidents={items} />}
        {items.length === 0 && problems.length === 0 && (
          <Nothing state={asked.state} older={older} filtered={Object.keys(filters).length > 0} />
        )}
        {(items.length > 0 || cursor) && (
          <Pager
            count={`${counted(items.length, 'accident', 'accidents')}${next ? ', more follow' : ''}`}
            newest={cursor && addressOf(set)}
            older={older}
          />
        )}
      </div>
      <script src="/portal/filters.js" defer></script>
    </section>,
    problems.length > 0 ? 'invalid' : undefined,
  );
}

/** The same accidents as a file; the page, which says what is wrong, if something is. */
export async function file(c: Context) {
  const { asked, problems, request, set } = await requested(c);
  if (problems.length > 0) return seeOther(c, addressOf(set));
  const { from, to } = asked;
  return csvFile(
    c,
    { list: accidentsWithVehicles, cells: accidents.itemCells, name: 'accidents', from, to },
    request,
  );
}

/** A state that few accidents have may show nothing for as far as one page looks. */
const Nothing = (props: { state: string; older: string | undefined; filtered: boolean }) => {
  const { state, older, filtered } = props;
  if (filtered && !older)
    return (
      <Empty
        icon="search"
        title="Nothing matches these filters"
        action={<LinkButton href={path} name="Clear all" />}
      />
    );
  return older ? (
    <Empty icon="search" title="None so far" action={<LinkButton href={older} name="Look further back" />}>
      The newest accidents do not match. There are older ones.
    </Empty>
  ) : state === 'all' ? (
    <Empty icon="shield-check" title="No accidents">
      A detected accident appears here within seconds, first as level 1.
    </Empty>
  ) : (
    <Empty icon="shield-check" title={state === 'open' ? 'No open accidents' : 'No such accidents'}>
      {states[state]?.means}
    </Empty>
  );
};
