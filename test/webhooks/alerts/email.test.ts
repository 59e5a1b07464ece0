import { describe, expect, it } from 'vitest';
import { type Alert, type AlertedWebhook, renderEmail } from '../../../src/webhooks/alerts/email.ts';
import type { Happened } from '../../../src/webhooks/alerts/report.ts';
import { failureDescription } from '../../../src/webhooks/alerts/words.ts';

const at = Date.parse('2026-11-20T20:00:31Z');
const webhook = (changes: Partial<AlertedWebhook> = {}): AlertedWebhook => ({
  webhookId: '01a1fc72-831b-772e-98a0-8d9347089f0d',
  name: null,
  url: 'https://claims.example.com:8443/secret-path?secret=query',
  pausedFrom: at,
  pausedTo: at + 20 * 60_000,
  failed: 1,
  failedFrom: at,
  waiting: 12,
  lastFailure: { result: 'status', status: 503 },
  lastEnd: { result: 'status', status: 410 },
  ...changes,
});
const render = (alert: Partial<Alert>) =>
  renderEmail(
    { kind: 'paused', account: 'Acme <b>Insurance</b>', webhooks: [webhook()], others: 0, ...alert },
    'https://portal.example.com',
  );

describe('an email', () => {
  it('about a pause says since when, what the receiver does, what waits, where to look and how to turn it off', async () => {
    const { subject, text } = await render({});
    expect(subject).toBe('Deliveries to claims.example.com:8443 are paused');
    expect(text.split('\n\n')).toEqual([
      'We have paused deliveries to a webhook of yours, because calls keep failing.',
      'claims.example.com:8443: paused since 2026-11-20 20:00 UTC. Your receiver returns 503 Service Unavailable. ' +
        'Waiting: 12 deliveries. https://portal.example.com/portal/webhooks/01a1fc72-831b-772e-98a0-8d9347089f0d',
      'Please check your receiver. Every 15 minutes or sooner we try one delivery. When it succeeds, everything that ' +
        'waited is delivered. A delivery that has waited for 5 days has failed.',
      'You get this email because you can sign in to Acme <b>Insurance</b>. To turn these emails off: ' +
        'https://portal.example.com/portal/settings/notifications',
    ]);
  });

  it('calls a webhook by its name, if it has one', async () => {
    const { subject, text } = await render({ webhooks: [webhook({ name: 'Claims intake' })] });
    expect(subject).toBe('Deliveries to Claims intake are paused');
    expect(text).toContain('Claims intake: paused since');
    expect(text).not.toContain('claims.example.com');
  });

  it('shows nothing of a webhook without a name but its host', async () => {
    for (const kind of ['paused', 'failed', 'working'] as const)
      expect(JSON.stringify(await render({ kind }))).not.toContain('secret');
  });
});

const outcomes: [Happened, string][] = [
  [{ result: 'success', status: 204 }, 'returns 204'],
  [{ result: 'status', status: 503 }, 'returns 503 Service Unavailable'],
  [{ result: 'redirect', status: 301 }, 'returns a redirect (301)'],
  [{ result: 'timeout' }, 'does not respond within 15 s'],
  [{ result: 'dns' }, 'has a host name that cannot be found'],
  [{ result: 'tls' }, 'has no certificate that we can trust'],
  [{ result: 'connection' }, 'cannot be reached'],
  [{ result: 'blocked address' }, 'has an address that we do not call'],
];
it.each(outcomes)('%o is said in plain words', (happened, words) => {
  expect(failureDescription(happened)).toBe(words);
});
