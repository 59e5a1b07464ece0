import { readNamed, tripsWithDrivers } from '../../fleet/named.ts';
import type { Context } from '../../platform/http/context.ts';

/** The trip that a vehicle was on, which began at most a day before; one that ended just before counts. */
export async function tripAt(c: Context, vehicleId: string | null, at: number) {
  if (!vehicleId) return undefined;
  const [from = '', to = ''] = [at - longestTripMs, at + 1].map((time) => new Date(time).toISOString());
  const { items } = await readNamed(c.env, c.get('caller'), tripsWithDrivers, {
    connectionId: undefined,
    query: { vehicleIds: [vehicleId], from: [from], to: [to], limit: ['1'] },
    descending: true,
  });
  return items.find(({ endedAt }) => endedAt === null || Date.parse(endedAt) >= at - justEndedMs);
}

const longestTripMs = 24 * 3_600_000;
const justEndedMs = 15 * 60_000;

/** A trip of the vehicle, with the name of its driver. */
export type Trip = NonNullable<Awaited<ReturnType<typeof tripAt>>>;
