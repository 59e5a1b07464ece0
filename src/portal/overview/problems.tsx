import { failureDescription } from '../../texts/outcome.ts';
import type { Problem } from '../../ui/added.ts';
import { Icon, LinkButton } from '../../ui/buttons.tsx';
import { Panel } from '../../ui/parts.tsx';
import { maxCounted } from '../../ui/read/attention.ts';
import { Time } from '../../ui/time.tsx';
import { deliveries, titleOf } from '../../ui/webhooks.ts';
import { givenHealth } from '../connections/health.tsx';
import type { ConnectionProblem, readOverview, WebhookProblem } from '../read/read-overview.ts';

type Found = Awaited<ReturnType<typeof readOverview>>['problems'] & { others: Problem[] };

export const Problems = ({ connections, webhooks, others }: Found) => {
  const problems = [...connections.map(ofConnection), ...webhooks.map(ofWebhook), ...others];
  return problems.length === 0 ? null : (
    <Panel title="Connections and webhooks with problems" hidden>
      <ul class="rows problems">
        {problems.map(({ mood, title, text, ...button }) => (
          <li>
            <span class={mood}>
              <Icon name={mood === 'bad' ? 'octagon-x' : 'triangle-alert'} />
            </span>
            <div class="min-w-0">
              <strong>{title}</strong>
              <p class="sub">{text}</p>
            </div>
            <LinkButton {...button} small />
          </li>
        ))}
      </ul>
    </Panel>
  );
};

function ofConnection(connection: ConnectionProblem): Problem {
  const { id, name, tsp, healthStatus, refused, lastEventAt } = connection;
  const { mood, word, note } = givenHealth(healthStatus);
  return {
    mood: refused ? 'bad' : mood,
    title: refused
      ? `${tsp} refuses the credential of connection “${name}”`
      : `Connection “${name}” ${healthStatus === 2 ? 'needs attention' : `is ${word.toLowerCase()}`}`,
    text: [
      refused ? 'Nothing is pulled until its credential is replaced. ' : `${note} `,
      lastEventAt !== null && ['Its latest safety event is from ', <Time at={lastEventAt} />, '.'],
    ],
    href: `/portal/connections/${id}`,
    name: 'See the connection',
    about: name,
  };
}

function ofWebhook(webhook: WebhookProblem): Problem {
  const { id, failures, paused, openUntil, lastFailure, waiting, failed } = webhook;
  const title = titleOf(webhook);
  const does =
    lastFailure === null ? '' : `Its receiver ${failureDescription(JSON.parse(lastFailure))}.`; // as record.ts writes it
  const isWaiting = paused === 1 && openUntil !== null && openUntil > Date.now();
  return {
    mood: paused ? 'bad' : 'warn',
    title: paused
      ? `Webhook “${title}” is paused after ${failures} failures in a row`
      : `Webhook “${title}”: ${deliveries(failed, maxCounted)} failed in the last 7 days`,
    text: [
      failures === 0 ? 'The receiver works again and can receive them now.' : does,
      paused === 1 &&
        ` ${deliveries(waiting, maxCounted)} ${waiting === 1 ? 'is' : 'are'} waiting.`,
      isWaiting && [' Next attempt at ', <Time at={openUntil} />, '.'],
    ],
    href: `/portal/webhooks/${id}`,
    name: paused ? 'See the failures' : 'Review and replay',
    about: `of ${title}`,
  };
}
