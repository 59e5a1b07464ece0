import { describe, expect, it } from 'vitest';
import { normalisedUrl, receiverProblem } from '../../src/webhooks/address.ts';

const strict = { ownHost: 'api.example.com', allowLoopback: false };
const literals = `
https://127.0.0.1/ https://127.1/ https://127.0.1/ https://127.255.255.254/ https://2130706433/ https://0x7f000001/
https://0x7f.0.0.1/ https://0177.0.0.1/ https://017700000001/ https://0x7f.1/ https://127.0.0.1./ https://0/
https://0.0.0.0/ https://0x0/ https://10.0.0.1/ https://10.1/ https://167772161/ https://0xa000001/ https://012.0.0.1/
https://172.16.0.1/ https://172.31.255.255/ https://192.168.0.1/ https://192.168.257/ https://3232235777/
https://169.254.169.254/ https://0xa9fea9fe/ https://2852039166/ https://100.64.0.1/ https://192.0.0.1/
https://192.0.2.1/ https://198.18.0.1/ https://198.51.100.1/ https://203.0.113.1/ https://224.0.0.1/
https://240.0.0.1/ https://255.255.255.255/ https://[::1]/ https://[::]/ https://[0:0:0:0:0:0:0:1]/
https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[::ffff:10.0.0.1]/ https://[::ffff:8.8.8.8]/
https://[::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[64:ff9b::10.0.0.1]/ https://[64:ff9b:1::7f00:1]/
https://[2002:7f00:1::]/ https://[2002:a00:1::1]/ https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/
https://[2001:db8::1]/ https://[fe80::1]/ https://[fc00::1]/ https://[fd12:3456::1]/ https://[ff02::1]/
https://[100::1]/ https://[fec0::1]/ https://%31%32%37.0.0.1/ https://127%2E0%2E0%2E1/ https://127。0。0。1/
https://①②⑦.0.0.1/ https://8.8.8.8/ https://8.8.8.8:8443/ https://[2606:4700:4700::1111]/`
  .trim()
  .split(/\s+/);
const internal = `
https://localhost/ https://LOCALHOST/ https://localhost./ https://localhost../ https://a.localhost/ https://printer/
https://printer./ https://nas.local/ https://nas.LOCAL./ https://db.internal/ https://metadata.google.internal/
https://router.home.arpa/ https://local/ https://internal/ https://api.example.com/ https://API.Example.com:8443/
https://api.example.com./ https://home.arpa/ https://nas.lan/ https://vault.corp/ https://tv.home/
https://wiki.intranet/ https://db.private/ https://hook.test/ https://hook.invalid/ https://abcdef.onion/
https://bücher.example/ https://a.EXAMPLE./ https://pc.localdomain/ https://hooks.default.svc/
https://hooks.default.svc.cluster.local/ https://nas.lan:8443/ https://ｌｏｃａｌｈｏｓｔ/ https://loc%61lhost/
https://api%2Eexample.com/`
  .trim()
  .split(/\s+/);

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

  it.each([0, 1, 22, 25, 53, 80, 444, 465, 587, 993, 1023])('for a port of another service: %d', (port) => {
    expect(receiverProblem(`https://example.com:${port}/`, strict)).toBe('reserved port');
  });

  it('for being this service, however its name is dotted', () => {
    const ownHost = 'api.example.com.';
    expect(receiverProblem('https://api.example.com/', { ownHost, allowLoopback: false })).toBe('not public');
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

describe('on this machine alone', () => {
  it.each(['https://localhost:9443/', 'https://127.0.0.1:9443/', 'https://[::1]:9443/'])(
    '%s may be called',
    (url) => {
      expect(receiverProblem(url, { allowLoopback: true })).toBeUndefined();
      expect(receiverProblem(url, { allowLoopback: false })).toBeDefined();
    },
  );

  it.each(['https://10.0.0.1/', 'https://169.254.169.254/', 'https://printer/'])('%s may not', (url) => {
    expect(receiverProblem(url, { allowLoopback: true })).toBeDefined();
  });
});

describe('two urls are of one receiver', () => {
  it.each([
    ['https://example.com/a#1', 'https://example.com/a'],
    ['https://example.com/a#', 'https://example.com/a'],
    ['https://example.com./a', 'https://example.com/a'],
    ['HTTPS://EXAMPLE.com.:443/a', 'https://example.com/a'],
    ['https://example.com.:8443/a?b=1#c', 'https://example.com:8443/a?b=1'],
  ])('%s and %s', (one, other) => {
    expect(normalisedUrl(one)).toBe(normalisedUrl(other));
  });

  it.each([
    ['https://example.com/a?b=1', 'https://example.com/a?b=2'],
    ['https://example.com/a', 'https://example.com/a/'],
    ['https://example.com/a', 'https://example.com:8443/a'],
    ['https://example.com/a.', 'https://example.com/a'],
  ])('but not %s and %s', (one, other) => {
    expect(normalisedUrl(one)).not.toBe(normalisedUrl(other));
  });
});
