import {
  isLoopback,
  type ReceiverPolicy,
  type ReceiverProblem,
  receiverProblem,
} from '../../core/platform/address.ts';

/** Why a provider's API cannot be called at an address; local runs may also call one on this machine by http. */
export function providerProblem(url: string, policy: ReceiverPolicy): ReceiverProblem | undefined {
  const parsed = URL.parse(url);
  const isLocal = parsed?.protocol === 'http:' && isLoopback(parsed.hostname);
  return receiverProblem(
    isLocal && policy.allowLoopback ? url.replace(/^http:/i, 'https:') : url,
    policy,
  );
}
