import { internalSuffixes, normalisedUrl, receiverProblem } from '#src/core/platform/address.ts';

const strict = { ownHost: 'api.example.com', allowLoopback: false };
const wordsIn = (text: string) => text.trim().split(/\s+/);

const literals = wordsIn(`
https://127.0.0.1/ https://127.1/ https://2130706433/ https://0x7f000001/ https://0177.0.0.1/
https://127.0.0.1./ https://10.0.0.1/ https://169.254.169.254/ https://8.8.8.8:8443/
https://[::1]/ https://[::ffff:7f00:1]/ https://[2606:4700:4700::1111]/
https://127%2E0%2E0%2E1/ https://127。0。0。1/`);
const internal = [
  ...wordsIn(`
https://LOCALHOST/ https://localhost../ https://printer./ https://nas.LOCAL./
https://metadata.google.internal/ https://API.Example.com:8443/ https://api.example.com./
https://api%2Eexample.com/ https://bücher.example/ https://ｌｏｃａｌｈｏｓｔ/
https://{host}.example.com/ https://*.example.com/ https://hooks..example.com/ https://.com/ https://example.com;a/`),
  `https://${'a'.repeat(64)}.example.com/`,
  ...internalSuffixes.map((suffix) => `https://nas${suffix}/`),
];
const withCredentials = wordsIn(
  'https://user@example.com/ https://:pass@example.com/ https://example.com@127.0.0.1/',
);
const noUrls = wordsIn(`
http://example.com/ //example.com/ example.com /hook https:// https://256.1.1.1/ https://[::1
javascript:alert(1) https://a:99999/ wss://example.com/ https://127.0.0.1%00.example.com/`);

it.each([
  ...literals.map((url) => ['ip address', url]),
  ...internal.map((url) => ['not public', url]),
  ...withCredentials.map((url) => ['has credentials', url]),
  ...[0, 22, 80, 444, 1023].map((port) => ['reserved port', `https://example.com:${port}/`]),
  ...['', 'https://exa mple.com/', ...noUrls].map((url) => ['not https', url]),
])('a receiver is refused as %s: %s', (problem, url = '') => {
  expect(receiverProblem(url, strict)).toBe(problem);
});

it('a receiver is not this service, however its name is dotted', () => {
  const dotted = { ...strict, ownHost: 'api.example.com.' };
  expect(receiverProblem('https://api.example.com/', dotted)).toBe('not public');
});

const fine = wordsIn(`
https://hooks.example.com:8443/a?b=c#d https://EXAMPLE.com https://bücher.example.com/
https://api.example.com.evil.example.org/ https://example.com\\@127.0.0.1/ https://localhost.example.com/
https://internal.example.com/ https:example.com https://test.com/ https://mycorp.com/ https://my_hooks.a-b.com/
https://example.com:443/ https://example.com:1024/ https://example.com:65535/ https://example.com./`);
it.each(fine)('a receiver may be public: %s', (url) => {
  expect(receiverProblem(url, strict)).toBeUndefined();
});

it.each(['https://localhost:9443/', 'https://127.0.0.1:9443/', 'https://[::1]:9443/'])(
  'on this machine alone %s may be called',
  (url) => {
    expect(receiverProblem(url, { allowLoopback: true })).toBeUndefined();
    expect(receiverProblem(url, { allowLoopback: false })).toBeDefined();
  },
);

it.each(['https://10.0.0.1/', 'https://printer/'])('on this machine alone %s may not', (url) => {
  expect(receiverProblem(url, { allowLoopback: true })).toBeDefined();
});

it.each([
  ['https://example.com/a#1', 'https://example.com/a', true],
  ['HTTPS://EXAMPLE.com.:443/a', 'https://example.com/a', true],
  ['https://example.com.:8443/a?b=1#c', 'https://example.com:8443/a?b=1', true],
  ['https://example.com/a?b=1', 'https://example.com/a?b=2', false],
  ['https://example.com/a', 'https://example.com/a/', false],
  ['https://example.com/a', 'https://example.com:8443/a', false],
  ['https://example.com/a.', 'https://example.com/a', false],
])('%s and %s are urls of one receiver: %s', (one, other, expected) => {
  expect(normalisedUrl(one) === normalisedUrl(other)).toBe(expected);
});
