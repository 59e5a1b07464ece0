import { addHistograms, bucketOf, percentile, waitInWords } from '../../src/webhooks/latency.ts';

const counted = (times: number[]) => addHistograms(times.map((ms) => ({ [bucketOf(ms)]: 1 })));

it.each([
  [0.0098, '9.8 ms'],
  [0.21, '0.21 s'],
  [250, '4.2 min'],
  [null, 'never'],
])('a wait of %d seconds is %s in words', (seconds, words) => expect(waitInWords(seconds)).toBe(words));

describe('the time within which a share of the answers came', () => {
  it('is unknown when there are none', () => expect(percentile({}, 0.5)).toBeNull());

  it.each([
    [[100], 0.5, 92],
    [[200, 200, 200, 1300], 0.5, 210],
    [[200, 200, 200, 1300], 0.95, 1300],
    [[15_000], 0.95, 15_000],
    [[0], 0.5, 2.5],
  ])('of %j at %d is about %d ms', (histogram, share, ms) => {
    const found = percentile(counted(histogram), share) ?? 0;
    expect(Math.abs(found - ms)).toBeLessThanOrEqual(0.15 * ms);
  });
});
