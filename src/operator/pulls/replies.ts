import * as v from 'valibot';
import { timestamp, timestampOrNull } from '../../platform/fields.ts';
import { feedNames } from '../../providers/connector.ts';
import type { PullStatus } from '../../providers/status.ts';

const time = v.pipe(v.string(), v.isoTimestamp());
const count = v.pipe(v.number(), v.integer());

/** How a connection that pulls from a provider is doing. */
export const PullOutput = v.object({
  provider: v.string(),
  organisation: v.string(),
  baseUrl: v.string(),
  state: v.picklist(['pulling', 'paused', 'refused']),
  hasWebhookSecret: v.boolean(),
  lastPulledAt: v.nullable(time),
  historyDays: count,
  feeds: v.array(
    v.object({
      feed: v.picklist(feedNames),
      everyMinutes: count,
      problem: v.nullable(
        v.object({ advice: v.string(), since: time, nextAt: time, isFailing: v.boolean() }),
      ),
      history: v.nullable(
        v.object({
          share: v.number(),
          records: count,
          recordsPerMinute: v.nullable(count),
          endsAt: v.nullable(time),
        }),
      ),
    }),
  ),
  refusals: v.array(v.object({ kind: v.string(), sourceId: v.string(), reason: v.string(), at: time })),
  unmapped: v.array(v.object({ word: v.string(), count })),
});
export type PullOutput = v.InferOutput<typeof PullOutput>;

export const presentPull = ({ nextAt: _, ...status }: PullStatus): PullOutput => ({
  ...status,
  lastPulledAt: timestampOrNull(status.lastPulledAt),
  feeds: status.feeds.map(({ problem, history, ...feed }) => ({
    ...feed,
    problem: problem && {
      ...problem,
      since: timestamp(problem.since),
      nextAt: timestamp(problem.nextAt),
    },
    history: history && { ...history, endsAt: timestampOrNull(history.endsAt) },
  })),
  refusals: status.refusals.map((refusal) => ({ ...refusal, at: timestamp(refusal.at) })),
});
