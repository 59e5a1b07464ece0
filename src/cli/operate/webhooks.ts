import type { Command } from 'commander';
import type { WebhookHealth } from '../../operator/api/webhooks.ts';
import { about, group, within } from './command.ts';
import { type Column, rowsOf } from './print.ts';

export const webhookCommands = (): Command =>
  group('webhook', 'list, limit and pause the webhooks of an account', [
    within(
      'list',
      'list the webhooks of an account, with the health and the limits of their receivers',
      'GET /accounts/:id/webhooks',
      table,
    ),
    about(
      'limit',
      'limit the calls to a receiver; a limit that you leave out stays unchanged',
      'PATCH /webhooks/:id/limits',
      table,
      ({ id, inFlight, perSecond, default: none }, command) => {
        const isGiven = inFlight !== undefined || perSecond !== undefined;
        if (isGiven === Boolean(none))
          command.error('error: give --in-flight, --per-second or both, or --default');
        return none
          ? { id, maxInFlight: null, maxPerSecond: null }
          : { id, maxInFlight: inFlight, maxPerSecond: perSecond };
      },
    )
      .option('--in-flight <calls>', 'calls at a time, 1 to 50', wholeNumber)
      .option('--per-second <calls>', 'calls a second, 1 to 1000', wholeNumber)
      .option('--default', 'remove both limits'),
    about(
      'pause',
      'pause a webhook: its deliveries wait for up to five days',
      'POST /webhooks/:id/pause',
      table,
    ),
    about('resume', 'send to a paused webhook again, accidents first', 'POST /webhooks/:id/resume', table),
  ]);

/** Invalid numbers are sent as text, so that the service explains them: JSON would make them null. */
const wholeNumber = (text: string): number | string => (/^\d{1,9}$/.test(text) ? Number(text) : text);

function table(found: WebhookHealth | WebhookHealth[]): string {
  const columns: Column<WebhookHealth>[] = ['id', 'url', 'failures', 'openUntil'];
  columns.push(['limit', limitOf], ['now', 'window']);
  const webhooks = [found].flat();
  for (const option of ['filters', 'pausedAt'] as const)
    if (webhooks.some((webhook) => webhook[option])) columns.push(option);
  return rowsOf(webhooks, columns);
}

function limitOf({ maxInFlight, maxPerSecond }: WebhookHealth): string {
  return `${maxInFlight ?? 'up to 50'} at a time${maxPerSecond ? `, ${maxPerSecond} a second` : ''}`;
}
