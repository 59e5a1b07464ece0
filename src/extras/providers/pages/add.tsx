import { type Child, useContext } from 'hono/jsx';
import * as v from 'valibot';
import { connectionName } from '../../../core/fleet/connections.ts';
import type { FieldError } from '../../../core/platform/errors.ts';
import { AtMost, Name } from '../../../core/platform/fields.ts';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { Icon } from '../../../ui/buttons.tsx';
import { above, aboveOf, connectionsPath, ownPath } from '../../../ui/connections.ts';
import { choice, drawn, formPage, line, radios, valuesIn } from '../../../ui/forms/form-fields.tsx';
import { Buttons, Form, type Offered } from '../../../ui/forms/forms.tsx';
import { type Head, page } from '../../../ui/layout.tsx';
import { connectionPath } from '../../../ui/lists/records.tsx';
import { PageReader, type SentForm } from '../../../ui/reader.ts';
import { done, submit } from '../../../ui/submit.ts';
import type { CoveredConnection } from '../../alerts/coverage.ts';
import { connectProvider, type NewPull, replaceCredential, usualHistoryDays } from '../connect.ts';
import type { Connector } from '../connector/connector.ts';
import { credentialFrom, inputsOf, maxCredential } from '../connector/credential.ts';
import { connectorOf, connectors } from '../registry.ts';
import { credentialLabel } from './health.ts';
import { requirePulled } from './pulled.tsx';

/** How somebody adds a connection, signed in or, without a way `back`, with a link. */
export type Adding = {
  back?: string;
  head: Head;
  connect: (input: NewPull) => Promise<CoveredConnection>;
  next: (connection: CoveredConnection) => string;
  /** What the page's address has besides the provider. */
  query?: Record<string, string>;
};

export const onlyRead = 'We only read. Nothing changes in your account at the provider.';

export const addConnection = (c: Context) =>
  adds(c, {
    back: connectionsPath,
    head: { title: 'Add a connection', above, lead: onlyRead, narrow: true },
    connect: (input) => connectProvider(...by(c), input),
    next: connectionPath,
  });

/** The page that adds a connection: its form tests the credential, and saves what the provider accepts. */
export async function adds(c: Context, adding: Adding): Promise<Response> {
  const connector = connectorOf(c.req.query('provider') ?? '');
  const show = () => page(c, adding.head, <Steps connector={connector} adding={adding} />);
  if (c.req.method === 'GET' || !connector) return show();
  const connect = async (form: SentForm) => {
    const { provider } = connector;
    const { name, historyDays, ...others } = valuesIn(allFields(connector), form);
    const days = Number(historyDays);
    const credential = credentialFrom(connector, form.value);
    const connection = await adding.connect({
      ...{ provider, credential, historyDays: days },
      ...{ baseUrl: others.region ?? '', name: name || undefined },
    });
    const loads =
      days === 0
        ? 'It receives new data from now on.'
        : `Its last ${days} days are being loaded without notifications.`;
    const news = connection.isCovered ? ' New events notify webhooks.' : '';
    return done(
      c,
      adding.next(connection),
      `“${connectionName(connection)}” is connected. ${loads}${news}`,
    );
  };
  return submit(c, connect, show, placedBy(connector));
}

/** The form for another credential, saved if the provider accepts it. */
export async function changeCredential(c: Context) {
  const { connection, connector, pull } = await requirePulled(c);
  const { provider, baseUrl, organisation, organisationId } = pull;
  return formPage(c, {
    title: `Replace the ${credentialLabel(connection)}`,
    above: aboveOf(connection),
    lead: 'The new one is tested first. Then pulling resumes where it stopped: nothing is missed or notified twice.',
    before: <Where connector={connector} />,
    fields: credentialFields(connector),
    send: 'Test and replace',
    back: connectionPath(connection),
    place: placedBy(connector),
    save: async (_, form) => {
      const known = { id: connection.id, provider, baseUrl };
      const credential = credentialFrom(connector, form.value);
      const tried = await replaceCredential(...by(c), known, credential);
      const isSame = tried.organisationId === organisationId;
      const accepts = `${connector.name} accepts the new ${connector.credential.label} of “${tried.organisation}”.`;
      const next = isSame
        ? 'Pulling continues.'
        : `The previous one belonged to “${organisation}”. Is this the right one?`;
      return done(c, connectionPath(connection), `${accepts} ${next}`, isSame ? 'ok' : 'warn');
    },
  });
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
                  href={`?${new URLSearchParams({ ...adding.query, provider: one.provider })}`}
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
              Another provider?{' '}
              <a href={useContext(PageReader).mayGo('GET', ownPath) ? ownPath : '/docs/connectors'}>
                Connect it with your own connector
              </a>
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
            <Where connector={connector} />
            {drawn({ ...credentialFields(connector), ...regionFields(connector) })}
          </div>
        )}
      </Step>
      <Step n={3} name="Name it, and choose how much history to load" at="later">
        {connector && (
          <div class="grid gap-5 mt-3">
            {drawn(historyFields(connector, adding.back ? 4 : undefined), {
              historyDays: Math.min(usualHistoryDays, connector.maxHistoryDays),
            })}
            <div>
              <Buttons send="Test and connect" {...(adding.back && { back: adding.back })} />
              <p class="hint mt-2">
                We ask {connector.name} first, and save nothing unless it accepts.
              </p>
            </div>
          </div>
        )}
      </Step>
    </ol>
  </Form>
);

const Step = (props: {
  n: number;
  name: string;
  at: 'done' | 'now' | 'later';
  children?: Child;
}) => (
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

const Where = ({ connector: { provider, credential } }: { connector: Connector }) => (
  <>
    <p class="sub">
      {credential.where}. {credential.scopes.length > 0 && 'It needs these permissions:'}
    </p>
    {credential.scopes.length > 0 && (
      <ul class="flex flex-wrap gap-1.5" aria-label="Permissions">
        {credential.scopes.map((scope) => (
          <li class="chip">{scope}</li>
        ))}
      </ul>
    )}
    <p class="sub">
      <a href={`/docs/providers/${provider}`}>What is pulled, and how to set it up</a>
    </p>
  </>
);

/** The credential in a few words: "API token", "secret key and connection token", "login". */
const askedFor = ({ credential: { label, fields = [] } }: Connector): string =>
  fields.length === 2 ? fields.map((field) => field.label.toLowerCase()).join(' and ') : label;

const Part = v.pipe(v.string(), AtMost(maxCredential));
const Required = v.pipe(
  Part,
  v.check((text) => text.trim() !== '', 'is required'),
);
const kept = 'Stored encrypted, and never shown again.';

const credentialFields = (connector: Connector) =>
  Object.fromEntries(
    inputsOf(connector).map(({ input, label, isSecret, hint, otherwise }) => [
      input,
      line(label, otherwise === undefined ? Required : Part, {
        type: isSecret ? 'password' : 'text',
        autocomplete: 'off',
        hint: isSecret ? [hint, kept].filter(Boolean).join('. ').replace('…. ', '… ') : hint,
      }),
    ]),
  );

const regionNames: { [region: string]: string } = {
  eu: 'Europe',
  ca: 'Canada',
  sandbox: 'Sandbox',
};

function regionFields({ regions, baseUrl }: Connector) {
  const hostOf = (url: string) => `(${new URL(url).host})`;
  const others = Object.entries(regions).map(
    ([region, url]): Offered => [region, `${regionNames[region] ?? region} ${hostOf(url)}`],
  );
  return others.length > 0
    ? { region: choice('Region', [['', `Default ${hostOf(baseUrl)}`], ...others]) }
    : {};
}

function historyFields({ name, maxHistoryDays: most }: Connector, columns?: 4) {
  const days = [...new Set([0, 30, usualHistoryDays, most])].filter((one) => one <= most);
  const notes: { [days: number]: string } = { 0: 'Start now', [most]: 'As much as possible' };
  return {
    name: line(
      'Name',
      v.lazy((name) => (name === '' ? v.string() : Name)),
      `Leave empty for the name that ${name} has for your organization.`,
    ),
    historyDays: radios(
      'History',
      days.map((one) => [String(one), one === 0 ? 'None' : `${one} days`, notes[one]]),
      {
        hint: 'For trends and comparisons. It loads newest first and sends no notifications.',
        columns,
      },
    ),
  };
}

const allFields = (connector: Connector) => ({
  ...credentialFields(connector),
  ...regionFields(connector),
  ...historyFields(connector),
});

/** What is wrong with the whole credential stands at its first secret input. */
const placedBy =
  (connector: Connector) =>
  (error: FieldError): FieldError => {
    const main = inputsOf(connector).find(({ isSecret }) => isSecret)?.input;
    const inputs: { [field: string]: string | undefined } = {
      '': main,
      credential: main,
      baseUrl: 'region',
    };
    return { ...error, field: inputs[error.field] ?? error.field };
  };
