import { capitalised, type List } from '../../fleet/lists/list.ts';
import { lists } from '../../fleet/lists/registry.ts';
import { QueryTime } from '../../platform/query.ts';
import { ref } from './components.ts';
import { examples } from './examples.ts';
import { pageRefusals, parameter, parameterRef, rangeRefusals, refused } from './list-parts.ts';
import type { Operation, Refused } from './operation.ts';
import { itemName } from './resources.ts';

/** The operations of all lists. */
export const listOperations = (): Operation[] =>
  lists.map((resource) => listOperation(resource.list, itemName(resource)));

function listOperation(list: List, item: string): Operation {
  const { path, plural, order, range, filters, connectionRequired, addition } = list;
  const names = range ? (['from', 'to'] as const) : [];
  return {
    method: 'get',
    path,
    id: `list${item}s`,
    tag: 'Fleet',
    summary: `List ${plural}`,
    description: [
      `In order of \`${order}\`, oldest first. Nothing repeats or goes missing while you page.`,
      ...(addition ? ['This list is our addition to the specification.'] : []),
    ].join(' '),
    security: 'ApiToken',
    parameters: [
      parameterRef(connectionRequired ? 'RequiredConnectionId' : 'ConnectionId'),
      parameterRef('limit'),
      parameterRef('cursor'),
      ...names.map((name) => ({
        ...parameter(name, QueryTime, rangeWords(order)[name], range === 'required'),
        ...(range === 'required' && { example: exampleRange[name] }),
      })),
      ...Object.entries(filters).map(([name, { query, description }]) => parameter(name, query, description)),
    ],
    reply: {
      name: `${item}Page`,
      message: capitalised(plural),
      data: { type: 'array', items: ref(item) },
      example: [examples[item]],
      paged: true,
    },
    refusals: refusalsOf(list),
  };
}

/** Around the times of the examples. */
const exampleRange = { from: '2026-11-01', to: '2026-12-01' };

const rangeWords = (order: string) => ({
  from: `Only those whose \`${order}\` is this time or later: RFC 3339, or a date, which means midnight UTC.`,
  to: `Only those whose \`${order}\` is before this time.`,
});

function refusalsOf({ connectionRequired, range, filters }: List): Refused[] {
  return [
    ...(connectionRequired
      ? [{ message: 'Connection-Id header is required', field: 'Connection-Id', must: 'is required' }]
      : []),
    { message: 'Invalid connection id', field: 'Connection-Id', must: 'must be a UUID' },
    ...pageRefusals(),
    ...(range ? rangeRefusals(range === 'required') : []),
    ...Object.entries(filters).map(([name, { query }]) => refused(name, query, ['?'])),
  ].filter((refusal) => refusal !== undefined);
}
