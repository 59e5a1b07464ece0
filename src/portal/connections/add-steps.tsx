import { type Child, useContext } from 'hono/jsx';
import { usualHistoryDays } from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { type Draft, draftMs } from '../../providers/draft.ts';
import { connectors } from '../../providers/registry.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { FilledForm } from '../ui/form.ts';
import { Buttons, Choices, Field, Form, type Offered, Select } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { Note } from '../ui/parts.tsx';
import { connectionsPath } from './connections.tsx';
import { CredentialFields, HowToCreate } from './credential.tsx';

/** A tested draft, also encrypted for the form. */
export type Tested = { sealed: string; draft: Draft };

/** The path of the steps, and the way back, which people outside the account do not have. */
export type Destination = { path: string; back?: string | undefined };

const other = 'other';

/** The steps of adding a connection so far. `chosen` is the provider in the address. */
export const Steps = (props: {
  chosen: string | undefined;
  connector: Connector | undefined;
  tested: Tested | undefined;
  place: Destination;
}) => {
  const { chosen, connector, tested, place } = props;
  const first = (
    <Step n={1} name="Choose the provider" at={connector || chosen === other ? 'done' : 'now'}>
      <Providers chosen={chosen} place={place} />
    </Step>
  );
  if (chosen === other && place.back)
    return (
      <ol class="levels">
        {first}
        <Step n={2} name="Send records to us" at="now">
          <OtherProvider />
        </Step>
      </ol>
    );
  const enter = connector ? `Enter the ${askedFor(connector)}` : 'Enter its credential';
  return (
    <ol class="levels">
      {first}
      <Step n={2} name={enter} at={tested ? 'done' : connector ? 'now' : 'later'}>
        {connector && !tested && <Enter connector={connector} place={place} />}
        {connector && tested && (
          <p class="sub mt-1">
            It is not shown again. <a href={pathOf(place, connector.provider)}>Enter another one</a>
          </p>
        )}
      </Step>
      <Step n={3} name="Test it" at={tested ? 'done' : 'later'}>
        {connector && tested && <Works {...{ connector, tested, place }} />}
      </Step>
      <Step n={4} name="Name it, and choose how much history to load" at={tested ? 'now' : 'later'}>
        {connector && tested && <Finish connector={connector} tested={tested} place={place} />}
      </Step>
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

const Providers = ({ chosen, place }: { chosen: string | undefined; place: Destination }) => (
  <nav aria-label="Providers">
    <ul class={`choices mt-3${place.back ? ' choices-4' : ''}`}>
      {connectors.map((connector) => (
        <Provider
          {...{ chosen, place, id: connector.provider, name: connector.name, note: askedFor(connector) }}
        />
      ))}
      {place.back && (
        <Provider {...{ chosen, place, id: other, name: 'Another provider', note: 'Send records to us' }} />
      )}
    </ul>
  </nav>
);

const Provider = (props: {
  id: string;
  name: string;
  note: string;
  chosen: string | undefined;
  place: Destination;
}) => {
  const { id, name, note, chosen, place } = props;
  const isChosen = id === chosen;
  return (
    <li>
      <a class="choice" href={pathOf(place, id)} aria-current={isChosen ? 'true' : undefined}>
        <Icon name={isChosen ? 'circle-dot' : 'circle'} />
        <strong>{name}</strong>
        <span class="sub first-letter:uppercase">{note}</span>
      </a>
    </li>
  );
};

const backTo = ({ back }: Destination) => (back ? { back } : {});

/** The credential in a few words: "API token", "secret key and connection token", "login". */
const askedFor = ({ credential: { label, fields = [] } }: Connector): string =>
  fields.length === 2 ? fields.map((field) => field.label.toLowerCase()).join(' and ') : label;

const pathOf = ({ path }: Destination, provider: string): string => `${path}?provider=${provider}`;

const OtherProvider = () => (
  <>
    <p class="mt-2">
      Any system can send its records to <code>POST /ingest</code>. The team that runs this service adds the
      connection and gives you an ingest key for it. Your program then sends vehicles, drivers, trips, safety
      events and accidents.
    </p>
    <div class="actions mt-4">
      <LinkButton href="/docs/connectors" name="How to write a connector" icon="book-open" />
      <LinkButton href={connectionsPath} name="Back to connections" weight="ghost" />
    </div>
  </>
);

const Enter = ({ connector, place }: { connector: Connector; place: Destination }) => (
  <Form to={pathOf(place, connector.provider)}>
    <HowToCreate connector={connector} />
    <div class="grid gap-4 mt-4 mb-6">
      <CredentialFields connector={connector} />
      <Address connector={connector} />
    </div>
    <Buttons send="Test the connection" {...backTo(place)} />
    <p class="hint mt-2">
      The test asks {connector.name} which organization it belongs to. Nothing is saved.
    </p>
  </Form>
);

const regionNames: { [region: string]: string } = {
  us: 'United States',
  eu: 'Europe',
  ca: 'Canada',
  sandbox: 'Sandbox',
};

/** The provider's API: the default address, that of a region, or a typed one. */
const Address = ({ connector: { regions, baseUrl } }: { connector: Connector }) => {
  const filled = useContext(FilledForm);
  const hosts = Object.entries(regions).map(
    ([region, url]): Offered => [region, `${regionNames[region] ?? region} (${new URL(url).host})`],
  );
  return (
    <>
      {hosts.length > 0 && (
        <Select
          name="region"
          label="Region"
          options={[['', `Default (${new URL(baseUrl).host})`], ...hosts]}
        />
      )}
      <details open={filled?.value('address') !== '' && filled !== undefined}>
        <summary class="sub">Use another API address</summary>
        <div class="mt-3">
          <Field
            name="address"
            label="Address"
            type="url"
            placeholder={baseUrl}
            hint="For example, a sandbox."
          />
        </div>
      </details>
    </>
  );
};

/** A connector with what was tested, and where that leads. */
type Worked = { connector: Connector; tested: Tested; place: Destination };

const Works = ({ connector: { name }, tested, place }: Worked) => (
  <div class="mt-3" id="test">
    <Note mood="ok" role="status">
      <p>
        <strong>It works.</strong> {name} says it belongs to{' '}
        <strong class="wrap-anywhere">“{tested.draft.organisation}”</strong>.
        {place.back && ' The connection’s page shows within minutes whether it can read everything.'}
      </p>
    </Note>
  </div>
);

const Finish = ({ connector, tested, place }: Worked) => (
  <Form to={pathOf(place, connector.provider)} look="grid gap-5 mt-3">
    <input type="hidden" name="draft" value={tested.sealed} />
    <Field
      name="name"
      label="Name"
      value={tested.draft.organisation}
      maxlength={200}
      required
      hint={place.back && 'For your team. It can be changed later by the team that runs this service.'}
    />
    <Choices
      type="radio"
      name="historyDays"
      legend="History"
      hint="For trends and comparisons. It loads newest first and sends no notifications."
      {...(place.back && { columns: 4 })}
      chosen={[String(Math.min(usualHistoryDays, connector.maxHistoryDays))]}
      options={historyChoices(connector)}
    />
    <div>
      <Buttons send={place.back ? 'Add connection' : 'Connect'} {...backTo(place)} />
      <p class="hint mt-2">The test is valid for {draftMs / 60_000} minutes.</p>
    </div>
  </Form>
);

/** None, a month, a quarter, and the provider's maximum. */
function historyChoices({ maxHistoryDays }: Connector): Offered[] {
  const days = new Set([0, 30, usualHistoryDays, maxHistoryDays].filter((days) => days <= maxHistoryDays));
  return [...days].map((days) => [
    String(days),
    days === 0 ? 'None' : `${days} days`,
    days === 0 ? 'Start now' : days === maxHistoryDays && 'As much as possible',
  ]);
}
