import { Hono } from 'hono';
import { accidents } from '../fleet/accidents.ts';
import { readList } from '../fleet/service.ts';
import type { App, Context } from '../http/context.ts';
import { Table, Time } from './components.tsx';
import { page } from './layout.tsx';

/** The accidents of the account, newest first. */
export const accidentPages = new Hono<App>().get('/accidents', list);

async function list(c: Context) {
  const { level: wanted = '', cursor } = c.req.query();
  const level = Object.hasOwn(levels, wanted) ? wanted : '';
  const { items, next } = await readList(c.env, c.get('caller'), accidents.list, {
    connectionId: undefined,
    query: { limit: ['50'], ...(level && { minLevel: [level] }), ...(cursor && { cursor: [cursor] }) },
    descending: true,
  });
  return page(
    c,
    'Accidents',
    <>
      <Filters level={level} />
      {items.length === 0 ? (
        <p>{next ? 'No matching accidents so far.' : 'No accidents.'}</p>
      ) : (
        <Accidents accidents={items} />
      )}
      {next && (
        <a href={`/portal/accidents?${new URLSearchParams({ level, cursor: next })}`}>Older accidents</a>
      )}
    </>,
  );
}

const levels: { [level: string]: string } = { '': 'all', 2: 'verified', 3: 'report-ready' };
const levelNames = ['', 'first detection', 'verified', 'report-ready'];

const Filters = ({ level }: { level: string }) => (
  <form method="get">
    <label>
      Level
      <select name="level">
        {Object.entries(levels).map(([value, name]) => (
          <option value={value} selected={value === level}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <button type="submit">Show</button>
  </form>
);

type Accident = ReturnType<typeof accidents.list.present>;

const Accidents = ({ accidents }: { accidents: Accident[] }) => (
  <Table caption="Accidents" head={['Time', 'Level', 'VIN', 'Provider', 'Report']}>
    {accidents.map(({ eventTime, notificationLevel, dismissed, vin, tSP, reportUrl }) => (
      <tr>
        <th scope="row">
          <Time at={eventTime} />
        </th>
        <td>
          {notificationLevel} {levelNames[notificationLevel]}
          {dismissed && (
            <>
              {' '}
              <span class="tag">false alarm</span>
            </>
          )}
        </td>
        <td>{vin}</td>
        <td>{tSP}</td>
        <td>
          {reportUrl ? (
            <a href={reportUrl} rel="noreferrer">
              open report
            </a>
          ) : (
            '–'
          )}
        </td>
      </tr>
    ))}
  </Table>
);
