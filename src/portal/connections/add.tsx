import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { type FieldError, invalid } from '../../platform/errors.ts';
import { Name, tooLong } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import {
  connectProvider,
  type NewPull,
  replaceCredential,
  usualHistoryDays,
} from '../../providers/connect.ts';
import type { Connector } from '../../providers/connector.ts';
import { credentialFrom, inputsOf, maxCredential } from '../../providers/credential.ts';
import { connectorOf, connectors } from '../../providers/registry.ts';
import type { CoveredConnection } from '../../webhooks/coverage.ts';
import { Buttons, Choices, Field, Form, type Offered, Select } from '../ui/forms.tsx';
import { Icon } from '../ui/icons.tsx';
import { type Head, page } from '../ui/layout.tsx';
import type { SentForm } from '../ui/reader.ts';
import { done, parseForm, submit } from '../ui/submit.ts';
import { above, aboveOf, connectionsPath, nameOf, pathOf, requirePulled } from './connections.tsx';
import { credentialLabel } from './health.tsx';

/** How somebody adds a connection who is signed in or, without a way `back`, outside the account with a link. */
export type Adding = {
  back?: string;
  head: Head;
  connect: (input: NewPull) => Promise<CoveredConnection>;
  /** The page after it. */
  next: (connection: CoveredConnection) => string;
};

const signedIn = (c: Context): Adding => ({
  back: connectionsPath,
  head: {
    title: 'Add a connection',
    above,
    lead: onlyRead,
    narrow: true,
  },
  connect: (input) => connectProvider(c.env, c.get('caller'), input),
  next: pathOf,
});

export const onlyRead = 'We only read. Nothing changes in your account at the provider.';

/** Adding a connection: choose the provider, then enter its credential, which is tested before it is saved. */
export function show(c: Context, adding = signedIn(c)) {
  const connector = connectorOf(c.req.query('provider') ?? '');
  return page(c, adding.head, <Steps connector={connector} adding={adding} />);
}

const Steps = ({ connector, adding }: { connector: Connector | undefined; adding: Adding }) => (
  <Form>
    <ol class="levels">
      <Step n={1} name="Choose the provider" at={connector ? 'done' : 'now'}>
        <nav aria-label="Providers">
          <ul class={`choices mt-3${adding.back ? ' choices-4' : ''}`}>
            {connectors.map((one) => (
              <li>
                <a
                  class="choice"
                  href={`?provider=${one.provider}`}
                  aria-current={one === connector ? 'true' : undefined}
                >
                  <Icon name={one === connector ? 'circle-dot' : 'circle'} />
                  <strong>{one.name}</strong>
                  <span class="sub first-letter:uppercase">{askedFor(one)}</span>
                </a>
              </li>
            ))}
          </ul>
          {adding.back && (
            <p class="hint mt-3">
              Another provider? <a href="/docs/connectors">Any system can send its records to us</a>
            </p>
          )}
        </nav>
      </Step>
      <Step
        n={2}
        name={connector ? `Enter the ${askedFor(connector)}` : 'Enter its credential'}
        at={connector ? 'now' : 'later'}
      >
        {connector && (
          <div class="grid gap-3 mt-2">
            <CredentialFields connector={connector} />
            <Region connector={connector} />
          </div>
        )}
      </Step>
      <Step n={3} name="Name it, and choose how much history to load" at="later">
        {connector && <NameAndHistory connector={connector} back={adding.back} />}
      </Step>
    </ol>
  </Form>
);

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

/** The credential in a few words: "API token", "secret key and connection token", "login". */
const askedFor = ({ credential: { label, fields = [] } }: Connector): string =>
  fields.length === 2 ? fields.map((field) => field.label.toLowerCase()).join(' and ') : label;

const regionNames: { [region: string]: string } = { eu: 'Europe', ca: 'Canada', sandbox: 'Sandbox' };

const Region = ({ connector: { regions, baseUrl } }: { connector: Connector }) => {
  const hosts = Object.entries(regions).map(
    ([region, url]): Offered => [region, `${regionNames[region] ?? region} (${new URL(url).host})`],
  );
  if (hosts.length === 0) return null;
  return (
    <Select name="region" label="Region" options={[['', `Default (${new URL(baseUrl).host})`], ...hosts]} />
  );
};

const NameAndHistory = (props: { connector: Connector; back: string | undefined }) => {
  const { connector, back } = props;
  const { maxHistoryDays: most } = connector;
  const days = [...new Set([0, 30, usualHistoryDays, most])].filter((one) => one <= most);
  const notes: { [days: number]: string } = { 0: 'Start now', [most]: 'As much as possible' };
  return (
    <div class="grid gap-5 mt-3">
      <Field
        name="name"
        label="Name"
        maxlength={200}
        hint={`Leave empty for the name that ${connector.name} has for your organization.`}
      />
      <Choices
        type="radio"
        name="historyDays"
        legend="History"
        hint="For trends and comparisons. It loads newest first and sends no notifications."
        {...(back && { columns: 4 })}
        chosen={[String(Math.min(usualHistoryDays, most))]}
        options={days.map((one) => [String(one), one === 0 ? 'None' : `${one} days`, notes[one]])}
      />
      <div>
        <Buttons send="Test and connect" {...(back && { back })} />
        <p class="hint mt-2">We ask {connector.name} first, and save nothing unless it accepts.</p>
      </div>
    </div>
  );
};

const Chosen = v.object({
  name: v.lazy((name) => (name === '' ? v.string() : Name)),
  historyDays: v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number of days'), v.transform(Number)),
});

/** Handles the form: tests the credential, and saves the connection if the provider accepts it. */
export async function take(c: Context, adding = signedIn(c)) {
  const connector = connectorOf(c.req.query('provider') ?? '');
  if (!connector) return show(c, adding);
  const { provider } = connector;
  return submit(
    c,
    async (form) => {
      const credential = sentCredential(connector, form);
      const { name, historyDays } = parseForm(Chosen, form);
      const connection = await adding.connect({
        ...{ provider, credential, baseUrl: form.value('region'), historyDays },
        name: name || undefined,
      });
      const loads =
        historyDays === 0
          ? 'It receives new data from now on.'
          : `Its last ${historyDays} days are being loaded without notifications.`;
      const news = connection.isCovered ? ' New events notify webhooks.' : '';
      return done(c, adding.next(connection), `“${nameOf(connection)}” is connected. ${loads}${news}`);
    },
    () => show(c, adding),
    placedBy(connector),
  );
}

/** The form for another credential of a connection that pulls. */
export async function showCredential(c: Context) {
  const { connection, connector } = await requirePulled(c);
  const label = credentialLabel(connection);
  return page(
    c,
    {
      title: `Replace the ${label}`,
      above: aboveOf(connection),
      lead: 'The new one is tested first. Then pulling resumes where it stopped: nothing is missed or notified twice.',
      narrow: true,
    },
    <section class="panel" aria-label={`New ${label}`}>
      <Form look="panel-body grid gap-4">
        <CredentialFields connector={connector} />
        <Buttons send="Test and replace" back={pathOf(connection)} />
      </Form>
    </section>,
  );
}

/** Tests the credential in that form, and saves it if the provider accepts it. */
export async function saveCredential(c: Context) {
  const { connection, connector, pull } = await requirePulled(c);
  const { provider, baseUrl, organisation, organisationId } = pull;
  return submit(
    c,
    async (form) => {
      const credential = sentCredential(connector, form);
      const known = { id: connection.id, provider, baseUrl };
      const tried = await replaceCredential(c.env, c.get('caller'), known, credential);
      const isSame = tried.organisationId === organisationId;
      const next = isSame
        ? 'Pulling continues.'
        : `The previous one belonged to “${organisation}”. Is this the right one?`;
      return done(
        c,
        pathOf(connection),
        `${connector.name} accepts the new ${connector.credential.label} of “${tried.organisation}”. ${next}`,
        isSame ? 'ok' : 'warn',
      );
    },
    () => showCredential(c),
    placedBy(connector),
  );
}

/** Where to create a credential of a provider, its permissions, and the inputs for it. */
const CredentialFields = ({ connector }: { connector: Connector }) => {
  const { where, scopes } = connector.credential;
  return (
    <>
      <p class="sub">
        {where}. {scopes.length > 0 && 'It needs these permissions:'}
      </p>
      {scopes.length > 0 && (
        <ul class="flex flex-wrap gap-1.5" aria-label="Permissions">
          {scopes.map((scope) => (
            <li class="chip">{scope}</li>
          ))}
        </ul>
      )}
      <p class="sub">
        <a href={`/docs/providers/${connector.provider}`}>What is pulled, and how to set it up</a>
      </p>
      {inputsOf(connector).map(({ input, label, isSecret, hint }) => (
        <Field
          name={input}
          label={label}
          type={isSecret ? 'password' : 'text'}
          autocomplete="off"
          maxlength={maxCredential}
          hint={isSecret ? [hint, kept].filter(Boolean).join('. ').replace('…. ', '… ') : hint}
        />
      ))}
    </>
  );
};

const kept = 'Stored encrypted, and never shown again.';

/** The credential in a form. @throws Refusal: invalid, for what is missing or too long */
function sentCredential(connector: Connector, form: SentForm): string {
  const missing = inputsOf(connector).filter(({ input }) => form.value(input).trim() === '');
  if (missing.length > 0)
    throw invalid(
      '',
      missing.map(({ input }) => ({ field: input, message: 'is required' })),
    );
  const credential = credentialFrom(connector, form.value);
  if (credential.length > maxCredential)
    throw invalid('', [{ field: 'credential', message: tooLong(maxCredential) }]);
  return credential;
}

/** What is wrong with the whole credential stands at its first secret input. */
const placedBy =
  (connector: Connector) =>
  (error: FieldError): FieldError => {
    const main = inputsOf(connector).find(({ isSecret }) => isSecret)?.input;
    const inputs: { [field: string]: string | undefined } = { '': main, credential: main, baseUrl: 'region' };
    return { ...error, field: inputs[error.field] ?? error.field };
  };
