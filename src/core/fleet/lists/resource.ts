import * as v from 'valibot';
import { recordId } from '../../platform/db/ids.ts';
import type { AccountTable } from '../../platform/db/schema/types.ts';
import { derived, type Fields, fixed, optional } from './field.ts';
import { identifier, time, uuid } from './field-types.ts';
import { indexed } from './filters.ts';
import { declareList, itemOf, type ListDeclaration } from './list.ts';
import { type RecordDeclaration, recordKind, sourceIdText } from './record.ts';

/** Declares a kind of record that is stored and listed: all else follows. It needs a migration. */
export function resource<const K extends string, F extends Fields>(
  declaration: RecordDeclaration<K, F> & {
    description: string;
    table: AccountTable;
    list: ListDeclaration<keyof (F & typeof stamps) & string>;
  },
) {
  const { kind, description, table, sourceId, list } = declaration;
  const fields: F = declaration.fields; // none of them has a name that is used here
  const all = {
    id: uuid('Its identifier.', recordId(exampleConnectionId, kind, sourceId)),
    connectionId: uuid('The connection it belongs to.', exampleConnectionId),
    sourceId: sourceIdText(sourceId),
    ...fields,
    ...stamps,
  };
  return {
    ...listed(kind, description, all, table, list),
    ...recordKind<K, F>(declaration),
  };
}

/** Declares a list of the service's own data in `table`. */
export function listed<const K extends string, F extends Fields>(
  kind: K,
  description: string,
  fields: F,
  table: AccountTable,
  list: ListDeclaration<keyof F & string>,
) {
  return { kind, description, table, list: declareList(fields, table, list), ...itemOf(fields) };
}

export const exampleConnectionId = '01a1fc69-ae9e-77d4-be7b-4bc5ae1cace7';

/** When the service wrote an item. */
export const stamps = {
  createdAt: time('When the service first saw it.', '2026-11-20T19:58:00.000Z'),
  updatedAt: time('When the service last saw it change.', '2026-11-20T20:00:02.114Z'),
};

export const maxExternalId = 100;

const ownId = identifier(
  maxExternalId,
  'Your own identifier, such as a policy or fleet number; null if you have set none.',
  'FL-0042',
);

/** The account's own identifier. Records do not change it: `src/extras/external-ids/external-ids.ts` does. */
export const externalId = fixed(derived(optional(ownId)));

/** The body that sets the identifier of a connection or a vehicle, or null for none. */
export const ExternalIdInput = v.object({
  externalId: v.nullable(ownId.input as v.GenericSchema<string, string>), // a text is kept as it is
});

export const byExternalId = {
  externalId: {
    ...indexed('externalId', 'Only the one to which you have given this identifier.'),
    ofAccount: true,
  },
} as const;
