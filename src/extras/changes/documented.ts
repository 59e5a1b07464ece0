import * as v from 'valibot';
import { alternatives } from '../../core/fleet/lists/field-types.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { exampleConnectionId } from '../../core/fleet/lists/resource.ts';
import { QueryText } from '../../core/platform/query.ts';
import { ref } from '../../docs/openapi/components.ts';
import type { Operation } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { connection, exampleId, invalidCursor, limit, query } from '../../docs/openapi/lists.ts';
import {
  Change,
  changeKinds,
  changesByKind,
  expiredCursor,
  feedCursor,
  QueryKinds,
} from './schema.ts';

const listChanges: Operation = {
  call: 'get /changes',
  summary: 'Follow changes',
  description:
    'Returns changes in the order in which the service received them, each at least once, with the current ' +
    'state; a page has each record once. Nothing is skipped, however many records arrive meanwhile. Changes are kept ' +
    'for 30 days. Begin with `cursor=now`, which returns a `resume` and nothing else; list everything; then continue ' +
    'with `resume`. Without a cursor, the feed starts 30 days ago.',
  parameters: [
    connection,
    limit,
    {
      ...query(
        'cursor',
        QueryText,
        'The `next` or `resume` of the page before, with the same connection and kinds; or `now`.',
      ),
      refusals: [invalidCursor(feedCursor), { field: 'cursor', ...expiredCursor }],
    },
    query('kinds', QueryKinds, 'Only these kinds.'),
  ],
  reply: {
    name: 'ChangesPage',
    message: 'Changes',
    data: { type: 'array', items: ref('Change') },
    paged: true,
    resumable: true,
  },
};

/** By which generated clients narrow a change. */
const byKind = {
  oneOf: changesByKind.map(({ name }) => ref(name)),
  discriminator: {
    propertyName: 'kind',
    mapping: Object.fromEntries(changesByKind.map(({ kind, name }) => [kind, ref(name).$ref])),
  },
};

const examples = Object.fromEntries(
  lists.map((resource, at) => [
    changesByKind[at]?.name,
    {
      kind: resource.kind,
      id: exampleId(resource),
      connectionId: exampleConnectionId,
      action: 'changed',
      data: resource.itemExample,
    },
  ]),
);

const kindWords = `What it is: ${alternatives(changeKinds)}; there may be more in future, unless \`kinds\` says which.`;

export const documented: Documented = {
  operations: { Fleet: { listChanges } },
  schemas: {
    ...Object.fromEntries(changesByKind.map(({ name, schema }) => [name, schema])),
    Change: v.pipe(Change, v.metadata(byKind)),
  },
  examples: { ...examples, Change: examples.ChangedSafetyEvent },
  words: {
    Change: 'One record that changed, and how it is now.',
    ...Object.fromEntries(
      changesByKind.map(({ kind, name }) => [name, `A change of kind ${kind}.`]),
    ),
    ...Object.fromEntries(
      ['Change', ...changesByKind.map(({ name }) => name)].flatMap((name) => [
        [`${name}.kind`, name === 'Change' ? kindWords : 'What it is.'],
        [`${name}.id`, 'Its identifier, as in its list.'],
        [`${name}.connectionId`, 'The connection it belongs to.'],
        [`${name}.action`, '`changed`: it is new or different. `deleted`: it no longer exists.'],
        [`${name}.data`, 'The item as its list shows it now; null if it was deleted.'],
      ]),
    ),
  },
};
