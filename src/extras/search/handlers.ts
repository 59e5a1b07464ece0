import { invalid } from '../../core/platform/errors.ts';
import type { Handlers } from '../handlers.ts';
import { findInFleet } from './find-in-fleet.ts';
import type { operations } from './operations.ts';

export const handlers: Handlers<typeof operations> = {
  async findInFleet({ env, query: { vehicle, driver, accountId } }) {
    if (vehicle) return findInFleet(env, { kind: 'vehicle', text: vehicle, accountId });
    if (driver) return findInFleet(env, { kind: 'driver', text: driver, accountId });
    throw invalid('Give a vehicle or a driver');
  },
};
