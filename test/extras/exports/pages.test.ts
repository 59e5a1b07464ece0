import { env } from 'cloudflare:workers';
import { maxExportRecords } from '#src/extras/exports/exports.ts';
import { prepareExports } from '#src/extras/exports/run.ts';
import { withoutArchive } from '#test/extras/archive/support.ts';
import {
  issueToken,
  keepEmails,
  listenToLog,
  operator,
  origin,
  ownRows,
  personBefore,
  rows,
  textOf,
} from '#test/support.ts';
import { csvIn, exportable, exported, fileOf, quiet } from './support.ts';

const path = '/portal/settings/exports';
const us = exportable();
const ann = personBefore(beforeEach, us);

type Fields = [name: string, value: string][];
const trips: Fields = [
  ['lists', 'trips'],
  ['formats', 'csv'],
];
const request = (fields: Fields = trips) => ann.post(path, fields, { bindings: quiet });

/** Asks for an export by the form, and has it prepared. Returns the path of its file. */
async function prepared(fields?: Fields) {
  expect((await request(fields)).status).toBe(303);
  await prepareExports(env);
  const [made] = await ownRows(us, 'exports');
  return `${path}/${made?.id}/trips.csv`;
}

it('an export is emailed when it is ready, and on the page, and the audit log has who got it', async () => {
  const { sent } = keepEmails();
  const file = await ann.get(await prepared());
  expect(sent()).toMatchObject([{ to: ann.email, subject: 'Your export is ready' }]);
  expect(sent()[0]?.text).toMatch(/4 records of Acme Insurance can be downloaded until .* UTC\./);
  expect(sent()[0]?.text).toContain(origin + path);
  expect(Object.fromEntries(file.headers)).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="trips.csv"',
    'cache-control': 'private, no-store',
  });
  expect(await csvIn(file)).toHaveLength(4);
  expect(await ann.textAt(path)).toMatch(/Ready .* trips\.csv 4 records, 2 KB/);
  expect(await ann.textAt('/portal/settings/audit')).toMatch(
    /export downloaded: trips\.csv .* Changed account Acme Insurance export requested/,
  );
});

it('an export whose email is refused is ready all the same, and the log does not have the address', async () => {
  const { raw, lines } = listenToLog();
  const refusal = Object.assign(new Error(`no ${ann.email}`), { code: 'E_RECIPIENT_SUPPRESSED' });
  keepEmails().send.mockRejectedValue(refusal);
  expect((await ann.get(await prepared())).status).toBe(200);
  const error = expect.stringContaining('E_RECIPIENT_SUPPRESSED');
  expect(lines('fault')).toMatchObject([{ message: 'A job failed', error }]);
  expect(raw.join()).not.toContain(ann.email);
});

it('an export that ends with the most records says so, on the page and by email', async () => {
  const { sent } = keepEmails();
  await request();
  expect(await ann.textAt(path)).toContain('Preparing, 0 records so far');
  await rows('update exports set records = ?1', maxExportRecords - 3);
  await prepareExports(env);
  const most = { records: maxExportRecords, truncated: true };
  for (const list of [
    await us.api.get('/exports'),
    await operator.get(`/operator/accounts/${us.accountId}/exports`),
  ])
    expect(list.data).toMatchObject([most]);
  expect(await ann.textAt(path)).toContain('The first 2,000,000 records: choose fewer days');
  expect(sent()[0]?.text).toContain(
    'That is the most that an export can have: choose fewer days for the rest.',
  );
  await rows('update exports set next_at = 0, finished_at = null, requested_at = 0');
  await prepareExports(env);
  expect(await ann.textAt(path)).toContain('Failed. Request it again.');
});

it('asking for an export names what is wrong', async () => {
  const refusal = async (...fields: Fields) => {
    const reply = await request(fields);
    return [reply.status, await textOf(reply)];
  };
  const refused = (why: string) => [400, expect.stringContaining(why)];
  expect(await refusal(...trips, ['from', '2026-02-30'])).toEqual(refused('Must be a date'));
  expect(await refusal(['formats', 'csv'])).toEqual(refused('Choose at least one.'));
  const without = await textOf(await ann.get(path, { bindings: withoutArchive }));
  expect(without).toContain('Exports are not available here');
  await request();
  expect(await refusal(...trips)).toEqual(refused('is being prepared'));
});

it('an export by API token is in the audit log and in the portal, by its name', async () => {
  const connectionIds = us.connections.map(({ id }) => id);
  const { value: token } = await issueToken(us.accountId, { name: 'Warehouse', connectionIds });
  await fileOf(token, await exported(token, { lists: ['trips'] }), 'trips.csv');
  expect(await ann.textAt(path)).toMatch(/Trips Of 2 connections\. All days .* by Warehouse Ready/);
  expect(await ann.textAt('/portal/settings/audit')).toMatch(
    /export downloaded: trips\.csv API token Warehouse .* export requested API token Warehouse/,
  );
});
