import { timestamp } from '../../core/platform/fields.ts';
import type { Handlers } from '../handlers.ts';
import { listExports, operators, requestExport } from './exports.ts';
import type { operations } from './operations.ts';

export const handlers: Handlers<typeof operations> = {
  exportAccount: ({ env, caller, body: { lists, format, from, to } }) =>
    requestExport(env, caller, operators, {
      lists,
      formats: [format],
      ...(from !== undefined && { from: timestamp(from) }),
      ...(to !== undefined && { to: timestamp(to) }),
    }),

  listExports: ({ env, caller }) => listExports(env, caller),
};
