import { counted, percent } from '../../../texts/words.ts';
import { State } from '../../../ui/parts.tsx';
import { type Column, naming, TablePanel } from '../../../ui/table.tsx';
import { spanInWords, Time } from '../../../ui/time.tsx';
import type { FeedStatus, PullStatus } from '../status.ts';
import { feedWords } from './health.ts';

/** What a connection pulls, whether that works, and how far its history has come. */
export const Feeds = ({ pull }: { pull: PullStatus }) => (
  <TablePanel
    title="Data pulled"
    live
    foot="History loads newest first. Only events since the connection was added notify your webhooks."
    stacked
    columns={feedColumns(pull)}
    items={pull.feeds}
  />
);

const feedColumns = (pull: PullStatus): Column<FeedStatus>[] => [
  naming('Records', ({ feed }) => feedWords[feed]),
  {
    head: 'State',
    look: 'card-wide',
    cell: (feed) => <FeedState feed={feed} state={pull.state} />,
  },
  { head: 'History', cell: (feed) => <History feed={feed} pull={pull} /> },
];

const FeedState = ({
  feed: { problem },
  state,
}: {
  feed: FeedStatus;
  state: PullStatus['state'];
}) => {
  if (state !== 'pulling') return <State mood="quiet">Stopped</State>;
  if (!problem) return <State mood="ok">Working</State>;
  return (
    <>
      <State mood={problem.isFailing ? 'bad' : 'warn'}>
        {problem.isFailing ? 'Failing' : 'Retrying'}
      </State>
      <p class="sub mt-1 max-w-md">{problem.advice}</p>
      <p class="sub">
        Since <Time at={problem.since} />. Next try at <Time at={problem.nextAt} />.
      </p>
    </>
  );
};

const History = ({ feed: { history }, pull }: { feed: FeedStatus; pull: PullStatus }) => {
  if (!history) return <span class="sub">None: the provider only has the current state.</span>;
  if (pull.historyDays === 0) return <span class="sub">None requested.</span>;
  const { share, records, recordsPerMinute, endsAt } = history;
  const many = counted(records, 'record', 'records');
  if (share >= 1) return `All ${pull.historyDays} days, ${many}`;
  const rate = recordsPerMinute !== null && `${recordsPerMinute.toLocaleString('en')} a minute`;
  const remaining =
    endsAt !== null &&
    pull.state === 'pulling' &&
    `about ${spanInWords(Math.max(1000, endsAt - Date.now()))} left`;
  return (
    <span class="block min-w-40">
      {percent(share)} of {pull.historyDays} days
      <svg class="progress-line my-1" aria-hidden="true">
        <rect class="fill-rest" width="100%" height="6" rx="3" />
        <rect class="fill-main" width={percent(share)} height="6" rx="3" />
      </svg>
      <span class="sub">{[many, rate, remaining].filter(Boolean).join(', ')}</span>
    </span>
  );
};
