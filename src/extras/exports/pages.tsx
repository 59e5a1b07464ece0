import { Hono } from 'hono';
import * as v from 'valibot';
import { config } from '../../core/platform/config.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { invalid } from '../../core/platform/errors.ts';
import { parse } from '../../core/platform/fields.ts';
import { type App, by, type Context, file } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { counted, listed, sizeInWords } from '../../texts/words.ts';
import type { Pages } from '../../ui/added.ts';
import { LinkButton } from '../../ui/buttons.tsx';
import { boxes, drawn, FormPanel, handles, line } from '../../ui/forms/form-fields.tsx';
import type { Offered } from '../../ui/forms/forms.tsx';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { State } from '../../ui/parts.tsx';
import { limited, role } from '../../ui/session/rights.ts';
import { done } from '../../ui/submit.ts';
import { type Column, TablePanel } from '../../ui/table.tsx';
import { Day, rangeOfDays, Time } from '../../ui/time.tsx';
import * as exporting from './exports.ts';

const path = '/portal/settings/exports';

/** Settings, Exports: the account's data as files. */
async function list(c: Context) {
  const exports = await exporting.listExports(...by(c));
  const isAvailable = exporting.canExport(c.env);
  return page(
    c,
    { title: 'Exports' },
    <>
      {isAvailable && (
        <FormPanel
          title="Export data"
          lead={`Up to ${exporting.maxExportsPerDay} a day, one at a time. We email you when the files are ready.`}
          to={path}
          send="Export"
        >
          {drawn(which, { lists: exporting.exportableLists })}
          <div class="grid gap-4 sm:grid-cols-2">{drawn(days)}</div>
          {drawn(as, { formats: 'csv' })}
        </FormPanel>
      )}
      <TablePanel
        title="Exports"
        foot={`Files are deleted after ${exporting.exportKeptMs / dayMs} days, when a driver is erased, and when a connection is deleted.`}
        look="data-cards"
        labels
        columns={columns}
        items={exports}
        empty={{
          icon: 'download',
          title: isAvailable ? 'No exports yet' : 'Exports are not available here',
          text: !isAvailable && 'The operator of this service has to add a bucket for files first.',
        }}
      />
    </>,
  );
}

const wordsFor = (name: string): string => name.replaceAll('-', ' ');

const Trimmed = v.pipe(v.string(), v.trim());

/** What an export is asked for by. */
const offered = exporting.exportableLists.map((name): Offered => [name, capital(wordsFor(name))]);
const which = { lists: boxes('Lists', offered) };
const days = {
  from: line('From', Trimmed, { type: 'date', hint: 'Leave empty for all days.' }),
  to: line('To', Trimmed, { type: 'date', hint: 'Applies to events, trips and accidents.' }),
};
const as = {
  formats: boxes('Format', [
    ['csv', 'CSV', 'For spreadsheets. Times are in UTC.'],
    ['parquet', 'Parquet', 'For Polars, pandas, DuckDB and data warehouses.'],
  ]),
};

/** Asks for an export by the form. */
const request = handles(
  { ...which, ...days, ...as },
  list,
  async (c, { lists, from, to, formats }) => {
    const { problems, range } = rangeOfDays(timeZoneOf(c), from, to);
    if (problems.length > 0) throw invalid('Check the days.', problems);
    const wanted = parse(exporting.Wanted, {
      lists,
      formats,
      from: range.from?.[0],
      to: range.to?.[0],
    });
    await exporting.requestExport(...by(c), c.get('session').user.id, wanted);
    const then = config(c.env).emailFrom ? 'We will email you' : 'It will appear here';
    return done(c, path, `The export is being prepared. ${then} when it is ready.`);
  },
);

/** Sends a file, piece by piece. */
async function sendFile(c: Context) {
  const { id = '', file: name = '' } = c.req.param();
  return file(c, await exporting.openFile(...by(c), id, name));
}

const download = { name: 'Download', icon: 'download', small: true } as const;

const columns: Column<exporting.ListedExport>[] = [
  {
    head: 'What',
    look: 'card-title',
    cell: ({ wanted: { lists } }) =>
      lists.length === exporting.exportableLists.length
        ? 'All lists'
        : capital(listed(lists.map(wordsFor))),
    more: ({ wanted: { from, to }, connectionIds }) => (
      <span class="sub block">
        {connectionIds && `Of ${counted(connectionIds.length, 'connection', 'connections')}. `}
        {!from && !to && 'All days'}
        {from && ['From ', <Day at={Date.parse(from)} />]}
        {to && [' to ', <Day at={Date.parse(to) - 1} />]}
      </span>
    ),
  },
  {
    head: 'Requested',
    cell: ({ requestedAt, by }) => [<Time at={requestedAt} />, by && ` by ${by}`],
  },
  { head: 'State', cell: (one) => <Progress {...one} /> },
  {
    head: 'Files',
    look: 'card-wide',
    cell: (one) =>
      one.state === 'ready' && (
        <ul class="grid gap-2">
          {one.files.map(({ name, records, bytes }) => (
            <li class="flex flex-wrap items-center justify-between gap-x-3">
              <span>
                {name}{' '}
                <span class="sub block">
                  {counted(records, 'record', 'records')}, {sizeInWords(bytes)}
                </span>
              </span>
              <LinkButton {...download} href={`${path}/${one.id}/${name}`} about={name} />
            </li>
          ))}
        </ul>
      ),
  },
];

const Progress = ({ state, records, truncated, expiresAt }: exporting.ListedExport) => {
  const many = counted(records, 'record', 'records');
  if (state === 'failed') return <State mood="bad">Failed. Request it again.</State>;
  if (state === 'preparing')
    return <State mood="quiet" icon="clock" children={`Preparing, ${many} so far`} />;
  return (
    <>
      <State mood={truncated ? 'warn' : 'ok'}>
        {truncated ? `The first ${many}: choose fewer days` : 'Ready'}
      </State>
      <span class="sub block">
        Until <Time at={expiresAt} />
      </span>
    </>
  );
};

const routes = new Hono<App>()
  .get('/settings/exports', role('viewer'), list)
  .post('/settings/exports', role('admin'), limited, request)
  .get('/settings/exports/:id/:file', role('admin'), limited, sendFile);

export const pages: Pages = { routes, tabs: [{ href: path, name: 'Exports' }] };
