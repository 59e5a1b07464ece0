import type { Handlers } from '../handlers.ts';
import type { operations } from './operations.ts';
import { turnOffSingleSignOn } from './save.ts';

export const handlers: Handlers<typeof operations> = {
  turnOffSingleSignOn: ({ env, caller }) => turnOffSingleSignOn(env, caller),
};
