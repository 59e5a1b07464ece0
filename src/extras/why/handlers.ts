import { invalid } from '../../core/platform/errors.ts';
import type { Handlers } from '../handlers.ts';
import { explain } from './explain.ts';
import type { operations } from './operations.ts';

export const handlers: Handlers<typeof operations> = {
  async explain({ env, query: { eventId, vehicleId, driverId, ...range } }) {
    if (eventId) return explain(env, { eventId });
    if (vehicleId) return explain(env, { vehicleId, ...range });
    if (driverId) return explain(env, { driverId, ...range });
    throw invalid('Give an eventId, a vehicleId or a driverId');
  },
};
