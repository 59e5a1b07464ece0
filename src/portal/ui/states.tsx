import type { Child } from 'hono/jsx';
import type { Accident } from '../../fleet/named-lists.ts';
import type { ListedDelivery } from '../../webhooks/deliveries/read/select.ts';
import { levelNames } from '../../webhooks/notifications/types.ts';
import type { IconName } from './icon-names.ts';
import { Icon, Shape } from './icons.tsx';
import { Time } from './time.tsx';

/** What a state means for the reader: fine, worth watching, a problem, or neutral. */
export type Mood = 'ok' | 'warn' | 'bad' | 'quiet';

const moodIcons: { [mood in Mood]: IconName } = {
  ok: 'circle-check',
  warn: 'triangle-alert',
  bad: 'octagon-x',
  quiet: 'circle-slash',
};

/** A state as a shape and a word, never a colour alone. */
export const State = (props: { mood: Mood; icon?: IconName | undefined; children: Child }) => (
  <span class={`state ${props.mood}`}>
    <Icon name={props.icon ?? moodIcons[props.mood]} small />
    <span>{props.children}</span>
  </span>
);

const riskNames = ['', 'Very low', 'Low', 'Medium', 'High', 'Critical'];

/** A risk from 1 to 5, as bars and number, with its name if `named`. */
export const Risk = ({ risk, named = false }: { risk: number; named?: boolean }) => (
  <span class={`risk risk-${risk}`}>
    <Shape id={`risk-${risk}`} look="glyph" />
    <span>
      <span class="sr-only">Risk </span>
      {risk}
      {named && ` ${riskNames[risk]}`}
    </span>
  </span>
);

export const Level = ({ level }: { level: number }) => (
  <span class="level">
    <Shape id={`level-${level}`} look="glyph glyph-level" />
    <span>Level {level}</span>
  </span>
);

/** "Level 2, verified" */
export const levelOptions = levelNames.map((name, i): [string, string] => [
  String(i + 1),
  `Level ${i + 1}, ${name.toLowerCase()}`,
]);

/** The risk of an event, or that it has been withdrawn. */
export const EventState = (props: { eventRisk: number; withdrawn: unknown; named?: boolean }) =>
  props.withdrawn ? (
    <State mood="quiet">Withdrawn</State>
  ) : (
    <Risk risk={props.eventRisk} named={props.named ?? true} />
  );

/** The state of an accident: open until it has its report or is dismissed. */
export function AccidentState(accident: Accident) {
  if (accident.closed) return <State mood="quiet" icon="circle-check" children="Closed" />;
  if (accident.dismissed) return <State mood="quiet">False alarm</State>;
  if (accident.notificationLevel < 3) return <State mood="warn" icon="circle-dot" children="Open" />;
  return <State mood="ok" icon="file-text" children="Report ready" />;
}

/** Who has closed an accident, otherwise whose it is, or who has acknowledged it. */
export const HandledBy = ({ assignedTo, acknowledged, closed }: Accident) => {
  if (closed) return <p class="sub clamp">by {closed.by}</p>;
  if (assignedTo) return <p class="sub clamp">Assigned to {assignedTo}</p>;
  return acknowledged && <p class="sub clamp">Acknowledged by {acknowledged.by}</p>;
};

export type Pause = { pausedAt: number | null; openUntil: number | null };

/** The state of a delivery in words. While its webhook is paused, no attempt is made. */
export const Status = (props: {
  delivery: Pick<ListedDelivery, 'status' | 'attempts' | 'nextAttemptAt'>;
  webhook: Pause | null | undefined;
}) => {
  const { status, attempts, nextAttemptAt } = props.delivery;
  const { pausedAt, openUntil } = props.webhook ?? {};
  if (status === 'delivered') return <State mood="ok">Delivered</State>;
  if (status === 'failed') return <State mood="bad">Failed</State>;
  if (status === 'cancelled') return <State mood="quiet">Cancelled</State>;
  if (pausedAt) return <State mood="quiet" icon="pause" children="Waiting, webhook paused" />;
  const at = Math.max(nextAttemptAt ?? 0, openUntil ?? 0);
  const [now, later] = attempts > 0 ? ['Retrying now', 'Retry at'] : ['Sending', 'Waiting until'];
  return (
    <State mood={attempts > 0 ? 'warn' : 'quiet'} icon="clock">
      {at <= Date.now() ? now : [later, ' ', <Time at={at} />]}
    </State>
  );
};
