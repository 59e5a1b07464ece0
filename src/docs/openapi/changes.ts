import { expiredCursor, feedCursor, QueryKinds } from '../../fleet/changes/schema.ts';
import { QueryText } from '../../platform/query.ts';
import { ref } from './components.ts';
import { examples } from './examples.ts';
import { pageRefusals, parameter, parameterRef, refused } from './list-parts.ts';
import type { Operation } from './operation.ts';

/** The change feed: our addition to the specification. */
export const changeFeed: Operation = {
  method: 'get',
  path: '/changes',
  id: 'listChanges',
  tag: 'Fleet',
  summary: 'Follow changes',
  description:
    'What changed, in the order in which the service learned it. Each change comes at least once, with the current ' +
    'state; a page has each record once. Nothing is skipped, however many records come in meanwhile. Changes are kept ' +
    'for 30 days. Begin with `cursor=now`, which returns a `resume` and nothing else; list everything; then come back ' +
    'with `resume`. Without a cursor, the feed begins 30 days back. This feed is our addition to the specification.',
  security: 'ApiToken',
  parameters: [
    parameterRef('ConnectionId'),
    parameterRef('limit'),
    parameter(
      'cursor',
      QueryText,
      'The `next` or `resume` of the page before, with the same connection and kinds; or `now`.',
    ),
    parameter('kinds', QueryKinds, 'Only these kinds.'),
  ],
  reply: {
    name: 'ChangesPage',
    message: 'Changes',
    data: { type: 'array', items: ref('Change') },
    example: [examples.Change],
    paged: true,
    resumable: true,
  },
  refusals: [
    { message: 'Invalid connection id', field: 'Connection-Id', must: 'must be a UUID' },
    ...pageRefusals(feedCursor),
    { message: expiredCursor.message, field: 'cursor', must: expiredCursor.must },
    refused('kinds', QueryKinds, ['?']),
  ].filter((refusal) => refusal !== undefined),
};
