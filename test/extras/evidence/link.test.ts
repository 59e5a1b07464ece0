import { identityOf, isSigned, leadToSame } from '#src/extras/evidence/link.ts';

const at = 'https://media.example.com/a/road.mp4';
const video = (url: string, camera?: string) => ({ kind: 'video' as const, url, camera });

it.each([
  'X-Amz-Algorithm=AWS4&X-Amz-Credential=a&X-Amz-Date=b&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=c',
  'AWSAccessKeyId=a&Expires=1&Signature=b&x-amz-security-token=c',
  'X-Goog-Algorithm=a&X-Goog-Credential=b&X-Goog-Date=c&X-Goog-Expires=1&X-Goog-Signature=d',
  'GoogleAccessId=a&Expires=1&Signature=b',
  'Expires=1&Signature=a&Key-Pair-Id=b',
  'Policy=a&Signature=b&Key-Pair-Id=c',
  'sv=2024-11-04&st=a&se=b&sr=b&sp=r&spr=https&sip=1&skoid=a&sktid=b&skt=c&ske=d&sks=b&skv=e&sig=f',
])('a link is the same file whatever its known signer adds: %s', (signature) => {
  const signed = `${at}?id=7&${signature}`;
  expect(identityOf(video(signed))).toBe(identityOf(video(`${at}?id=7`)));
  expect([isSigned(signed), leadToSame(signed, `${at}?id=7`)]).toEqual([true, true]);
  expect(identityOf(video(`${at}?id=8&${signature}`))).not.toBe(identityOf(video(signed)));
});

it.each(['sid', 'sr', 'se', 'token', 'Expires', 'Signature', 'Policy'])(
  'links are two files if they differ in what no known signer adds: %s',
  (name) => {
    const [one, other] = [video(`${at}?${name}=1`), video(`${at}?${name}=2`)];
    expect(identityOf(one)).not.toBe(identityOf(other));
    expect([isSigned(one.url), leadToSame(one.url, other.url)]).toEqual([false, false]);
  },
);

it('links are two files if they are of two kinds or cameras', () => {
  const all = [
    video(at),
    video(at, 'Road'),
    video(at, 'Cab'),
    { ...video(at), kind: 'document' as const },
  ];
  expect(new Set(all.map(identityOf)).size).toBe(4);
});
