import * as v from 'valibot';
import { TimeOrDay, timestamp, UtcTime, Uuid, Whole } from '../../core/platform/fields.ts';
import { rangeOf } from '../../core/platform/query.ts';
import { exportableLists, type ListedExport, type Wanted } from './exports.ts';
import { formatNames } from './files.ts';

const ListName = v.picklist(exportableLists, 'must be the path of a list, such as safety-events');
const FormatName = v.picklist(formatNames, 'must be csv or parquet');

/** What a client of the API asks for: by default all lists of all days, as CSV. */
export const ExportInput = v.object({
  lists: v.optional(v.array(ListName), exportableLists),
  formats: v.optional(v.array(FormatName), ['csv']),
  from: v.optional(TimeOrDay),
  to: v.optional(TimeOrDay),
});

/** What is to be exported. @throws Refusal: invalid, when the range is empty */
export function wantedBy({ lists, formats, ...days }: v.InferOutput<typeof ExportInput>): Wanted {
  const { from, to } = rangeOf(days.from, days.to);
  return {
    lists,
    formats,
    ...(from !== undefined && { from: timestamp(from) }),
    ...(to !== undefined && { to: timestamp(to) }),
  };
}

export const ExportFile = v.object({ name: v.string(), records: Whole, bytes: Whole });

/** An export as clients of the API see it. */
export const Export = v.object({
  id: Uuid,
  state: v.picklist(['preparing', 'ready', 'failed']),
  lists: v.array(v.string()),
  formats: v.array(v.picklist(formatNames)),
  from: v.nullable(UtcTime),
  to: v.nullable(UtcTime),
  connectionIds: v.nullable(v.array(Uuid)),
  records: Whole,
  truncated: v.boolean(),
  files: v.array(ExportFile),
  requestedAt: UtcTime,
  expiresAt: UtcTime,
});

/** An export for clients of the API. Its files are listed once they are whole. */
export const shown = (one: ListedExport): v.InferOutput<typeof Export> => ({
  id: one.id,
  state: one.state,
  lists: one.wanted.lists,
  formats: one.wanted.formats,
  from: one.wanted.from ?? null,
  to: one.wanted.to ?? null,
  connectionIds: one.connectionIds,
  records: one.records,
  truncated: one.truncated,
  files:
    one.state === 'ready'
      ? one.files.map(({ name, records, bytes }) => ({ name, records, bytes }))
      : [],
  requestedAt: timestamp(one.requestedAt),
  expiresAt: timestamp(one.expiresAt),
});
