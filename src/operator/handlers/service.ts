import type { serviceOperations } from '../api/service.ts';
import type { Handlers } from '../handler.ts';
import { listHomes } from '../homes/overview.ts';
import { status } from '../homes/status.ts';

/** How the service and its homes are doing. */
export const serviceHandlers: Handlers<typeof serviceOperations> = {
  status: ({ env }) => status(env),
  listHomes: ({ env }) => listHomes(env),
};
