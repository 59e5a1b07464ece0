import { connectionsPath } from '../../../ui/connections.ts';

export const linksPath = `${connectionsPath}/links`;
export const addPath = `${connectionsPath}/new`;
