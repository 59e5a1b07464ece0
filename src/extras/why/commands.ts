import { Command, InvalidArgumentError } from 'commander';
import { askAll, inOneList } from '../../cli/operate/cells.ts';
import { wholeNumber } from '../../cli/operate/context.ts';
import type { Groups } from '../../cli/operate/derive.ts';
import { show } from '../../cli/operate/print.ts';
import { resultOf } from '../../cli/operate/rows.ts';
import { minuteMs } from '../../core/platform/durations.ts';
import { aboutOf, webhookIn } from '../delivery-log/commands/rows.ts';
import { oneMeant } from '../search/commands.ts';
import type { WhyIncident } from './operations.ts';

const whyCommand = (): Command =>
  new Command('why')
    .description(
      'Show what came in around a time, who was notified of it, and why a webhook was not',
    )
    .option('--vehicle <name>', 'vehicle: its name, plate, VIN or id')
    .option('--driver <name>', 'driver: their name or id')
    .option('--event <id>', 'one event')
    .option('--accident <id>', 'one accident')
    .option(
      '--at <time>',
      'time when it happened: 14:05 is the last one in the zone of this computer',
      timeSaid,
    )
    .option('--around <minutes>', 'how many minutes before and after it', wholeNumber(1, 1440), 30)
    .option('--account <id>', 'account of the vehicle or driver')
    .action(async ({ vehicle, driver, event, accident, at, around, account }, command: Command) => {
      const [kind, text] = Object.entries({ vehicle, driver }).find(([, name]) => name) ?? [];
      if ([vehicle, driver, event, accident].filter(Boolean).length !== 1)
        command.error('error: give one of --vehicle, --driver, --event and --accident');
      const ask = async (query: { [parameter: string]: string }) =>
        inOneList(await askAll(command, 'GET /why', { query }));
      if (!kind) {
        const found = await ask({ eventId: event ?? accident });
        return show(command, found, orSay('Nothing has this id, or it is archived.'));
      }
      const one = await oneMeant(command, kind as 'vehicle' | 'driver', text, account);
      const of = { [`${kind}Id`]: one.id };
      const who = `${one.name} of ${one.account}`;
      if (at === undefined)
        return show(command, await ask(of), orSay(`Nothing came in for ${who} in 30 days.`));
      const [from = '', to = ''] = [-around, around].map((minutes) =>
        new Date(at + minutes * minuteMs).toISOString(),
      );
      const found = await ask({ ...of, from, to });
      const [before] = found.length > 0 ? [] : await ask({ ...of, to: from, limit: '1' });
      const latest = before && ` The latest before: ${nameOf(before)}, ${before.at}.`;
      const nothing = `Nothing came in for ${who} from ${from} to ${to}.${latest ?? ''}`;
      show(command, found, orSay(`${nothing} Its connection is ${one.connection}.`));
    });

const orSay = (nothing: string) => (found: (WhyIncident & { cell?: string })[]) =>
  found.length > 0 ? found.map(lineOf) : nothing;

const nameOf = ({ what, eventRisk }: Pick<WhyIncident, 'what' | 'eventRisk'>): string =>
  [what.join(' and '), eventRisk && `risk ${eventRisk}`].filter(Boolean).join(', ');

/** An event or accident as people read it, with a table of each that was notified or was not. */
function lineOf({
  deliveries,
  unnotified,
  alerted,
  complete,
  ...one
}: WhyIncident & { cell?: string }) {
  const { cell, kind, eventId, at, receivedAt, vehicle, vin, connection, account } = one;
  return {
    ...(cell && { cell }),
    [kind]: nameOf(one),
    id: eventId,
    ...{ at, receivedAt, vehicle, vin, connection, account },
    ...(deliveries.length === 0 && { notified: 'no webhook' }),
    ...(!complete && { notified: `the first ${deliveries.length} deliveries` }),
    'notified webhooks': deliveries.map(({ id, level, status, last, ...delivery }) => ({
      at: last?.at ?? delivery.createdAt,
      webhook: webhookIn(delivery),
      about: aboutOf(level),
      status: delivery.pausedAt ? `${status}, paused` : status,
      response: resultOf(last),
      delivery: id,
    })),
    'webhooks that were not notified': unnotified.map((webhook) => ({
      webhook: webhookIn(webhook),
      why: webhook.why,
      id: webhook.webhookId,
    })),
    'notified people and channels': alerted.map(({ name, isChannel, isWaiting, at }) => ({
      name,
      how: isWaiting ? 'waiting to be sent' : isChannel ? 'sent' : 'emailed',
      at,
    })),
  };
}

/** A time as people say it: 14:05 is the last one here; with a day it is also of here, unless it says its zone. */
export function timeSaid(text: string, now = Date.now()): number {
  const clock = /^(\d{1,2}):(\d\d)$/.exec(text);
  const today = new Date(now);
  if (clock) today.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
  if (clock && today.getTime() > now + minuteMs) today.setDate(today.getDate() - 1);
  const day = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  const at = clock ? today.getTime() : day;
  const isTime = clock ? Number(clock[1]) < 24 && Number(clock[2]) < 60 : !Number.isNaN(at);
  if (!isTime)
    throw new InvalidArgumentError(
      'It must be a time, such as 14:05, "2026-11-20 14:05" or 2026-11-20T14:05:00Z.',
    );
  return at;
}

export const commands: Groups = { '': { commands: [whyCommand] } };
