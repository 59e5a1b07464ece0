import type { Command } from 'commander';
import { askAll, inOneList } from '../../cli/operate/cells.ts';
import { ApiError } from '../../cli/operate/client.ts';
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
  const like = found.length > 0 ? `The nearest are: ${inWords(found)}` : 'No name is similar';
  throw new ApiError(`There is no ${kind} with this name${ways[kind]} id. ${like}`);
}

const ways = { vehicle: ', plate, VIN or', driver: ' or' };

const inWords = (items: FoundItem[]): string =>
  items
    .map(({ id, name, licensePlate, sourceId, account }) => {
      return `${[name, licensePlate ?? sourceId, account].join(', ')} (${id})`;
    })
    .join('; ');
