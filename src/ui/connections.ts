import { type Connection, connectionName } from '../core/fleet/connections.ts';
import { connectionPath } from './lists/records.tsx';

export const connectionsPath = '/portal/connections';

/** The page that adds a connection whose records a connector of the account sends. */
export const ownPath = `${connectionsPath}/own`;

/** The way back from a page below the connections, and from one below a connection. */
export const above = [{ href: connectionsPath, name: 'Connections' }];
export const aboveOf = (connection: Connection) => [
  ...above,
  { href: connectionPath(connection), name: connectionName(connection) },
];
