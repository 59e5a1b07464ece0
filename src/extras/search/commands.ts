import { type Command, InvalidArgumentError } from 'commander';
import { askAll, inOneList } from '../../cli/operate/cells.ts';
import { ApiError } from '../../cli/operate/client.ts';
import { dayMs, minuteMs } from '../../core/platform/durations.ts';
import type { FoundItem } from './operations.ts';

/** The one vehicle or driver that a text means. @throws ApiError, which names those that it may mean */
export async function oneMeant(
  command: Command,
  kind: 'vehicle' | 'driver',
  text: string,
  accountId?: string,
): Promise<FoundItem> {
  const query = { [kind]: text, accountId };
  const found = inOneList(await askAll(command, 'GET /fleet/find', { query }));
  const [one, ...others] = found.filter(({ meant }) => meant);
  if (one && others.length === 0) return one;
  if (one)
    throw new ApiError(
      `${others.length + 1} ${kind}s are called that; give the id of one: ${inWords([one, ...others])}`,
    );
  const like = found.length > 0 ? `The nearest are: ${inWords(found)}` : 'No name is like it';
  throw new ApiError(`There is no ${kind} with this name${ways[kind]} id. ${like}`);
}

const ways = { vehicle: ', plate, VIN or', driver: ' or' };

const inWords = (items: FoundItem[]): string =>
  items
    .map(({ id, name, licensePlate, sourceId, account }) => {
      return `${[name, licensePlate ?? sourceId, account].join(', ')} (${id})`;
    })
    .join('; ');

/** A time as people say it: 14:05 is the last one here; with a day it is also of here, unless it says its zone. */
export function timeSaid(text: string, now = Date.now()): number {
  const clock = /^(\d{1,2}):(\d\d)$/.exec(text);
  const today = new Date(now);
  if (clock) today.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
  const day = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  const at = clock ? today.getTime() : day;
  const isTime = clock ? Number(clock[1]) < 24 && Number(clock[2]) < 60 : !Number.isNaN(at);
  if (!isTime)
    throw new InvalidArgumentError(
      'It must be a time, such as 14:05, "2026-11-20 14:05" or 2026-11-20T14:05:00Z.',
    );
  return clock && at > now + minuteMs ? at - dayMs : at;
}
