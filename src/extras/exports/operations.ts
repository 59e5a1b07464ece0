import * as v from 'valibot';
import { lists } from '../../core/fleet/lists/registry.ts';
import { TimeOrDay } from '../../core/platform/fields.ts';
import type { Operation } from '../operation.ts';
import { count, described, id, time } from '../replies.ts';

const listNames = lists.map(({ list }) => list.path.slice(1));
const ListName = v.pipe(
  v.string(),
  v.check((name) => listNames.includes(name), 'must be the path of a list, such as safety-events'),
);

export const NewExport = v.object({
  lists: v.optional(v.array(ListName), listNames),
  format: v.optional(v.picklist(['csv', 'parquet'], 'must be csv or parquet'), 'csv'),
  from: v.optional(TimeOrDay),
  to: v.optional(TimeOrDay),
});

export const RequestedExport = v.object({ id });

export const Export = v.object({
  id,
  state: v.picklist(['preparing', 'ready', 'failed']),
  requestedAt: time,
  records: count,
  truncated: described(
    v.boolean(),
    'Whether records are missing because it has the most that an export can have.',
  ),
  files: v.array(v.object({ name: v.string(), records: count, bytes: count })),
});

export const tag = ['Exports', "Accounts' data as files."] as const;

export const operations = {
  exportAccount: {
    call: 'POST /accounts/:id/exports',
    summary: 'Export the lists of an account as files, by default all',
    description:
      'Its admins see the export in the portal, too. The files are at `/operator/accounts/{id}/exports/{exportId}/{name}` ' +
      'for seven days once it is ready.',
    body: NewExport,
    reply: RequestedExport,
  },
  listExports: {
    call: 'GET /accounts/:id/exports',
    summary: 'List the exports of an account',
    description: 'Newest first.',
    reply: v.array(Export),
  },
} satisfies Record<string, Operation>;
