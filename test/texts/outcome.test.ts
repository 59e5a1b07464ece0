import type { Outcome } from '#src/core/webhooks/deliveries/policy.ts';
import { outcomeOf } from '#src/texts/outcome.ts';

it.each<[Outcome, string]>([
  [{ result: 'success', status: 204, answer: '' }, 'returned 204 in 41 ms.'],
  [
    { result: 'status', status: 403, answer: '', reason: 'its firewall blocks programs' },
    'returned 403 Forbidden in 41 ms: its firewall blocks programs.',
  ],
  [
    { result: 'redirect', status: 301, answer: '', reason: 'to https://b.example.com/x' },
    'returned a redirect (301) to https://b.example.com/x. Redirects are not followed.',
  ],
  [
    { result: 'redirect', status: 301, answer: '' },
    'returned a redirect (301). Redirects are not followed.',
  ],
  [
    { result: 'connection', status: 530, reason: 'its tunnel is not running' },
    'cannot be reached: its tunnel is not running.',
  ],
  [{ result: 'timeout' }, 'does not respond within 15 s.'],
])('%o is told in a sentence', (outcome, says) => {
  expect(outcomeOf({ ...outcome, durationMs: 41 })).toBe(`Your receiver ${says}`);
});
