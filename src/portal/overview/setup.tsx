import type { Connecting, SetupStep } from '../../ui/added.ts';
import { Allowed, Icon, LinkButton } from '../../ui/buttons.tsx';
import { connectionsPath } from '../../ui/connections.ts';
import type { IconName } from '../../ui/icon-names.ts';
import type { Setup } from '../read/read-overview.ts';

/** The steps to set an account up, `more` of them by extras. All but the first can be skipped. */
export const stepsOf = (
  setup: Setup,
  skipped: string[],
  connecting: Connecting,
  more: SetupStep[],
) => {
  const { connection, sent, webhook, token } = setup;
  const steps: SetupStep[] = [
    {
      id: 'data',
      name: 'Connect a data source',
      isDone: sent === 1,
      text: connection
        ? `“${connection}” is connected. Its data appears here within seconds.`
        : connecting.text,
      href: connection ? connectionsPath : connecting.href,
      button: connection ? 'See the connection' : 'Add a connection',
    },
    ...more,
    {
      id: 'webhook',
      name: 'Send notifications to your systems',
      isDone: webhook === 1,
      text: 'Accidents and safety events are sent to your HTTPS endpoint as they happen.',
      href: '/portal/webhooks/new',
      button: 'Add a webhook',
    },
    {
      id: 'token',
      name: 'Create an API token',
      isDone: token === 1,
      text: 'Your programs need one to read connections, vehicles, drivers, trips and safety events.',
      href: '/portal/settings/tokens',
      button: 'Create a token',
    },
  ];
  return steps.map((step) => ({ ...step, isSkipped: !step.isDone && skipped.includes(step.id) }));
};

type Step = ReturnType<typeof stepsOf>[number];
const isOver = ({ isDone, isSkipped }: Step): boolean => isDone || isSkipped;

/** Whether data comes in, somebody is notified of accidents, and it reaches programs, or that is skipped. */
export function isSetUp([data, ...others]: Step[]): boolean {
  const [people, programs] = [others.slice(0, -2), others.slice(-2)];
  return (
    data?.isDone === true &&
    (people.every(isOver) || programs[0]?.isDone === true) &&
    (programs.some(({ isDone }) => isDone) || programs.every(({ isSkipped }) => isSkipped))
  );
}

/** The steps to set an account up, with the finished ones ticked. */
export const SetupList = ({ steps }: { steps: Step[] }) => {
  const done = steps.filter(isOver).length;
  const current = steps.find((step) => !isOver(step));
  const remaining = steps.filter((step) => !isOver(step)).map(({ id }) => id);
  return (
    <section class="panel" aria-labelledby="steps">
      <div class="panel-body">
        <div class="flex justify-between">
          <h2 id="steps">
            {done} of {steps.length} done
          </h2>
          {steps[0]?.isDone && <a href={skipping(remaining)}>Hide this list</a>}
        </div>
        <svg class="progress-line mt-2" aria-hidden="true">
          <rect class="fill-rest" width="100%" height="6" rx="3" />
          <rect
            class="fill-main"
            width={`${Math.round((100 * done) / steps.length)}%`}
            height="6"
            rx="3"
          />
        </svg>
      </div>
      <ol class="rows checklist border-t border-line">
        {steps.map((step) => (
          <li class={step === current ? 'current' : undefined}>
            <span class={step.isDone ? 'ok' : step === current ? undefined : 'quiet'}>
              <Icon name={iconOf(step, step === current)} />
            </span>
            <div class="min-w-0">
              <strong>{step.name}</strong>
              <span class={step.isSkipped ? 'sub' : 'sr-only'}>
                {step.isDone ? ' (done)' : step.isSkipped ? ' (skipped)' : ' (to do)'}
              </span>
              <p class="sub">{step.text}</p>
            </div>
            {isOver(step) ? (
              <span />
            ) : (
              <span class="actions">
                {step.id !== 'data' && (
                  <LinkButton
                    href={skipping([step.id])}
                    name="Skip"
                    about={step.name}
                    weight="ghost"
                    small
                  />
                )}
                <Allowed to={step.href}>
                  <LinkButton
                    href={step.href}
                    name={step.button}
                    weight={step === current ? 'primary' : 'plain'}
                    small
                  />
                </Allowed>
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
};

const skipping = (steps: string[]): string => `/portal?skip=${steps.join('.')}`;

const iconOf = ({ isDone, isSkipped }: Step, isCurrent: boolean): IconName => {
  if (isDone) return 'circle-check';
  if (isSkipped) return 'circle-slash';
  return isCurrent ? 'circle-dot' : 'circle';
};
