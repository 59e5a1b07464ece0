import type { FeedStatus, PullSummary } from '../../providers/status.ts';
import { Panel, Table } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { feedWords, isWaiting, percent, timeLeft } from './health.tsx';

/** What is pulled, how it goes, and how far its history has come. */
export const Feeds = ({ pull }: { pull: PullSummary }) => (
  <Panel id="feeds" title="What is pulled">
    <Table caption="What is pulled" head={['Records', 'State', 'How often', 'History']}>
      {pull.feeds.map((feed) => (
        <tr>
          <td class="card-title">
            <strong class="font-medium">{feedWords[feed.feed]}</strong>
          </td>
          <td class="card-wide">
            <FeedState feed={feed} state={pull.state} />
          </td>
          <td class="nowrap" data-label="How often">
            {feed.everyMinutes === 1 ? 'Each minute' : `Every ${feed.everyMinutes} minutes`}
          </td>
          <td data-label="History">
            <History feed={feed} pull={pull} />
          </td>
        </tr>
      ))}
    </Table>
    <p class="panel-foot">
      History comes newest first and notifies nobody. What has happened since the connection was made does.
    </p>
  </Panel>
);

const FeedState = ({ feed: { problem }, state }: { feed: FeedStatus; state: PullSummary['state'] }) => {
  if (state !== 'pulling') return <State mood="quiet">Stopped</State>;
  if (!problem) return <State mood="ok">Works</State>;
  return (
    <>
      <State mood={problem.isFailing ? 'bad' : 'warn'}>{problem.isFailing ? 'Fails' : 'Retrying'}</State>
      <p class="sub mt-1 max-w-md wrap-anywhere">{problem.advice}</p>
      <p class="sub">
        Since <Time at={problem.since} />. Next try at <Time at={problem.nextAt} />.
      </p>
    </>
  );
};

const History = ({ feed: { history }, pull }: { feed: FeedStatus; pull: PullSummary }) => {
  if (!history) return <span class="sub">None: the provider gives the present state.</span>;
  if (pull.historyDays === 0) return <span class="sub">None was asked for.</span>;
  const { share, records, recordsPerMinute, endsAt } = history;
  const many = `${records.toLocaleString('en')} record${records === 1 ? '' : 's'}`;
  if (share >= 1)
    return (
      <span>
        All {pull.historyDays} days, {many}
      </span>
    );
  const rate = recordsPerMinute === null ? [] : [`${recordsPerMinute.toLocaleString('en')} a minute`];
  const waits = pull.state === 'pulling' && isWaiting(pull);
  const left = endsAt === null || pull.state !== 'pulling' || waits ? [] : [timeLeft(endsAt)];
  return (
    <span class="block min-w-40">
      {percent(share)} of {pull.historyDays} days
      <svg class="progress-line my-1" aria-hidden="true">
        <rect class="fill-rest" width="100%" height="6" rx="3" />
        <rect class="fill-main" width={percent(share)} height="6" rx="3" />
      </svg>
      <span class="sub">
        {[many, ...rate, ...left].join(', ')}
        {waits && (
          <>
            . The provider wants us to wait until <Time at={pull.nextAt} />.
          </>
        )}
      </span>
    </span>
  );
};
