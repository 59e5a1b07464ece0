import type { List } from '../../core/fleet/lists/list.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import { capital } from '../../core/platform/text.ts';
import { ref } from '../../docs/openapi/components.ts';
import type { Operation } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { itemName } from '../../docs/openapi/examples.ts';
import { exampleId, idParameter, refused, unknownId } from '../../docs/openapi/lists.ts';

export const documented: Documented = {
  operations: {
    Fleet: Object.fromEntries(
      lists
        .filter(({ list }) => 'externalId' in list.columns)
        .map((resource) => [`update${itemName(resource)}`, externalIdOperation(resource)]),
    ),
  },
  schemas: { ExternalIdInput },
  examples: { ExternalIdInput: { externalId: 'FL-0042' } },
  words: { ExternalIdInput: 'Your own identifier for it; null removes it.' },
};

function externalIdOperation(resource: (typeof lists)[number]): Operation {
  const { path, singular }: List = resource.list;
  const item = itemName(resource);
  return {
    call: `put ${path}/{id}`,
    summary: `Give a ${singular} your own identifier`,
    description:
      'Unique in your account where it is set, and a filter of the list. Providers never change it.',
    parameters: [{ written: idParameter('Its `id`.', exampleId(resource)) }],
    body: 'ExternalIdInput',
    reply: {
      name: `${item}Reply`,
      message: `${capital(singular)} changed`,
      data: ref(item),
      example: resource.itemExample,
    },
    refusals: [
      refused('externalId', ExternalIdInput.entries.externalId, undefined),
      { field: 'externalId', must: `is already used by another ${singular}` },
    ],
    others: unknownId(singular),
  };
}
