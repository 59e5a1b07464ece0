import type { Handlers } from '../handlers.ts';
import { setVehicleExternalId } from './external-ids.ts';
import type { operations } from './operations.ts';

export const handlers: Handlers<typeof operations> = {
  changeVehicle: ({ env, caller, id, body }) =>
    setVehicleExternalId(env, caller, id, body.externalId),
};
