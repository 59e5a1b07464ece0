import * as v from 'valibot';
import { alternatives } from '../../core/fleet/lists/field-types.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { Uuid } from '../../core/platform/fields.ts';
import { Limit, QueryCursor, QueryList } from '../../core/platform/query.ts';
import { capital } from '../../core/platform/text.ts';

/** The kinds of records in the feed: those that have a list. */
export const changeKinds: string[] = lists.map(({ kind }) => kind);

export const QueryKinds = v.pipe(
  QueryList,
  v.check(
    (kinds) => kinds.every((kind) => changeKinds.includes(kind)),
    `must be ${alternatives(changeKinds)}`,
  ),
  v.transform((kinds) => kinds.toSorted()),
  v.metadata({ type: 'array', items: { type: 'string', enum: changeKinds }, maxItems: 100 }),
);

export const ChangesQuery = v.object({
  limit: Limit,
  cursor: QueryCursor,
  kinds: v.optional(QueryKinds),
});

export const feedCursor =
  'must be the resume of a page of this feed, with the same connection and kinds, or now';

export const expiredCursor = {
  message: 'Cursor has expired, list everything again',
  must: 'must be at most 30 days old: list everything again, and begin with cursor=now',
};

export const Change = v.object({
  kind: v.string(),
  id: Uuid,
  connectionId: Uuid,
  action: v.picklist(['changed', 'deleted']),
  data: v.nullable(v.union(lists.map(({ item }) => item as v.GenericSchema))), // each list's own
});
export type Change = v.InferOutput<typeof Change>;

/** The changes of each kind, with their schema's name, such as ChangedDriver. */
export const changesByKind = lists.map(({ kind, item }) => ({
  kind,
  name: `Changed${capital(kind)}`,
  schema: v.object({
    ...Change.entries,
    kind: v.literal(kind),
    data: v.nullable(item as v.GenericSchema), // each list's own
  }),
}));
