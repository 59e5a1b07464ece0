import { type Database, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icons.tsx';

/** Whether data comes in, and something receives it. */
export const isSetUp = ({ sent, webhook, token }: Setup): boolean => Boolean(sent && (webhook || token));

/** A step of the list, and the button that leads to its page. */
type Step = { name: string; done: boolean; text: string; href: string; button: string };

const stepsOf = ({ connection, sent, webhook, token }: Setup): Step[] => [
  connection === null
    ? {
        name: 'Connect a data source',
        done: false,
        text: 'Choose your telematics provider, and enter its API token. Its data is pulled automatically.',
        ...{ href: '/portal/connections/new', button: 'Add a connection' },
      }
    : {
        name: 'Connect a data source',
        done: Boolean(sent),
        text: `“${connection}” is connected. Its data appears here within seconds.`,
        ...{ href: '/portal/connections', button: 'See the connection' },
      },
  {
    name: 'Choose where notifications go',
    done: Boolean(webhook),
    text: 'Accidents and safety events are sent to your HTTPS endpoint as they happen.',
    ...{ href: '/portal/webhooks/new', button: 'Add a webhook' },
  },
  {
    name: 'Create an API token',
    done: Boolean(token),
    text: 'Your programs need one to read connections, vehicles, drivers, trips and safety events.',
    ...{ href: '/portal/settings/tokens', button: 'Create a token' },
  },
];

/** The steps to set an account up, with the finished ones ticked. */
export const SetupList = ({ setup, canHide }: { setup: Setup; canHide: boolean }) => {
  const steps = stepsOf(setup);
  const done = steps.filter((step) => step.done).length;
  const current = steps.find((step) => !step.done);
  return (
    <section class="panel" aria-labelledby="steps">
      <div class="panel-body">
        <div class="flex justify-between">
          <h2 id="steps">
            {done} of {steps.length} done
          </h2>
          {canHide && <a href="/portal?setup=hidden">Hide this list</a>}
        </div>
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

/** How far an account is set up; `connection` is the name of its first one. */
type Setup = { connection: string | null; sent: number; webhook: number; token: number };

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
      exists (select 1 from webhooks where account_id = ${accountId}) as webhook,
      exists (
        select 1 from tokens indexed by tokens_active
        where account_id = ${accountId} and scope = 'api' and revoked_at is null) as token`;
