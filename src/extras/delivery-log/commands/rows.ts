import type { InferOutput } from 'valibot';
import { hostOf, resultOf } from '../../../cli/operate/rows.ts';
import type { AttemptEntry, ShownDelivery, WebhookHealth } from '../operations.ts';

type Webhook = InferOutput<typeof WebhookHealth>;

export function stateOf({ pausedAt, openUntil, failures }: Webhook): string {
  if (pausedAt) return `paused since ${pausedAt}`;
  if (openUntil) return `fails, next try ${openUntil}`;
  return failures > 0 ? `fails: ${failures} in a row` : 'works';
}

export const webhookRow = (one: Webhook) => {
  const { failures, openUntil, pausedAt, window, ...more } = one;
  return { ...more, state: stateOf(one), 'calls at a time now': window };
};

/** A webhook by its name, otherwise by the host of its address. */
export const webhookIn = ({ name, url }: { name: string | null; url: string }): string | null =>
  name ?? hostOf(url);

/** What a delivery is about, by its level. */
export const aboutOf = (level: number): string =>
  level === 0 ? 'event' : `accident, level ${level}`;

export const deliveryRow = ({
  id,
  level,
  type,
  log,
  ...one
}: InferOutput<typeof ShownDelivery>) => ({
  id,
  about: aboutOf(level),
  ...one,
  attemptsOmitted: one.attemptsOmitted || null,
  log: log.map(
    ({ at, durationMs, reason, answer, ...attempt }: InferOutput<typeof AttemptEntry>) => ({
      at,
      result: resultOf(attempt),
      took: `${durationMs} ms`,
      reason,
      response: answer,
    }),
  ),
});
