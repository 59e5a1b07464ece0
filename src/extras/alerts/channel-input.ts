import * as v from 'valibot';
import {
  isVisible,
  maxUrlLength,
  mustBeVisible,
  type ReceiverPolicy,
  receiverProblem,
  urlProblems,
} from '../../core/platform/address.ts';
import { invalid } from '../../core/platform/errors.ts';
import { AtMost, Name, parse } from '../../core/platform/fields.ts';
import { described, id, time } from '../replies.ts';

export const maxChannels = 10;

export const channelKinds = ['slack', 'teams', 'https'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export const ChannelInput = v.object({
  name: Name,
  kind: v.picklist(channelKinds, 'must be slack, teams or https'),
  url: v.pipe(v.string(), v.trim(), AtMost(maxUrlLength), v.check(isVisible, mustBeVisible)),
  getsAlerts: v.boolean(),
});
export type ChannelInput = v.InferOutput<typeof ChannelInput>;

/** A channel with only the host and the end of its URL. */
export const Channel = v.object({
  id,
  kind: v.picklist(channelKinds),
  name: v.string(),
  host: v.string(),
  lastFour: v.string(),
  getsAlerts: v.boolean(),
  problem: described(v.nullable(v.string()), 'Why the latest message did not arrive.'),
  problemAt: v.nullable(time),
  sentAt: described(v.nullable(time), 'When a message last arrived.'),
});
export type Channel = v.InferInput<typeof Channel>;

/** Checks what people enter; a known channel needs no url. @throws Refusal: invalid */
export function parseChannel(
  draft: object,
  policy: ReceiverPolicy & { isNew: boolean },
): ChannelInput {
  const input = parse(ChannelInput, draft);
  if (input.url === '' && !policy.isNew) return input;
  const problem = receiverProblem(input.url, policy);
  if (problem)
    throw invalid(urlProblems[problem].message, [
      { field: 'url', message: urlProblems[problem].field },
    ]);
  return input;
}
