import type { Setup } from '../read/overview.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icons.tsx';

/** Whether data comes in, and something receives it. */
export const isSetUp = ({ sent, webhook, token }: Setup): boolean => Boolean(sent && (webhook || token));

/** The steps to set an account up, with the finished ones ticked. */
export const SetupList = (props: { setup: Setup; canHide: boolean }) => {
  const { connection, sent, webhook, token } = props.setup;
  const steps = [
    {
      name: 'Connect a data source',
      done: sent === 1,
      text: connection
        ? `“${connection}” is connected. Its data appears here within seconds.`
        : 'Choose your telematics provider, and enter its API token. Its data is pulled automatically.',
      href: connection ? '/portal/connections' : '/portal/connections/new',
      button: connection ? 'See the connection' : 'Add a connection',
    },
    {
      name: 'Choose where notifications go',
      done: webhook === 1,
      text: 'Accidents and safety events are sent to your HTTPS endpoint as they happen.',
      href: '/portal/webhooks/new',
      button: 'Add a webhook',
    },
    {
      name: 'Create an API token',
      done: token === 1,
      text: 'Your programs need one to read connections, vehicles, drivers, trips and safety events.',
      href: '/portal/settings/tokens',
      button: 'Create a token',
    },
  ];
  const done = steps.filter((step) => step.done).length;
  const current = steps.find((step) => !step.done);
  return (
    <section class="panel" aria-labelledby="steps">
      <div class="panel-body">
        <div class="flex justify-between">
          <h2 id="steps">
            {done} of {steps.length} done
          </h2>
          {props.canHide && <a href="/portal?setup=hidden">Hide this list</a>}
        </div>
        <svg class="progress-line mt-2" aria-hidden="true">
          <rect class="fill-rest" width="100%" height="6" rx="3" />
          <rect class="fill-main" width={`${Math.round((100 * done) / steps.length)}%`} height="6" rx="3" />
        </svg>
      </div>
      <ol class="rows checklist border-t border-line">
        {steps.map((step) => (
          <li class={step === current ? 'current' : undefined}>
            <span class={step.done ? 'ok' : step === current ? undefined : 'quiet'}>
              <Icon name={step.done ? 'circle-check' : step === current ? 'circle-dot' : 'circle'} />
            </span>
            <div class="min-w-0">
              <strong>{step.name}</strong>
              <span class="sr-only">{step.done ? ' (done)' : ' (to do)'}</span>
              <p class="sub break-words">{step.text}</p>
            </div>
            {step.done ? (
              <span />
            ) : (
              <LinkButton
                href={step.href}
                name={step.button}
                weight={step === current ? 'primary' : 'plain'}
                small
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
};
