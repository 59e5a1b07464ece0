import type { Handlers } from '../handlers.ts';
import { listExports, operators, requestExport } from './exports.ts';
import type { operations } from './operations.ts';
import { wantedBy } from './schema.ts';

export const handlers: Handlers<typeof operations> = {
  exportAccount: ({ env, caller, body: { format, ...wanted } }) =>
    requestExport(env, caller, operators, wantedBy({ ...wanted, formats: [format] })),

  listExports: ({ env, caller }) => listExports(env, caller),
};
