import { expect, it } from 'vitest';
import { type AlertedWebhook, alertText } from '../../../src/webhooks/alerts/alert-text.ts';
import { failureDescription, type Happened } from '../../../src/webhooks/alerts/words.ts';

const at = Date.parse('2026-11-20T20:00:31Z');
const webhook = (name: string | null): AlertedWebhook => ({
  webhookId: '01a1fc72-831b-772e-98a0-8d9347089f0d',
  name,
  url: 'https://claims.example.com:8443/secret-path?secret=query',
  pausedFrom: at,
  pausedTo: at + 20 * 60_000,
  failed: 1,
  failedFrom: at,
  lastFailure: { result: 'status', status: 503 },
});
const portal = 'https://portal.example.com/portal';

it.each(['paused', 'failed', 'working'] as const)(
  'about a webhook that is %s has its name, or nothing but its host',
  (kind) => {
    expect(alertText(kind, [webhook('Claims intake')], portal).subject).toContain('to Claims intake');
    expect(JSON.stringify(alertText(kind, [webhook(null)], portal))).not.toContain('secret');
  },
);

const outcomes: [Happened, string][] = [
  [{ result: 'success', status: 204 }, 'returns 204'],
  [{ result: 'status', status: 503 }, 'returns 503 Service Unavailable'],
  [{ result: 'redirect', status: 301 }, 'returns a redirect (301)'],
  [{ result: 'timeout' }, 'does not respond within 15 s'],
  [{ result: 'dns' }, 'has a host name that cannot be found'],
];
it.each(outcomes)('%o is said in plain words', (happened, words) => {
  expect(failureDescription(happened)).toBe(words);
});
