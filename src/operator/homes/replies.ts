import * as v from 'valibot';
import { timestamp } from '../../platform/fields.ts';
import { type HomeOverview, maxAccountsCounted } from './overview.ts';

const count = v.pipe(v.number(), v.integer());

/** A home, with nulls where it cannot be asked. */
export const HomeOutput = v.object({
  name: v.string(),
  accounts: v.nullable(v.pipe(v.number(), v.integer(), v.maxValue(maxAccountsCounted))),
  bytes: v.nullable(count),
  /** Of the 10 GB that a database can have. */
  share: v.nullable(v.number()),
  /** Safety events of yesterday, UTC. */
  eventsPerDay: v.nullable(count),
  /** The day when the database is full at the rate of the last two weeks; null if it is not growing. */
  fullOn: v.nullable(v.pipe(v.string(), v.isoDate())),
});
export type HomeOutput = v.InferOutput<typeof HomeOutput>;

export const presentHome = ({ size, ...home }: HomeOverview, now = Date.now()): HomeOutput => ({
  ...home,
  bytes: size?.bytes ?? null,
  share: size?.share ?? null,
  fullOn: size?.daysLeft == null ? null : dayIn(size.daysLeft, now),
});

const dayIn = (days: number, now: number): string => timestamp(now + days * 86_400_000).slice(0, 10);
