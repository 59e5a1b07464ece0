import { as } from './world.ts';

/** An item of a list, as far as all of them are alike. */
export type Item = Record<string, unknown> & { id: string; sourceId: string };

export const listPage = (token: string, path: string, connection?: string) =>
  as(token, connection ? { 'Connection-Id': connection } : {}).get<Item[]>(path);
