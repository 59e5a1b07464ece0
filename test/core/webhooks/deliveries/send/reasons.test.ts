import { outcomeOf } from '#src/core/webhooks/deliveries/send/reasons.ts';

const url = 'https://receiver.example.com/0';
const challenge = 'cf-mitigated: challenge';
const browser = 'its firewall asks for a check that only a browser can pass';

type Expected = { reason?: string | RegExp; [field: string]: unknown };

/** A response and what it means. Cloudflare's network has errors of its own, in text or JSON. */
it.each<[status: number, body: string, header: string, Expected]>([
  [530, 'error code: 1016', '', { result: 'dns', status: 530, reason: /server behind it.* 1016$/ }],
  [
    530,
    'error code: 1033',
    '',
    { result: 'connection', reason: /tunnel is not running: .* 1033$/ },
  ],
  [530, '{"error_code":1016}', '', { result: 'dns', reason: /1016/ }],
  [530, 'error code: 1999', '', { result: 'connection', reason: /^Cloudflare error 1999$/ }],
  [
    403,
    'error code: 1020',
    '',
    { result: 'status', status: 403, reason: /firewall blocks our calls/ },
  ],
  [400, '{"error_code":1016}', '', { result: 'status' }],
  [403, '<title>Just a moment...', challenge, { result: 'status', status: 403, reason: browser }],
  [526, 'error code: 526', '', { result: 'tls', status: 526 }],
  [522, 'error code: 522', '', { result: 'timeout', status: 522 }],
  [522, 'our own words', '', { result: 'status', status: 522, answer: 'our own words' }],
  [
    302,
    '',
    'location: https://me:mine@10.0.0.1/new/?token=mine#mine',
    { reason: 'to https://10.0.0.1/new/' },
  ],
  [308, '', 'location: /a/', { result: 'redirect', reason: 'to https://receiver.example.com/a/' }],
  [301, '', `location: /${'x'.repeat(999)}`, { reason: /^to https:.{191}…$/ }],
  [301, '', 'location: javascript:x', { result: 'redirect' }],
  [429, '', 'retry-after: 3600', { result: 'status', status: 429, retryAfter: 3_600_000 }],
])('%i with “%s” and “%s” says whose failure it is', (status, body, header, expected) => {
  const [, name, value = ''] = /^([^:]+): (.*)$/.exec(header) ?? [];
  const headers = name === undefined ? {} : { [name]: value };
  const outcome = outcomeOf(new Response(body, { status, headers }), body, url);
  const reason = expected.reason && expect.stringMatching(expected.reason);
  expect({ reason: undefined, ...outcome }).toMatchObject({ ...expected, reason });
});
