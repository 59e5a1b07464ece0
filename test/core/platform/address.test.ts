import { internalSuffixes, normalisedUrl, receiverProblem } from '#src/core/platform/address.ts';

const strict = { ownHost: 'api.example.com', allowLoopback: false };
const literals = `
https://127.0.0.1/ https://127.1/ https://2130706433/ https://0x7f000001/ https://0177.0.0.1/
https://127.0.0.1./ https://0/ https://10.0.0.1/ https://169.254.169.254/ https://192.168.257/
https://[::1]/ https://[::ffff:7f00:1]/ https://[64:ff9b::10.0.0.1]/ https://[fe80::1]/
https://%31%32%37.0.0.1/ https://127%2E0%2E0%2E1/ https://127。0。0。1/ https://①②⑦.0.0.1/
https://8.8.8.8/ https://8.8.8.8:8443/ https://[2606:4700:4700::1111]/`
  .trim()
  .split(/\s+/);
const internal = `
https://localhost/ https://LOCALHOST/ https://localhost../ https://printer./ https://nas.LOCAL./
https://metadata.google.internal/ https://api.example.com/ https://API.Example.com:8443/
https://api.example.com./ https://api%2Eexample.com/ https://hooks.default.svc.cluster.local/
https://bücher.example/ https://nas.lan:8443/ https://ｌｏｃａｌｈｏｓｔ/ https://loc%61lhost/`
  .trim()
  .split(/\s+/)
  .concat(internalSuffixes.map((suffix) => `https://nas${suffix}/`));

describe('a receiver is refused', () => {
  it.each(literals)('for naming an IP address, in any notation: %s', (url) => {
    expect(receiverProblem(url, strict)).toBe('ip address');
  });

  it.each(internal)('for a name that is not public: %s', (url) => {
    expect(receiverProblem(url, strict)).toBe('not public');
  });

  it.each([
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://:pass@example.com/',
    'https://example.com@127.0.0.1/',
  ])('for its credentials: %s', (url) => {
    expect(receiverProblem(url, strict)).toBe('has credentials');
  });

  it.each([0, 1, 22, 25, 53, 80, 444, 465, 587, 993, 1023])(
    'for a port of another service: %d',
    (port) => {
      expect(receiverProblem(`https://example.com:${port}/`, strict)).toBe('reserved port');
    },
  );

  it('for being this service, however its name is dotted', () => {
    const ownHost = 'api.example.com.';
    expect(receiverProblem('https://api.example.com/', { ownHost, allowLoopback: false })).toBe(
      'not public',
    );
  });

  const noUrls = `
    http://example.com/ ftp://example.com/ //example.com/ example.com /hook https:// https:/// https://256.1.1.1/
    https://1.2.3.4.5/ https://[::1 javascript:alert(1) https://%00/ https://a:99999/ wss://example.com/
    https://127.0.0.1%00.example.com/`;
  it.each(['', 'https://exa mple.com/', ...noUrls.trim().split(/\s+/)])(
    'as no absolute https URL: %s',
    (url) => {
      expect(receiverProblem(url, strict)).toBe('not https');
    },
  );
});

const fine = `
https://example.com/ https://hooks.example.com:8443/a?b=c#d https://EXAMPLE.com https://bücher.example.com/
https://xn--bcher-kva.example.com/ https://api.example.com.evil.example.org/ https://example.com\\@127.0.0.1/
https://localhost.example.com/ https://internal.example.com/ https:example.com https://test.com/ https://mycorp.com/
https://example.com:443/ https://example.com:1024/ https://example.com:65535/ https://example.com./`;
it.each(fine.trim().split(/\s+/))('a receiver may be public: %s', (url) => {
  expect(receiverProblem(url, strict)).toBeUndefined();
});

it.each(['https://localhost:9443/', 'https://127.0.0.1:9443/', 'https://[::1]:9443/'])(
  'on this machine alone %s may be called',
  (url) => {
    expect(receiverProblem(url, { allowLoopback: true })).toBeUndefined();
    expect(receiverProblem(url, { allowLoopback: false })).toBeDefined();
  },
);

it.each(['https://10.0.0.1/', 'https://169.254.169.254/', 'https://printer/'])(
  'on this machine alone %s may not',
  (url) => {
    expect(receiverProblem(url, { allowLoopback: true })).toBeDefined();
  },
);

it.each([
  ['https://example.com/a#1', 'https://example.com/a'],
  ['https://example.com/a#', 'https://example.com/a'],
  ['https://example.com./a', 'https://example.com/a'],
  ['HTTPS://EXAMPLE.com.:443/a', 'https://example.com/a'],
  ['https://example.com.:8443/a?b=1#c', 'https://example.com:8443/a?b=1'],
])('two urls are of one receiver %s and %s', (one, other) => {
  expect(normalisedUrl(one)).toBe(normalisedUrl(other));
});

it.each([
  ['https://example.com/a?b=1', 'https://example.com/a?b=2'],
  ['https://example.com/a', 'https://example.com/a/'],
  ['https://example.com/a', 'https://example.com:8443/a'],
  ['https://example.com/a.', 'https://example.com/a'],
])('two urls are of one receiver but not %s and %s', (one, other) => {
  expect(normalisedUrl(one)).not.toBe(normalisedUrl(other));
});
