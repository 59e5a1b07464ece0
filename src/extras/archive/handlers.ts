import type { Handlers } from '../handlers.ts';
import { dayOf, type Part } from './bucket.ts';
import type { operations } from './operations.ts';
import { repairDay } from './remove.ts';

export const handlers: Handlers<typeof operations> = {
  async repairArchive({ env, caller: { accountId }, id, body: { kind, date, apply } }) {
    const day = { kind, accountId, connectionId: id, day: dayOf(Date.parse(date)) };
    const { catalog, bucket } = await repairDay(env, day, apply);
    return { catalog: sumOf(catalog), bucket: sumOf(bucket), applied: apply };
  },
};

const sumOf = (parts: Part[]) => ({
  files: parts.length,
  records: parts.reduce((sum, { rows }) => sum + rows, 0),
});
