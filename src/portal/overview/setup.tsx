import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icons.tsx';

/** Whether data comes in, and something receives it. */
export const isSetUp = ({ sent, webhook, token }: Setup): boolean => Boolean(sent && (webhook || token));

/** A step of the list, and the button that leads to its page. */
type Step = { name: string; done: boolean; text: string; href: string; button: string };

const stepsOf = ({ connection, sent, vehicles, webhook, token }: Setup): Step[] => [
  {
    name: 'Connect a data source',
    done: Boolean(sent),
    text: connectionText(connection, Boolean(sent), vehicles),
    ...(connection === null
      ? { href: '/portal/connections/new', button: 'Add a connection' }
      : { href: '/portal/connections', button: 'See the connection' }),
  },
  {
    name: 'Choose where notifications go',
    done: Boolean(webhook),
    text: webhook
      ? 'A webhook receives accidents and safety events as they happen.'
      : 'Accidents and safety events are sent to your HTTPS endpoint as they happen.',
    ...{ href: '/portal/webhooks/new', button: 'Add a webhook' },
  },
  {
    name: 'Create an API token',
    done: Boolean(token),
    text: token
      ? 'Your programs can read the account’s data.'
      : 'Your programs need one to read connections, vehicles, drivers, trips and safety events.',
    ...{ href: '/portal/settings/tokens', button: 'Create a token' },
  },
];

function connectionText(name: string | null, sent: boolean, vehicles: number): string {
  if (name === null)
    return 'Choose your telematics provider, and enter its API token. Its data is pulled automatically.';
  if (!sent)
    return `“${name}” is connected and has not sent anything yet. Its data appears here within seconds.`;
  const found = vehicles > 0 ? ` ${counted(vehicles, 'vehicle', 'vehicles', 1000)} found.` : '';
  return `“${name}” is connected.${found}`;
}

/** The steps to set an account up, with the finished ones ticked. */
export const SetupList = ({ setup }: { setup: Setup }) => {
  const steps = stepsOf(setup);
  const done = steps.filter((step) => step.done).length;
  const current = steps.find((step) => !step.done);
  return (
    <section class="panel" aria-labelledby="steps">
      <div class="panel-body">
        <h2 id="steps">
          {done} of {steps.length} done
        </h2>
        <svg class="progress-line mt-2" aria-hidden="true">
          <rect class="fill-rest" width="100%" height="6" rx="3" />
          <rect class="fill-main" width={`${Math.round((100 * done) / steps.length)}%`} height="6" rx="3" />
        </svg>
      </div>
      <ol class="rows checklist border-t border-line">
        {steps.map((step) => (
          <StepRow step={step} current={step === current} />
        ))}
      </ol>
    </section>
  );
};

const StepRow = ({ step, current }: { step: Step; current: boolean }) => {
  const { name, done, text, href, button } = step;
  return (
    <li class={current ? 'current' : undefined}>
      <span class={done ? 'ok' : current ? undefined : 'quiet'}>
        <Icon name={done ? 'circle-check' : current ? 'circle-dot' : 'circle'} />
      </span>
      <div class="min-w-0">
        <strong>{name}</strong>
        <span class="sr-only">{done ? ' (done)' : ' (to do)'}</span>
        <p class="sub break-words">{text}</p>
      </div>
      {done ? (
        <span />
      ) : (
        <LinkButton href={href} name={button} weight={current ? 'primary' : 'plain'} small />
      )}
    </li>
  );
};

/**
 * How far an account is set up. `connection` is the name of its first one, `vehicles` the number of its vehicles, up to
 * 1,000.
 */
type Setup = {
  connection: string | null;
  sent: number;
  vehicles: number;
  webhook: number;
  token: number;
};

/** One record of each kind is looked for, connection by connection. */
export const selectSetup = (db: Database, { accountId }: Caller) =>
  statement<Setup>(db)`
    select
      (select coalesce(name, tsp) from connections where account_id = ${accountId} order by created_at, id limit 1)
        as connection,
      exists (
        select 1 from connections c where account_id = ${accountId} and (
          exists (select 1 from vehicles where connection_id = c.id)
          or exists (select 1 from safety_events where connection_id = c.id)
          or exists (select 1 from accidents where connection_id = c.id)
          or exists (select 1 from drivers where connection_id = c.id))) as sent,
      (select count(*) from (
        select 1 from vehicles where connection_id = (
          select id from connections where account_id = ${accountId} order by created_at, id limit 1)
        limit 1000)) as vehicles,
      exists (select 1 from webhooks where account_id = ${accountId}) as webhook,
      exists (
        select 1 from tokens indexed by tokens_active
        where account_id = ${accountId} and scope = 'api' and revoked_at is null) as token`;
