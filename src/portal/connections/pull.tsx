import { eventsLookedAt, type WordCount } from '../../fleet/unmapped-words.ts';
import { connectorOf } from '../../providers/registry.ts';
import type { FeedStatus, PullStatus, PullSummary } from '../../providers/status.ts';
import { refusalsKept } from '../../providers/store.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { Submit } from '../ui/buttons.tsx';
import { capital, percent } from '../ui/format.ts';
import { Field, Form } from '../ui/forms.tsx';
import { Copyable, Panel } from '../ui/parts.tsx';
import { State } from '../ui/states.tsx';
import { type Column, naming, Table } from '../ui/table.tsx';
import { Ago, spanInWords, Time } from '../ui/time.tsx';
import { feedWords } from './health.tsx';

/** The state of each feed and its history. */
export const Feeds = ({ pull }: { pull: PullSummary }) => (
  <Panel
    id="feeds"
    title="Data pulled"
    live
    foot="History loads newest first. Only events since the connection was added notify your webhooks."
  >
    <Table caption="Data pulled" stacked columns={feedColumns(pull)} items={pull.feeds} />
  </Panel>
);

const feedColumns = (pull: PullSummary): Column<FeedStatus>[] => [
  naming('Records', ({ feed }) => feedWords[feed]),
  { head: 'State', look: 'card-wide', cell: (feed) => <FeedState feed={feed} state={pull.state} /> },
  { head: 'History', cell: (feed) => <History feed={feed} pull={pull} /> },
];

const FeedState = ({ feed: { problem }, state }: { feed: FeedStatus; state: PullSummary['state'] }) => {
  if (state !== 'pulling') return <State mood="quiet">Stopped</State>;
  if (!problem) return <State mood="ok">Working</State>;
  return (
    <>
      <State mood={problem.isFailing ? 'bad' : 'warn'}>{problem.isFailing ? 'Failing' : 'Retrying'}</State>
      <p class="sub mt-1 max-w-md wrap-anywhere">{problem.advice}</p>
      <p class="sub">
        Since <Time at={problem.since} />. Next try at <Time at={problem.nextAt} />.
      </p>
    </>
  );
};

const History = ({ feed: { history }, pull }: { feed: FeedStatus; pull: PullSummary }) => {
  if (!history) return <span class="sub">None: the provider only has the current state.</span>;
  if (pull.historyDays === 0) return <span class="sub">None requested.</span>;
  const { share, records, recordsPerMinute, endsAt } = history;
  const many = counted(records, 'record', 'records');
  if (share >= 1)
    return (
      <span>
        All {pull.historyDays} days, {many}
      </span>
    );
  const rate = recordsPerMinute !== null && `${recordsPerMinute.toLocaleString('en')} a minute`;
  const left =
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
      <span class="sub">{[many, rate, left].filter(Boolean).join(', ')}</span>
    </span>
  );
};

/** How many of the most frequent labels are shown. */
export const maxWords = 50;

/** The provider's records that were refused, and why. */
export const Refusals = ({ refusals }: Pick<PullStatus, 'refusals'>) => (
  <Panel
    id="refused"
    title="Refused records"
    live
    foot={`The last ${refusalsKept} are kept. A corrected record is accepted when it is resent.`}
  >
    <Table caption="Refused records, the latest first" labels columns={refusalColumns} items={refusals} />
  </Panel>
);

const refusalColumns: Column<PullStatus['refusals'][number]>[] = [
  {
    head: 'Record',
    look: 'card-title',
    cell: ({ kind }) => capital(kind.replace('E', ' e')), // "Safety event" for `safetyEvent`
    more: ({ sourceId }) =>
      sourceId && (
        <span class="sub block md:min-w-36">
          <code class="break-all">{sourceId}</code>
        </span>
      ),
  },
  { head: 'Why', look: 'card-wide wrap-anywhere', cell: ({ reason }) => reason },
  { head: 'When', look: 'nowrap', cell: ({ at }) => <Ago at={at} /> },
];

const wordColumns: Column<PullStatus['unmapped'][number]>[] = [
  { head: 'Label', look: 'card-title', cell: ({ word }) => <code class="break-all">{word}</code> },
  { head: 'Events', cell: ({ count }) => count.toLocaleString('en') },
];

/** The provider's unmapped labels, and how many events have them. */
export const Unmapped = ({ unmapped }: { unmapped: WordCount[] }) => (
  <Panel
    id="unmapped"
    title="Unmapped incident labels"
    live
    foot={`The ${maxWords} most frequent of the last ${eventsLookedAt.toLocaleString('en')} events. Events with only such labels have the type Other. The team that runs this service can map them.`}
  >
    <Table
      caption="Unmapped incident labels"
      labels
      columns={wordColumns}
      items={unmapped.slice(0, maxWords)}
    />
  </Panel>
);

/** The provider's webhook: what to enter there, and its secret. */
export const ProviderWebhook = ({ path, url, pull }: { path: string; url: string; pull: PullSummary }) => {
  const connector = connectorOf(pull.provider);
  if (!connector?.webhook) return null;
  const to = `${path}/webhook-secret`;
  const set = pull.hasWebhookSecret;
  return (
    <Panel
      id="provider-webhook"
      title={`${connector.name} webhook`}
      side={set ? <State mood="ok">Secret set</State> : <State mood="quiet">Not set up</State>}
      body="stack"
    >
      <p>
        Optional. {connector.name} calls it when something happens, and we pull immediately instead of within
        a minute. The call itself carries no data.
      </p>
      <div>
        <strong class="font-medium">URL</strong>
        <Copyable id="webhook-url" text={url} />
      </div>
      <ol class="numbered">
        {connector.webhook.steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <Form to={to} look="grid gap-4 items-start sm:grid-cols-[minmax(0,24rem)_auto]">
        <Field
          name="secret"
          label={set ? 'New secret' : 'Secret'}
          type="password"
          autocomplete="off"
          hint={`As ${connector.name} shows it. Stored encrypted, and never shown again.`}
        />
        <div class="sm:pt-6.5">
          <Submit name="Save secret" weight="plain" />
        </div>
      </Form>
    </Panel>
  );
};
