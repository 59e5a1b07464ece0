import { Hono } from 'hono';
import { accidentsWithVehicles, readNamed } from '../../fleet/named.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { needs } from '../session/rights.ts';
import { LinkButton } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { shortPlaceName } from '../ui/map.tsx';
import { Empty, Live, Pager, Segment, Table } from '../ui/parts.tsx';
import { accidentPath } from '../ui/records.tsx';
import { Level, State } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

/** The accidents of the account by their state, newest first. */
export const accidentPages = new Hono<App>().get('/accidents', needs('viewer'), list);

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

async function list(c: Context) {
  const { state: wanted = '', cursor } = c.req.query();
  const current = Object.hasOwn(states, wanted) ? wanted : 'all';
  const { items, next } = await readNamed(c.env, c.get('caller'), accidentsWithVehicles, {
    connectionId: undefined,
    query: { limit: ['50'], ...states[current]?.query, ...(cursor && { cursor: [cursor] }) },
    descending: true,
  });
  const older = next && `${addressOf(current)}${current === 'all' ? '?' : '&'}cursor=${next}`;
  return page(
    c,
    { title: 'Accidents', lead: states[current]?.means },
    <section class="panel" aria-label="Accidents">
      <div class="panel-body pt-4">
        <Segment
          label="State"
          choices={Object.entries(states).map(([state, { name }]) => ({
            href: addressOf(state),
            name,
            current: state === current,
          }))}
        />
      </div>
      <Live id="accidents-now" class="">
        {items.length > 0 && <Accidents accidents={items} />}
        {items.length === 0 && <Nothing state={current} older={older} />}
        {(items.length > 0 || cursor) && (
          <Pager
            count={`${counted(items.length, 'accident', 'accidents')}${next ? ', more follow' : ''}`}
            newest={cursor && addressOf(current)}
            older={older}
          />
        )}
      </Live>
    </section>,
  );
}

const addressOf = (state: string): string => (state === 'all' ? path : `${path}?state=${state}`);

const Accidents = ({ accidents }: { accidents: Accident[] }) => (
  <Table
    caption="Accidents"
    head={['Vehicle', 'State', 'Level', 'VIN', 'Place', 'Provider', 'Report', 'Time']}
    flow
  >
    {accidents.map((accident) => (
      <tr>
        <td class="card-title">
          <a class="cover" href={accidentPath(accident)}>
            {accident.vehicleName ?? 'Unknown vehicle'}
          </a>
        </td>
        <td class="card-side">
          <AccidentState accident={accident} />
          <HandledBy accident={accident} />
        </td>
        <td class="nowrap">
          <Level level={accident.notificationLevel} />
        </td>
        <td>
          <code>{accident.vin}</code>
        </td>
        <td>{shortPlaceName(accident.location)}</td>
        <td>{accident.tSP}</td>
        <td class="nowrap">
          {accident.reportUrl && (
            <a class="over" href={accident.reportUrl} rel="noreferrer">
              Open report
            </a>
          )}
        </td>
        <td class="nowrap">
          <Time at={accident.eventTime} />
        </td>
      </tr>
    ))}
  </Table>
);

/** A state that few accidents have may show nothing for as far as one page looks. */
const Nothing = ({ state, older }: { state: string; older: string | undefined }) =>
  older ? (
    <Empty icon="search" title="None so far" action={<LinkButton href={older} name="Look further back" />}>
      The newest accidents are in another state. There are older ones.
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

/** An accident as its list shows it. */
export type Accident = ReturnType<typeof accidentsWithVehicles.present>;

/** Who has closed an accident or, while it is not closed, acknowledged it. */
const HandledBy = ({ accident: { acknowledged, closed } }: { accident: Accident }) =>
  closed ? (
    <p class="sub">by {closed.by}</p>
  ) : acknowledged ? (
    <p class="sub">Acknowledged by {acknowledged.by}</p>
  ) : null;

/** The state of an accident in words: open, until it has its report or turns out to be a false alarm. */
export const AccidentState = ({ accident }: { accident: Accident }) =>
  accident.closed ? (
    <State mood="quiet" icon="circle-check">
      Closed
    </State>
  ) : accident.dismissed ? (
    <State mood="quiet">False alarm</State>
  ) : accident.notificationLevel < 3 ? (
    <State mood="warn" icon="circle-dot">
      Open
    </State>
  ) : (
    <State mood="ok" icon="file-text">
      Report ready
    </State>
  );
