import type { Pull } from '../../operator/api/connections.ts';
import { rowsOf } from './print.ts';

/** How a connection that pulls from a provider is doing. */
export const pullTables = (pull: Pull): string =>
  [
    rowsOf([pull], ['provider', 'organisation', 'baseUrl', 'state', 'lastPulledAt']),
    rowsOf(pull.feeds, [
      'feed',
      ['every', ({ everyMinutes }) => (everyMinutes === 1 ? 'minute' : `${everyMinutes} minutes`)],
      ['problem', ({ problem }) => problem?.advice ?? 'none'],
      ['since', ({ problem }) => problem?.since],
      ['next try', ({ problem }) => problem?.nextAt],
      ['history', ({ history }) => history && historyOf(history)],
      ['done by', ({ history }) => history?.endsAt],
    ]),
    ...(pull.refusals.length > 0
      ? [rowsOf(pull.refusals, [['refused', 'at'], 'kind', 'sourceId', 'reason'])]
      : []),
    ...(pull.unmapped.length > 0
      ? [
          rowsOf(pull.unmapped, [
            ['word that nothing maps', 'word'],
            ['events', 'count'],
          ]),
        ]
      : []),
  ].join('\n');

function historyOf({
  share,
  records,
  recordsPerMinute,
}: NonNullable<Pull['feeds'][number]['history']>): string {
  const rate = recordsPerMinute === null ? '' : `, ${recordsPerMinute} a minute`;
  return `${Math.floor(share * 100)} %, ${records} records${rate}`;
}
