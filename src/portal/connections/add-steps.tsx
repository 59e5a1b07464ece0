import type { Child } from 'hono/jsx';
import type { FieldError } from '../../platform/errors.ts';
import { usualHistoryDays } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { type Draft, draftMs } from '../../providers/draft.ts';
import { connectors } from '../../providers/registry.ts';
import { Choice, errorOf, Field, FieldProblem, LinkButton, Select, Submit } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { Note } from '../ui/parts.tsx';
import { connectionsPath } from './connections.tsx';
import { CredentialFields, HowToCreate } from './credential.tsx';

/** What a page of the form shows: what was typed, what is wrong with it, and what was tested. */
export type AddState = {
  typed?: (name: string) => string;
  errors?: FieldError[];
  tested?: { sealed: string; draft: Draft };
};

type Props = { connector: Connector; state: AddState };

/** Where to choose what is not built in. */
const other = 'other';

/** The steps of adding a connection, as far as they have come. `chosen` is what the address names. */
export const Steps = (props: {
  chosen: string | undefined;
  connector: Connector | undefined;
  state: AddState;
}) => {
  const { chosen, connector, state } = props;
  const { tested } = state;
  return (
    <ol class="levels">
      <Step n={1} name="Choose the provider" at={connector || chosen === other ? 'done' : 'now'}>
        <Providers chosen={chosen} />
      </Step>
      {chosen === other ? (
        <Step n={2} name="Send records to us" at="now">
          <OtherProvider />
        </Step>
      ) : (
        <>
          <Step
            n={2}
            name={connector ? `Enter the ${askedFor(connector)}` : 'Enter its credential'}
            at={tested ? 'done' : connector ? 'now' : 'later'}
          >
            {connector &&
              (tested ? (
                <p class="sub mt-1">
                  It is not shown again.{' '}
                  <a class="underline" href={pathOf(connector.provider)}>
                    Enter another one
                  </a>
                </p>
              ) : (
                <Enter connector={connector} state={state} />
              ))}
          </Step>
          <Step n={3} name="Test it" at={tested ? 'done' : 'later'}>
            {connector && tested && <Tested connector={connector} draft={tested.draft} />}
          </Step>
          <Step n={4} name="Name it, and choose how much history to load" at={tested ? 'now' : 'later'}>
            {connector && tested && <Finish connector={connector} state={state} sealed={tested.sealed} />}
          </Step>
        </>
      )}
    </ol>
  );
};

const Step = (props: { n: number; name: string; at: 'done' | 'now' | 'later'; children?: Child }) => (
  <li class={props.at} aria-current={props.at === 'now' ? 'step' : undefined}>
    <span class="step" aria-hidden="true">
      {props.n}
    </span>
    <div class="pb-4">
      <h2>{props.name}</h2>
      {props.children}
    </div>
  </li>
);

const Providers = ({ chosen }: { chosen: string | undefined }) => (
  <nav aria-label="Providers">
    <ul class="choices choices-4 mt-3">
      {connectors.map((connector) => (
        <Provider id={connector.provider} name={connector.name} note={askedFor(connector)} chosen={chosen} />
      ))}
      <Provider id={other} name="Another provider" note="Send records to us" chosen={chosen} />
    </ul>
  </nav>
);

const Provider = (props: { id: string; name: string; note: string; chosen: string | undefined }) => {
  const { id, name, note, chosen } = props;
  const isChosen = id === chosen;
  return (
    <li>
      <a class="choice" href={pathOf(id)} aria-current={isChosen ? 'true' : undefined}>
        <Icon name={isChosen ? 'circle-dot' : 'circle'} />
        <strong>{name}</strong>
        <span class="sub first-letter:uppercase">{note}</span>
      </a>
    </li>
  );
};

/** What people are asked for, in a few words: "API token", "secret key and connection token", "login". */
const askedFor = ({ credential: { label, fields = [] } }: Connector): string =>
  fields.length === 2 ? fields.map((field) => field.label.toLowerCase()).join(' and ') : label;

const pathOf = (provider: string): string => `${connectionsPath}/new?provider=${provider}`;

const OtherProvider = () => (
  <>
    <p class="mt-2">
      Any system can send its records to <code>POST /ingest</code>. The team that runs this service adds the
      connection and gives you an ingest key for it. A program of yours then sends vehicles, drivers, trips,
      safety events and accidents as they come.
    </p>
    <div class="actions mt-4">
      <LinkButton href="/docs/connectors" name="How to write a connector" icon="book-open" />
      <LinkButton href={connectionsPath} name="Back to connections" weight="ghost" />
    </div>
  </>
);

const Enter = ({ connector, state: { typed = () => '', errors = [] } }: Props) => (
  <form method="post" action={pathOf(connector.provider)} novalidate>
    <HowToCreate connector={connector} />
    <div class="grid gap-4 mt-4">
      <CredentialFields connector={connector} typed={typed} errors={errors} />
      <Address connector={connector} typed={typed} errors={errors} />
    </div>
    <div class="actions mt-6">
      <Submit name="Test the connection" />
      <LinkButton href={connectionsPath} name="Cancel" weight="ghost" />
    </div>
    <p class="hint mt-2">The test asks {connector.name} whose it is. Nothing is saved.</p>
  </form>
);

const regionNames: { [region: string]: string } = {
  us: 'United States',
  eu: 'Europe',
  ca: 'Canada',
  sandbox: 'Sandbox',
};

/** Where the provider's API is: the usual address, that of a region, or one that is typed. */
const Address = (props: { connector: Connector; typed: (name: string) => string; errors: FieldError[] }) => {
  const { connector, typed, errors } = props;
  const regions = Object.entries(connector.regions);
  const isTyped = typed('address') !== '' || errorOf(errors, 'address') !== undefined;
  return (
    <>
      {regions.length > 0 && (
        <Select
          name="region"
          label="Region"
          value={typed('region')}
          options={[
            ['', `Usual (${new URL(connector.baseUrl).host})`],
            ...regions.map(([region, url]): [string, string] => [
              region,
              `${regionNames[region] ?? region} (${new URL(url).host})`,
            ]),
          ]}
          errors={errors}
        />
      )}
      <details open={isTyped}>
        <summary class="sub">Another address of the API</summary>
        <div class="mt-3">
          <Field
            name="address"
            label="Address"
            type="url"
            value={typed('address')}
            placeholder={connector.baseUrl}
            hint="For example that of a sandbox."
            errors={errors}
          />
        </div>
      </details>
    </>
  );
};

const Tested = ({ connector, draft }: { connector: Connector; draft: Draft }) => (
  <div class="mt-3" id="test">
    <Note mood="ok" role="status">
      <p>
        <strong>It works.</strong> {connector.name} says that it belongs to{' '}
        <strong class="wrap-anywhere">“{draft.organisation}”</strong>. Whether it may read everything shows on
        the connection’s page within minutes.
      </p>
    </Note>
  </div>
);

const Finish = ({ connector, state, sealed }: Props & { sealed: string }) => {
  const { typed = () => '', errors = [] } = state;
  const days = typed('historyDays') || String(Math.min(usualHistoryDays, connector.maxHistoryDays));
  const error = errorOf(errors, 'historyDays');
  return (
    <form class="grid gap-5 mt-3" method="post" action={pathOf(connector.provider)} novalidate>
      <input type="hidden" name="draft" value={sealed} />
      <Field
        name="name"
        label="Name"
        value={typed('name')}
        maxlength={200}
        required
        hint="For your team. It can be changed later by the team that runs this service."
        errors={errors}
      />
      <fieldset aria-describedby={error && 'historyDays-error'}>
        <legend class="legend">History</legend>
        <p class="sub mt-1">For trends and comparisons. It comes newest first, and notifies nobody.</p>
        <div class="choices choices-4 mt-3">
          {historyChoices(connector).map((choice) => (
            <Choice
              type="radio"
              name="historyDays"
              value={String(choice)}
              checked={String(choice) === days}
              label={choice === 0 ? 'None' : `${choice} days`}
              note={
                choice === 0
                  ? 'Start now'
                  : choice === connector.maxHistoryDays
                    ? 'The most there is'
                    : undefined
              }
            />
          ))}
        </div>
        <FieldProblem id="historyDays-error" message={error} />
      </fieldset>
      <div>
        <div class="actions">
          <Submit name="Add connection" />
          <LinkButton href={connectionsPath} name="Cancel" weight="ghost" />
        </div>
        <p class="hint mt-2">Within {draftMs / 60_000} minutes; after that, the test is to be repeated.</p>
      </div>
    </form>
  );
};

/** None, a month, a quarter, and the most that the provider keeps. */
const historyChoices = ({ maxHistoryDays }: Connector): number[] => [
  ...new Set([0, 30, usualHistoryDays, maxHistoryDays].filter((days) => days <= maxHistoryDays)),
];
