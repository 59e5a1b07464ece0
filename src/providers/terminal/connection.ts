import { isPrintable } from '../../platform/fields.ts';
import { at } from '../read.ts';
import { type Api, get } from './api.ts';

const currentConnection = (api: Api): Promise<unknown> => get(api, '/connections/current');

/** What Terminal calls the customer whose connection it is, or else the provider behind it. @throws Problem */
export async function organisationOf(api: Api): Promise<{ name: string; problem: string | undefined }> {
  const connection = await currentConnection(api);
  const names = [
    at(connection, 'company', 'name'),
    at(connection, 'account', 'name'),
    providerOf(connection),
  ];
  return { name: names.find(isName) ?? 'Terminal', problem: problemIn(connection) };
}

/** Why nothing new comes, if Terminal is not connected to the provider any more. @throws Problem */
export const problemOf = async (api: Api): Promise<string | undefined> =>
  problemIn(await currentConnection(api));

function problemIn(connection: unknown): string | undefined {
  const provider = providerOf(connection);
  const name = isName(provider) ? provider : 'the provider';
  switch (at(connection, 'status')) {
    case 'disconnected':
      return `is no longer connected to ${name}: the customer has to sign in there again, through Terminal`;
    case 'archived':
    case 'pending_deletion':
      return `has archived this connection to ${name}`;
    default:
      return undefined;
  }
}

const providerOf = (connection: unknown): unknown => at(connection, 'provider', 'name');

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.trim() !== '' && name.length <= 200 && isPrintable(name);
